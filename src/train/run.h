// SPDX-License-Identifier: Apache-2.0
#pragma once
// The frame of every trainer: data in blocks, a safe point after each block; a held-out score after
// each epoch, early stopping on it, and the way back when training diverges.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/job.h"

namespace kith {

// How far a run has come. Together with the parameters and the seed it decides all that follows.
struct RunState {
  bool started = false;   // the parameters are those of the run that is on
  uint64_t block = 0;     // blocks done, over all epochs
  double lr_scale = 1;    // halved by each rollback
  double loss = 0;        // mean per step of the last finished epoch
  double epoch_loss = 0;  // summed, and the steps it is of, in the epoch under way
  uint64_t epoch_steps = 0;
  double first_loss = 0;  // mean per step of the first block, which says what is far too much
  std::vector<double> held_out;   // before training, then after each epoch
  bool unscored = false;          // an epoch has ended, and what is held out was not scored since
  bool converged = false;         // there is nothing left to gain
  std::optional<uint64_t> kept;   // which of `held_out` is that of the parameters, if not the last
  std::optional<uint64_t> refit;  // epochs of the second run, on all data, once the first told
  bool finished = false;
  // Of the parameters, if it was measured.
  std::optional<double> held_out_now() const {
    if (held_out.empty()) return std::nullopt;
    return kept && *kept < held_out.size() ? held_out[*kept] : held_out.back();
  }
};

struct RunPlan {
  int epochs = 1;
  double lr = 0;  // the first; it falls linearly over the whole run
  int early_stop = 0;
  bool start_counts = false;   // the state before the first epoch is an answer too, maybe the best
  int least = 0;               // epochs before early stopping looks at anything
  int stop_after = 0;          // epochs; 0: all. The rate falls as if there were all
  const char* note = nullptr;  // for the user, with the first report
};

// The learning rate at a block of an epoch.
class Rate {
 public:
  Rate(double first, uint64_t blocks_in_all) : first_(first), all_(blocks_in_all) {}
  double at(uint64_t block_of_all) const {
    const double share = static_cast<double>(block_of_all) / static_cast<double>(all_);
    return first_ * std::max(1e-4, 1 - share);
  }

 private:
  double first_;
  uint64_t all_;
};

// Losses as they come, in the order of the blocks: the same sum however a run is cut by pauses.
class LossSum {
 public:
  explicit LossSum(RunState& state) : state_(state) {}
  void add(double loss, uint64_t steps) {
    state_.epoch_loss += loss;
    state_.epoch_steps += steps;
    if (state_.first_loss == 0 && steps > 0) state_.first_loss = loss / static_cast<double>(steps);
  }

 private:
  RunState& state_;
};

// Blocks [first, first + count) of an epoch.
struct Blocks {
  uint64_t epoch, first, count;
};

// How a model learns from its data, one run.
class Trainer {
 public:
  virtual ~Trainer() = default;
  virtual uint64_t blocks() const = 0;            // in an epoch
  virtual uint64_t segment() const { return 1; }  // blocks between two reports, about

  struct Learned {
    uint64_t blocks;         // done: the first so many, fewer only if the job was cancelled
    bool converged = false;  // the epoch that it closes is the last one
  };
  // Once the job is cancelled it stops after the block under way; or it throws Error(kCancelled)
  // and the parameters are what they were.
  virtual Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) = 0;

  // The mean loss on what was held out, always with the same noise; nothing if there is none.
  virtual std::optional<double> held_out_loss() = 0;
  // Units done and in all, as Progress wants them.
  virtual std::pair<uint64_t, uint64_t> progress(const RunState& state) const = 0;
};

// What a run asks of the model whose parameters it moves.
class Trainee {
 public:
  virtual ~Trainee() = default;
  virtual std::unique_ptr<Trainer> trainer() = 0;  // of the run that is on, from where it is
  virtual bool finite() = 0;
  // The best epoch's parameters: kept, and put back.
  virtual void keep_best() = 0;
  virtual void take_best() = 0;
  // Back to the parameters with which this run began. Error(kDiverged) if that would lose what an
  // earlier run learned.
  virtual void restart() = 0;
};

class TrainingRun {
 public:
  TrainingRun(const RunPlan& plan, RunState& state, Trainee& trainee, Job& job);
  // To the end, or to the next safe point once the job is cancelled; true at the end.
  bool go();

 private:
  void begin();
  bool over() const;
  bool stopped_early() const;
  void segment();
  void close_epoch(Progress report);
  void keep_the_best();
  void roll_back(const Error& reason);
  void check_losses(int epoch) const;
  void report(Progress p);
  std::optional<double> score_held_out();
  std::vector<double>::const_iterator best() const;
  uint64_t total() const;
  Rate rate() const;

  const RunPlan plan_;
  RunState& state_;
  Trainee& trainee_;
  Job& job_;
  std::unique_ptr<Trainer> trainer_;
  const char* note_;
};

}  // namespace kith
