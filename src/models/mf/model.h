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
  using RatingsModel::predict;
  double predict(std::span<const float> user, std::span<const float> item) const override;

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const RunState& state() const { return state_; }

 protected:
  std::vector<float> fold(Axis axis, Sparse::Row ratings) const override;
  std::span<const float> learned_row(Axis axis, uint32_t number,
                                     std::vector<float>& room) const override;
  void check_normalised() const override;
  RowProblem row_problem(Axis axis, size_t n) const override;
  bool refits() const override { return config_.refit; }
  void initialise(const Ratings& ratings, const Job& job) override;
  void initialise_refit(const Ratings& whole, const Job& job) override;
  bool run(const Ratings& ratings, Job& job) override;
  void finish(const Ratings& ratings, const Job& job) override;
  void check_same(const Ratings& ratings) const override;

 private:
  friend class Trainer;
  Loss loss() const;
  double lr() const;
  double penalty() const;
  int early_stop() const;
  float value_of(float rating) const;  // as the loss sees it
  // user_ and item_ are working rows (kernel.h) until finish() makes them those of ratings_model.h.
  bool working() const;
  // A row of the model, in the unit of the ratings, from a working row.
  void put_row(Axis axis, std::span<const float> from, std::span<float> to) const;

  Config config_;
  // A rating is scale_ times what the loss sees, and mean_ more.
  double scale_ = 1;
};

}  // namespace kith::mf
