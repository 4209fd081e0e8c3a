// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

namespace kith {

// What a trainer says at a safe point: no worker is running, and saving the model now and
// training the saved copy on gives what this run would have given.
struct Progress {
  uint64_t done = 0, total = 0;  // units of work, in the model's own unit
  double loss = 0;               // mean over the work since the last report
  double lr = 0;
  int epoch = 0;                   // counted from 1
  bool epoch_done = false;         // this report closes the epoch
  std::optional<double> held_out;  // set when it was measured at this point
  const char* note = nullptr;      // something the user should read, such as a rollback
  bool kept = false;  // the last report: `held_out` is of what was kept, an earlier epoch's
};

// Everything about a training job that is not the model's business: threads, seed, progress,
// checkpoints, cancellation. Models receive it; they own none of it.
class Job {
 public:
  int threads = 1;
  uint64_t seed = 1;
  bool deterministic = false;  // the same bits for any number of threads

  // Called at every safe point on the caller's thread. A front end prints, and saves a
  // checkpoint when one is due.
  std::function<void(const Progress&)> on_progress = [](const Progress&) {};
  // Puts the model back to its last checkpoint; false if there is none.
  std::function<bool()> restore = [] { return false; };

  // Asks the trainer to return at its next safe point. Safe to call from a signal handler.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  // Calls work(shard) for every shard in [0, shards) on `threads` threads, or work(shard, worker)
  // with worker < threads, to find buffers of its own. How the work is cut does not depend on the
  // thread count, so neither do its seeds. Shards start in order. The first exception stops the
  // rest and is rethrown here.
  template <class Work>
  void for_each_shard(size_t shards, const Work& work) const {
    std::atomic<size_t> next{0};
    std::exception_ptr error;
    std::mutex error_mutex;
    const auto run = [&](size_t worker) {
      for (size_t s; (s = next.fetch_add(1)) < shards;) {
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
        }
      }
    };
    {
      std::vector<std::jthread> pool;
      for (int t = 1; t < threads && static_cast<size_t>(t) < shards; ++t) {
        try {
          pool.emplace_back(run, static_cast<size_t>(t));
        } catch (const std::system_error&) {
          break;  // the system gives no more threads; those there are do the work
        }
      }
      run(0);
    }
    if (error) std::rethrow_exception(error);
  }

 private:
  std::atomic<bool> cancelled_{false};
};

}  // namespace kith
