// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of a trainer that do not depend on how a model of ratings learns: scoring what is held
// out, and progress.

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/ratings/model.h"

namespace kith {

class RatingsTrainer : public Trainer {
 public:
  std::optional<double> held_out_loss() override;
  std::pair<uint64_t, uint64_t> progress(const RunState& state) const override;

 protected:
  RatingsTrainer(RatingsModel& model, const Ratings& ratings, Job& job)
      : ratings_(ratings), job_(job), model_(model) {}
  // A row of [p, b, 1] or [q, 1, c] as it is now.
  virtual std::span<const float> learned_row(Axis axis, uint32_t number,
                                             std::vector<float>& scratch) const;
  RunState& state() { return model_.state_; }

  const Ratings& ratings_;
  Job& job_;

 private:
  std::span<const float> scoring_row(Axis axis, uint32_t number, std::vector<float>& scratch) const;
  double error() const;
  double ranking_error();
  double popularity_error() const;
  // What a ranking is by: the scores of among_.items for a user, and of an item for that user.
  struct Scoring {
    std::function<void(uint32_t user, std::span<float> scores)> user;
    std::function<float(uint32_t item)> item;
  };
  double ranking_error(const Scoring& scoring) const;
  // Items that a ranking is measured among: the first `whole` for themselves, the others for
  // `weight` items each.
  struct Among {
    std::vector<uint32_t> items{};
    size_t whole = 0;
    double weight = 0;
    static Among of(const Sparse& train, size_t items);
  };
  RatingsModel& model_;
  Among among_;  // once it is asked for
};

// Where to cut rows into ranges of about so many ratings (and rows), from the data alone: the first
// of each range, and the end of the last.
std::vector<uint32_t> cut_rows(const Sparse& a, uint64_t ratings);

}  // namespace kith
