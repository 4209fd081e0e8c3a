// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "kith/visible.h"

namespace kith KITH_VISIBLE {

class ThreadPool;

// Threads and cancelling, for all that is done with it. One pool of threads serves every call;
// calls may come from several threads at once and share it.
class Context {
 public:
  explicit Context(int threads = 0);  // 0 or less: as many as the machine has cores
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int threads() const;  // 1 or more

  // Asks whatever runs to stop: training at its next safe point, everything else soon, with
  // Error(kCancelled). From any thread; safe in a signal handler.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
  void reset() noexcept {
    cancelled_.store(false, std::memory_order_relaxed);
  }                    // for the next call
  void check() const;  // Error(kCancelled) if that was asked for

  ThreadPool& pool() const { return *pool_; }  // for the engine

 private:
  std::unique_ptr<ThreadPool> pool_;
  std::atomic<bool> cancelled_{false};
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");
};

}  // namespace KITH_VISIBLE
