// SPDX-License-Identifier: Apache-2.0
#pragma once
// Alternating least squares as a model; the equations of a row are in kernel.h.

#include "models/als/config.h"
#include "models/ratings/known_rows.h"
#include "models/ratings/model.h"

namespace kith::als {

class Als final : public RatingsModel {
 public:
  Section settings() override { return {"als", config_}; }
  Wishes wishes() const override {
    return {.features = config_.columns, .days = config_.days.value_or(true)};
  }
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  // What a sweep never raises, as long as what rows are drawn to stays as it is: squared errors,
  // weighted, and the penalties.
  double objective() const;

 protected:
  uint64_t memory(const Ratings& ratings, const Job& job) const override;
  bool has_say(std::string_view setting, const Ratings& ratings) const override {
    return setting != "unobserved" || ratings.implicit();
  }
  void check(const Ratings&) const override {}
  RunPlan plan() const override;
  bool refits() const override { return config_.refit; }
  std::optional<bool> days() const override { return config_.days; }
  void start(const Ratings& ratings, Start start, const Job& job) override;
  std::unique_ptr<Trainer> trainer(const Ratings& ratings, Job& job) override;
  void finish(const Ratings& ratings, const Job& job) override;
  RowProblem row_problem(Axis axis, const Folding& row) const override;
  void grow() override { known_.grow(f_); }

 private:
  friend class AlsTrainer;
  void start_from_popularity(const Sparse& seen);
  double visitor(size_t n) const;
  bool searches(bool watched) const;
  double search(uint64_t sweep) const;
  double strength() const;  // of the penalty
  double penalty(double strength, Axis axis, uint64_t n) const;
  double bias_penalty(Axis axis) const {
    return axis == Axis::kUser ? user_bias_penalty_ : item_bias_penalty_;
  }

  KnownWhat what(bool implicit) const {
    return {config_.choices.value_or(!implicit), config_.columns};
  }

  Config config_;
  KnownRows known_;   // what the penalties draw rows to
  double noise_ = 1;  // standard deviation of what biases leave; the unit of the penalty
  double user_bias_penalty_ = 0, item_bias_penalty_ = 0;
  std::optional<double> visits_;  // of a user, the mean; if items have biases of interactions
  // The strength of the penalty of interactions, if it is not given; 0.1 knew no other.
  double found_ = 0.005;
};

}  // namespace kith::als
