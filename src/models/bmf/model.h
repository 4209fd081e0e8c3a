// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bayesian matrix factorisation as a model. Its rows hold several samples of the posterior side by
// side, so that the mean over samples of p_s . q_s is one dot product, as for every other model.

#include "models/bmf/config.h"
#include "models/ratings_model.h"

namespace kith::bmf {

// What one sample knows beyond the rows: precisions and means of the coordinates [p, b] of each
// side, and the precision of the noise.
struct Hyper {
  std::vector<double> precision, mean;  // dim + 1
};

class Bmf final : public RatingsModel {
 public:
  Section settings() override { return {"bmf", config_}; }
  void pack(ArchiveWriter& out, bool checkpoint) const override;
  void restore(const Archive& in) override;
  uint64_t memory_needed(const Ratings& ratings, const Job& job) const override;
  void train(const Ratings& ratings, Job& job) override;
  std::optional<double> deviation(std::span<const float> user,
                                  std::span<const float> item) const override;
  std::vector<float> fold_in(Axis axis, Sparse::Row ratings) const override;

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const RunState& state() const { return state_; }
  uint64_t samples() const { return kept_; }

 protected:
  RowProblem row_problem(Axis, size_t) const override { return {}; }  // fold_in is its own

 private:
  friend class Trainer;
  void initialise(const Ratings& ratings, uint64_t seed);
  void keep_sample(const Hyper& users, const Hyper& items);
  size_t rank() const { return static_cast<size_t>(config_.dim); }  // of one sample

  Config config_;
  double scale_ = 1;            // ratings are mean_ + scale_ * what is sampled
  double noise_ = 1;            // precision of what is left, of the current sample
  Matrix now_user_, now_item_;  // rank + 1: the current sample, [p, b]
  Matrix user_mean_;            // what is kept of it of users: mean [p, b], and what is open
  uint64_t kept_ = 0;           // samples in the model's rows
  std::vector<float> hyper_;  // of each kept sample: users' and items' precisions and means, noise
};

}  // namespace kith::bmf
