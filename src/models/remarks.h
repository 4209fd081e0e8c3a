// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kith/events.h"

namespace kith {

// A model that has something to say about what it learned, once it has: what the user should know
// before using it.
struct Remarks {
  virtual ~Remarks() = default;
  virtual std::vector<Note> remarks() const = 0;
};

}  // namespace kith
