// SPDX-License-Identifier: Apache-2.0
#pragma once
// The frame of every trainer: data in blocks, blocks in segments, a safe point after each segment;
// a held-out score after each epoch, early stopping on it, and the way back when a value is not
// finite.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/job.h"

namespace kith {

// How far a run has come. Together with the parameters and the seed it decides all that follows.
struct RunState {
  uint64_t block = 0;     // blocks done, over all epochs
  double lr_scale = 1;    // halved by each rollback
  double loss = 0;        // mean per step of the last finished epoch
  double epoch_loss = 0;  // summed, and the steps it is of, in the epoch under way
  uint64_t epoch_steps = 0;
  std::vector<double> held_out;  // before training, then after each epoch
  std::optional<uint64_t> kept;  // which of these is that of the parameters, if not the last
  uint64_t refit = 0;  // epochs of the second run, on all data, once the first has told how many
  bool finished = false;
  // Of the parameters, if it was measured.
  std::optional<double> held_out_now() const {
    if (held_out.empty()) return std::nullopt;
    return kept && *kept < held_out.size() ? held_out[*kept] : held_out.back();
  }
};

struct RunPlan {
  uint64_t blocks;  // in an epoch
  int epochs;
  double lr;  // the first; it falls linearly over the whole run
  int early_stop;
  bool start_counts = false;   // the state before the first epoch is an answer too, maybe the best
  int stop_after = 0;          // epochs; 0: all. The rate falls as if there were all
  const char* note = nullptr;  // for the user, with the first report
};

class TrainRun {
 public:
  TrainRun(const RunPlan& plan, RunState& state, Job& job)
      : plan_(plan), state_(state), job_(job), note_(plan.note) {}
  virtual ~TrainRun() = default;
  TrainRun(const TrainRun&) = delete;
  TrainRun& operator=(const TrainRun&) = delete;

  // To the end, or to the next safe point once the job is cancelled; true at the end.
  bool run();

 protected:
  struct Sum {
    double loss;
    uint64_t steps;
  };
  // Blocks [first, first + count) of an epoch.
  virtual Sum train(uint64_t epoch, uint64_t first, uint64_t count) = 0;
  virtual uint64_t segment_blocks() const = 0;
  // Units done and in all, as Progress wants them; asked after `block` has moved on.
  virtual std::pair<uint64_t, uint64_t> progress() const = 0;
  // The mean loss on what was held out, always with the same noise; nothing if there is none.
  virtual std::optional<double> held_out_loss() = 0;
  virtual bool finite() const = 0;
  // The best epoch's parameters: kept, and put back.
  virtual void keep_best() = 0;
  virtual void take_best() = 0;
  // Back to the very start, the state as well. Error(kDiverged) if that would lose what an earlier
  // run learned.
  virtual void restart() = 0;

  // Called by train(): the epoch that it closes is the last one, for there is nothing left to gain.
  void stop() { converged_ = true; }

  double rate(uint64_t epoch, uint64_t block) const {
    const double share = static_cast<double>(epoch * plan_.blocks + block) /
                         static_cast<double>(plan_.blocks * static_cast<uint64_t>(plan_.epochs));
    return plan_.lr * state_.lr_scale * std::max(1e-4, 1 - share);
  }

 private:
  void begin();
  void segment();
  std::optional<double> score_held_out();
  void watch_held_out();
  void keep_the_best();
  std::vector<double>::const_iterator best() const;
  void roll_back(const Error& reason);

  const RunPlan plan_;
  RunState& state_;
  Job& job_;
  bool stopped_early_ = false, converged_ = false;
  int rollbacks_ = 0;
  const char* note_;
};

}  // namespace kith
