// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of TrainRun that do not depend on how a model of ratings learns.

#include "models/ratings_model.h"

namespace kith {

class RatingsRun : public TrainRun {
 protected:
  // `first`: the plan of the first run; that of the second follows from it.
  RatingsRun(RatingsModel& model, const Ratings& ratings, const RunPlan& first, Job& job)
      : TrainRun(model.plan(first), model.state_, job),
        ratings_(ratings),
        job_(job),
        model_(model),
        blocks_(first.blocks),
        epochs_(static_cast<uint64_t>(first.epochs)) {}

  uint64_t segment_blocks() const override { return 1; }
  std::pair<uint64_t, uint64_t> progress() const override {
    return {model_.state_.block * model_.unit_ / blocks_, epochs_ * model_.unit_};
  }
  std::optional<double> held_out_loss() override { return model_.held_out_error(ratings_); }
  bool finite() const override { return model_.finite(); }
  void keep_best() override { model_.keep_best(); }
  void take_best() override { model_.take_best(); }
  void restart() override {
    model_.restart_state();
    model_.initialise(ratings_, job_);
  }

  const Ratings& ratings_;
  Job& job_;

 private:
  RatingsModel& model_;
  const uint64_t blocks_, epochs_;
};

}  // namespace kith
