// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work cut into shards. How it is cut does not depend on the number of threads, so neither do its
// seeds and its results.

#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <type_traits>

#include "core/thread_pool.h"
#include "kith/context.h"

namespace kith {

namespace detail {

template <bool kCancels, class Work>
size_t run_shards(const Context& context, size_t shards, const Work& work, size_t most) {
  std::atomic<size_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  context.pool().run(std::min(most, shards), [&](size_t worker) {
    while (!kCancels || !context.cancelled()) {
      const size_t s = next.fetch_add(1);
      if (s >= shards) return;
      try {
        if constexpr (std::is_invocable_v<Work, size_t, size_t>) {
          work(s, worker);
        } else {
          work(s);
        }
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
        next.store(shards);
        return;
      }
    }
  });
  if (error) std::rethrow_exception(error);
  return std::min(next.load(), shards);
}

inline constexpr size_t kAll = std::numeric_limits<size_t>::max();

}  // namespace detail

// Calls work(shard), or work(shard, worker) with worker < context.threads() to find buffers of its
// own, for the shards 0, 1, 2, ... below `shards`. They start in order, and none starts once the
// context is cancelled; those that have started end. So those done are the first ones: returns how
// many. The first exception stops the rest and is rethrown here. At most `most` threads.
template <class Work>
size_t run_shards(const Context& context, size_t shards, const Work& work,
                  size_t most = detail::kAll) {
  return detail::run_shards<true>(context, shards, work, most);
}

// All of them, or Error(kCancelled).
template <class Work>
void for_each_shard(const Context& context, size_t shards, const Work& work,
                    size_t most = detail::kAll) {
  if (run_shards(context, shards, work, most) < shards) context.check();
}

// All of them, even if the context is cancelled meanwhile: for work that would be worth nothing, or
// worse, if it were cut.
template <class Work>
void finish_shards(const Context& context, size_t shards, const Work& work,
                   size_t most = detail::kAll) {
  detail::run_shards<false>(context, shards, work, most);
}

}  // namespace kith
