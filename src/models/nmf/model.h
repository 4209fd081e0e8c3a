// SPDX-License-Identifier: Apache-2.0
#pragma once
// Non-negative matrix factorisation: every user and item is a sum of parts, none of which is taken
// away. What one row's problem is, is in rows.h.

#include "models/nmf/config.h"
#include "models/nmf/rows.h"
#include "models/ratings/completion.h"

namespace kith::nmf {

class Nmf final : public CompletionModel {
 public:
  Section settings() override { return {"nmf", config_}; }
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;

  Config& config() { return config_; }
  // What a sweep never raises: the loss of all ratings (squared: halved) and the penalties.
  double objective() const;

 protected:
  uint64_t memory(const Ratings& ratings, const Job& job) const override;
  bool biases() const override { return biases_for(f_.implicit); }
  void check(const Ratings& ratings) const override;
  RunPlan plan() const override {
    return {.epochs = config_.epochs, .early_stop = config_.early_stop, .start_counts = true};
  }
  bool refits() const override { return config_.refit; }
  void start(const Ratings& ratings, Start start, const Job& job) override;
  std::unique_ptr<Trainer> trainer(const Ratings& ratings, Job& job) override;
  void finish(const Ratings& ratings, const Job& job) override;
  std::vector<float> fold(Axis axis, const Folding& row) const override;
  // What was not rated may be anything down to 0 if zero is what it stands for.
  double link(double score) const override { return zero_ ? score : RatingsModel::link(score); }

 private:
  friend class NmfTrainer;
  bool zero_for(bool implicit) const {
    return config_.unrated.value_or(implicit ? Unrated::kZero : Unrated::kMissing) ==
           Unrated::kZero;
  }
  bool biases_for(bool implicit) const {
    return config_.biases && config_.loss == Loss::kSquared && !zero_for(implicit) && !implicit;
  }
  double found_penalty(const Sparse& ratings, const Job& job) const;
  Others others_of(Axis axis, const Context& context) const;  // `axis`: whose rows are to be solved
  Penalties penalties(Axis axis) const;

  Config config_;
  bool zero_ = false;
  double penalty_ = 0;  // of |p|^2 / 2, as used
};

}  // namespace kith::nmf
