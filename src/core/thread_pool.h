// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace kith {

// Threads that wait for work. They are started when they are first needed; if the system gives
// fewer, those there are do the work.
class ThreadPool {
 public:
  explicit ThreadPool(int threads) : threads_(threads) {}
  ~ThreadPool();
  int threads() const { return threads_; }

  // Calls body(worker), which must not throw, on the caller's thread (worker 0) and on up to most -
  // 1 others that are free, each with a number below `most` of its own; returns when all of them
  // have returned. A call from within a body runs alone: the threads are busy with its siblings.
  void run(size_t most, const std::function<void(size_t)>& body);

 private:
  struct Batch {
    const std::function<void(size_t)>& body;
    size_t most;
    size_t joined = 1, active = 0;  // the caller has joined; others at work
    std::condition_variable done{};
  };
  void start(size_t wanted);
  void work();

  const int threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Batch*> open_;  // that others may still join
  bool ending_ = false;
  std::vector<std::jthread> workers_;
};

}  // namespace kith
