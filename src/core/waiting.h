// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "kith/context.h"

namespace kith {

// Whoever waits for bytes from outside, deep below whoever wants them, asks now and then whether
// they are still wanted: the innermost of these that lives on the thread knows.
class Waiting {
 public:
  explicit Waiting(const Context& context) : before_(std::exchange(now(), &context)) {}
  ~Waiting() { now() = before_; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  // Error(kCancelled) if they are not.
  static void check() {
    if (now()) now()->check();
  }

 private:
  static const Context*& now() {
    thread_local const Context* context = nullptr;
    return context;
  }
  const Context* before_;
};

}  // namespace kith
