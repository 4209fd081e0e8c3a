// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix factorisation by stochastic gradient descent as a model; a step is in kernel.h, the order
// of the steps in trainer.cc.

#include "models/mf/config.h"
#include "models/ratings_model.h"

namespace kith::mf {

class Mf final : public RatingsModel {
 public:
  Section settings() override { return {"mf", config_}; }
  void pack(ArchiveWriter& out, bool checkpoint) const override;
  void restore(const Archive& in) override;
  uint64_t memory_needed(const Ratings& ratings, const Job& job) const override;
  void train(const Ratings& ratings, Job& job) override;
  using RatingsModel::predict;
  double predict(std::span<const float> user, std::span<const float> item) const override;
  std::vector<float> fold_in(Axis axis, Sparse::Row ratings) const override;

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const RunState& state() const { return state_; }

 protected:
  RowProblem row_problem(Axis axis, size_t n) const override;

 private:
  friend class Trainer;
  Loss loss() const;
  void initialise(const Ratings& ratings, uint64_t seed);
  float value_of(float rating) const;  // as the loss sees it
  void finish();
  void export_rows();  // from the working rows to the model's, in the ratings' unit

  Config config_;
  // A rating is scale_ times what the loss sees, and mean_ more.
  double scale_ = 1;
  Matrix work_user_, work_item_;  // see kernel.h; empty once training is over
  Matrix best_user_, best_item_;  // likewise
};

}  // namespace kith::mf
