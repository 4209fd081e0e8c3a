// SPDX-License-Identifier: Apache-2.0
#pragma once
// Non-negative matrix factorisation: every user and item is a sum of parts, none of which is taken
// away. What one row's problem is, is in rows.h.

#include "models/completion.h"
#include "models/nmf/config.h"
#include "models/nmf/rows.h"

namespace kith::nmf {

class Nmf final : public CompletionModel {
 public:
  Section settings() override { return {"nmf", config_}; }
  void pack(ArchiveWriter& out, bool checkpoint) const override;
  void restore(const Archive& in) override;
  uint64_t memory_needed(const Ratings& ratings, const Job& job) const override;
  using RatingsModel::predict;
  // What was not rated may be anything down to 0 if zero is what it stands for.
  double predict(std::span<const float> user, std::span<const float> item) const override;

  std::vector<Fact> info() const override;

  Config& config() { return config_; }
  // What a sweep never raises: the loss of all ratings (squared: halved) and the penalties.
  double objective() const;

 protected:
  std::vector<float> fold(Axis axis, Sparse::Row ratings) const override;
  void check_normalised() const override;
  bool biases() const override {
    return config_.biases && config_.loss == Loss::kSquared && !zero_ && !implicit_;
  }
  bool refits() const override { return config_.refit; }
  void initialise(const Ratings& ratings, const Job& job) override;
  void initialise_refit(const Ratings& whole, const Job& job) override;
  bool run(const Ratings& ratings, Job& job) override;
  void finish(const Ratings& ratings, const Job& job) override;

 private:
  friend class Trainer;
  void check(const Ratings& ratings) const;
  double found_penalty(const Sparse& ratings, const Job& job) const;
  Others others_of(Axis axis, const Job& job) const;  // `axis`: whose rows are to be solved
  Penalties penalties(Axis axis) const;

  Config config_;
  bool zero_ = false;
  double penalty_ = 0;  // of |p|^2 / 2, as used
};

}  // namespace kith::nmf
