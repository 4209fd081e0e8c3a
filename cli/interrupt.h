// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/context.h"

namespace kith::cli {

// While this lives, Ctrl-C asks whatever runs in the context to stop; a second one has the system's
// default action. At most one at a time. The context must outlive it.
class Interrupts {
 public:
  explicit Interrupts(Context& context);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
};

// A model file that becomes shorter while it is looked at ends the program with a sentence.
void explain_lost_files();

}  // namespace kith::cli
