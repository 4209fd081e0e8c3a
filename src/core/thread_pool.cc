// SPDX-License-Identifier: Apache-2.0
#include "core/thread_pool.h"

#include <algorithm>
#include <system_error>

namespace kith {
namespace {

thread_local bool t_inside = false;  // a body of some pool runs on this thread

struct Inside {
  Inside() { t_inside = true; }
  ~Inside() { t_inside = false; }
};

}  // namespace

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
}

void ThreadPool::start(size_t wanted) {
  while (workers_.size() < wanted) {
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      return;
    }
  }
}

void ThreadPool::run(size_t most, const std::function<void(size_t)>& body) {
  most = std::min(most, static_cast<size_t>(threads_));
  if (most <= 1 || t_inside) return body(0);
  Batch batch{body, most};
  {
    const std::lock_guard lock(mutex_);
    start(most - 1);
    open_.push_back(&batch);
  }
  for (size_t i = 1; i < most; ++i) wake_.notify_one();
  {
    const Inside inside;
    body(0);
  }
  std::unique_lock lock(mutex_);
  open_.remove(&batch);
  batch.done.wait(lock, [&] { return batch.active == 0; });
}

void ThreadPool::work() {
  const Inside inside;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto free = [&] {
      return std::ranges::find_if(open_, [](const Batch* b) { return b->joined < b->most; });
    };
    wake_.wait(lock, [&] { return ending_ || free() != open_.end(); });
    if (ending_) return;
    Batch& batch = **free();
    const size_t number = batch.joined++;
    ++batch.active;
    lock.unlock();
    batch.body(number);
    lock.lock();
    open_.remove(&batch);  // who returns has found nothing left to do
    if (--batch.active == 0) batch.done.notify_one();
  }
}

}  // namespace kith
