// SPDX-License-Identifier: Apache-2.0
// When a run stops, and which epoch it leaves, for held-out losses that are known beforehand.

#include "train/run.h"

#include <gtest/gtest.h>

namespace kith {
namespace {

// Its only parameter is the number of epochs it has been trained for.
class Scripted final : public TrainRun {
 public:
  Scripted(const RunPlan& plan, RunState& state, Job& job, std::vector<double> losses)
      : TrainRun(plan, state, job), losses_(std::move(losses)) {}
  size_t trained() const { return trained_; }
  size_t parameter() const { return parameter_; }

 private:
  Sum train(uint64_t, uint64_t, uint64_t) override {
    parameter_ = ++trained_;
    return {1, 1};
  }
  uint64_t segment_blocks() const override { return 1; }
  std::pair<uint64_t, uint64_t> progress() const override { return {trained_, losses_.size()}; }
  std::optional<double> held_out_loss() override { return losses_[trained_]; }
  bool finite() const override { return true; }
  void keep_best() override { best_ = parameter_; }
  void take_best() override { parameter_ = best_; }
  void restart() override {}

  const std::vector<double> losses_;
  size_t trained_ = 0, parameter_ = 0, best_ = 0;
};

struct Outcome {
  size_t trained, parameter;
  std::optional<double> held_out;
};
Outcome outcome(std::vector<double> losses, int early_stop, bool start_counts) {
  Job job;
  RunState state;
  const RunPlan plan{1, static_cast<int>(losses.size()) - 1, 0, early_stop, start_counts};
  Scripted run(plan, state, job, std::move(losses));
  EXPECT_TRUE(run.run());
  return {run.trained(), run.parameter(), state.held_out_now()};
}

TEST(TrainRun, StopsWhenPatienceIsOverAndTakesTheBest) {
  const Outcome o = outcome({9, 5, 4, 4.5, 4.6, 1, 1}, 2, false);
  EXPECT_EQ(o.trained, 4u);
  EXPECT_EQ(o.parameter, 2u);
  EXPECT_EQ(o.held_out, 4);
}

TEST(TrainRun, WithoutEarlyStoppingTheLastEpochStands) {
  const Outcome o = outcome({9, 5, 4, 4.5, 4.6}, 0, true);
  EXPECT_EQ(o.trained, 4u);
  EXPECT_EQ(o.parameter, 4u);
}

TEST(TrainRun, AStartThatCountsDoesNotEndTheClimbAwayFromIt) {
  // Above the start for three epochs, which is all the patience there is, and then far below.
  const Outcome o = outcome({3, 3.1, 3.2, 3.15, 2, 1, 0.5, 0.6, 0.7, 0.8, 0.9}, 3, true);
  EXPECT_EQ(o.trained, 9u);
  EXPECT_EQ(o.parameter, 6u);
  EXPECT_EQ(o.held_out, 0.5);
}

TEST(TrainRun, AStartThatCountsMayBeTheBest) {
  const Outcome o = outcome({3, 4, 4.1, 4.2, 4.3, 4.4, 4.5, 4.6, 4.7}, 3, true);
  EXPECT_EQ(o.trained, 6u);
  EXPECT_EQ(o.parameter, 0u);
  EXPECT_EQ(o.held_out, 3);
}

TEST(TrainRun, AStartThatDoesNotCountIsNotTaken) {
  const Outcome o = outcome({3, 4, 4.1, 4.2, 4.3}, 2, false);
  EXPECT_EQ(o.trained, 3u);
  EXPECT_EQ(o.parameter, 1u);
}

}  // namespace
}  // namespace kith
