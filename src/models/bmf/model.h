// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bayesian matrix factorisation as a model. Its rows hold several samples of the posterior side by
// side, so that the mean over samples of p_s . q_s is one dot product, as for every other model.

#include <algorithm>

#include "models/bmf/config.h"
#include "models/bmf/posterior.h"
#include "models/bmf/prior.h"
#include "models/ratings/model.h"

namespace kith::bmf {

class Bmf final : public RatingsModel {
 public:
  Section settings() override { return {"bmf", config_}; }
  Wishes wishes() const override {
    return {.features = config_.columns, .days = config_.days.value_or(true)};
  }
  void visit(Parts& parts) override;
  std::vector<VectorGroup> vectors(Side side) const override;  // of all samples, side by side

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  uint64_t samples() const { return kept_; }

 protected:
  uint64_t memory(const Ratings& ratings, const Job& job) const override;
  void check(const Ratings& ratings) const override;
  RunPlan plan() const override { return {.epochs = config_.epochs}; }
  // One chain is all: it takes in what was held out on its way.
  bool refits() const override { return false; }
  std::optional<bool> days() const override { return config_.days; }
  void start(const Ratings& ratings, Start start, const Job& job) override;
  std::unique_ptr<Trainer> trainer(const Ratings& ratings, Job& job) override;
  void finish(const Ratings& ratings, const Job& job) override;
  bool can_go_on() const override {
    return now_user_.rows() == f_.user.rows() && now_item_.rows() == f_.item.rows() &&
           f_.dim == samples_wanted() * (rank() + 2) + kExtras;
  }
  std::vector<float> fold(Axis axis, const Folding& row) const override;
  std::optional<double> learned_deviation(std::span<const float> user,
                                          std::span<const float> item) const override;

 private:
  friend class BmfTrainer;
  void keep_sample(const Hyper& users, const Hyper& items);
  size_t samples_wanted() const {  // that rows have room for
    return static_cast<size_t>(std::min(config_.samples, config_.epochs));
  }
  size_t rank() const { return static_cast<size_t>(config_.dim); }  // of one sample
  // What a row has behind its samples: means over them, of users what is open of a score, and of
  // both the weights. Each meets a 0 of the other side.
  enum Extra : size_t { kOpen, kUserWeight, kItemWeight, kExtras };
  size_t at(Extra extra) const { return f_.dim - kExtras + extra; }
  size_t weight_at(Axis axis) const { return at(axis == Axis::kUser ? kUserWeight : kItemWeight); }

  Config config_;
  double scale_ = 1;               // ratings are mean_ + scale_ * what is sampled
  double noise_ = 1;               // precision of what is left, of the current sample
  Matrix now_user_, now_item_;     // the current sample, [p, b, weight]
  Drawn user_drawn_, item_drawn_;  // of it, too: what features say
  Matrix user_mean_;               // what is kept of it of users: mean [p, b], and what is open
  uint64_t kept_ = 0;              // samples in the model's rows
  std::vector<float> hyper_;  // of each kept sample: users' and items' precisions and means, noise
};

}  // namespace kith::bmf
