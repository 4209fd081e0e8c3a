// SPDX-License-Identifier: Apache-2.0
#include "kith/context.h"

#include <algorithm>
#include <thread>

#include "core/thread_pool.h"
#include "kith/error.h"

namespace kith {
namespace {

constexpr int kMostThreads = 1024;

int usual_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace

Context::Context(int threads)
    : pool_(std::make_unique<ThreadPool>(
          std::min(threads > 0 ? threads : usual_threads(), kMostThreads))) {}

Context::~Context() = default;

int Context::threads() const { return pool_->threads(); }

void Context::check() const {
  if (cancelled()) throw Error(ErrorKind::kCancelled, "stopped as asked");
}

}  // namespace kith
