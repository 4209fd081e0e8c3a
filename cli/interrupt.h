// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/job.h"

namespace kith::cli {

// What Ctrl-C does while this lives. Before guard() it ends the program with exit code 3: there is
// nothing to keep yet. Afterwards it asks the job to stop at its next safe point. A second one has
// the system's default action. At most one at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  void guard(Job& job);
};

}  // namespace kith::cli
