// SPDX-License-Identifier: Apache-2.0
#pragma once
// Alternating least squares as a model; the equations of a row are in kernel.h.

#include "models/als/config.h"
#include "models/ratings_model.h"

namespace kith::als {

class Als final : public RatingsModel {
 public:
  Section settings() override { return {"als", config_}; }
  void pack(ArchiveWriter& out, bool checkpoint) const override;
  void restore(const Archive& in) override;
  uint64_t memory_needed(const Ratings& ratings, const Job& job) const override;

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const RunState& state() const { return state_; }
  // What a sweep never raises: squared errors, weighted, and the penalties.
  double objective() const;

 protected:
  RowProblem row_problem(Axis axis, size_t n) const override;
  bool refits() const override { return config_.refit; }
  void initialise(const Ratings& ratings, const Job& job) override;
  void initialise_refit(const Ratings& whole, const Job& job) override;
  bool run(const Ratings& ratings, Job& job) override;

 private:
  friend class Trainer;
  double penalty(Axis axis, uint64_t n) const;

  Config config_;
  double noise_ = 1;  // standard deviation of what biases leave; the unit of the penalty
  double user_bias_penalty_ = 0, item_bias_penalty_ = 0;
};

}  // namespace kith::als
