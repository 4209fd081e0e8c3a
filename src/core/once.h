// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>

namespace kith {

// Makes something for whoever needs it first, on any thread; if that throws, for the next one.
// Unlike with std::call_once the exception does not pass through the C library, which would ask for
// memory to let it through, and abort if there is none.
class Once {
 public:
  template <class Make>
  void operator()(const Make& make) {
    if (done_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    make();
    done_.store(true, std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> done_{false};
};

}  // namespace kith
