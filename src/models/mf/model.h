// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix factorisation by stochastic gradient descent as a model; a step is in kernel.h, the order
// of the steps in train/grid.h.

#include "models/mf/config.h"
#include "models/ratings/known_rows.h"
#include "models/ratings/model.h"

namespace kith::mf {

class Mf final : public RatingsModel {
 public:
  Section settings() override { return {"mf", config_}; }
  Wishes wishes() const override;
  void visit(Parts& parts) override;

  // Read by the trainer and by tests.
  Config& config() { return config_; }

 protected:
  uint64_t memory(const Ratings& ratings, const Job& job) const override;
  void check(const Ratings& ratings) const override;
  bool has_say(std::string_view setting, const Ratings& ratings) const override {
    return setting != "column-penalty" || what(ratings.implicit()).any(ratings);
  }
  RunPlan plan() const override;
  bool refits() const override { return config_.refit; }
  std::optional<bool> days() const override;
  void start(const Ratings& ratings, Start start, const Job& job) override;
  std::unique_ptr<Trainer> trainer(const Ratings& ratings, Job& job) override;
  void finish(const Ratings& ratings, const Job& job) override;
  bool can_go_on() const override { return working(); }
  std::vector<float> fold(Axis axis, const Folding& row) const override;
  RowProblem row_problem(Axis axis, const Folding& row) const override;
  double link(double score) const override;
  void grow() override { known_.grow(f_); }

 private:
  friend class MfTrainer;
  Loss loss() const { return loss_of(f_.implicit); }
  Loss loss_of(bool implicit) const {
    return config_.loss.value_or(implicit ? Loss::kBpr : Loss::kSquared);
  }
  double lr() const { return config_.lr.value_or(loss() == Loss::kBpr ? 1 : 0.1); }
  double penalty() const { return config_.penalty.value_or(loss() == Loss::kBpr ? 0.02 : 0.08); }
  int early_stop() const { return config_.early_stop.value_or(loss() == Loss::kBpr ? 0 : 3); }
  float value_of(float rating) const;  // as the loss sees it
  KnownWhat what(bool implicit) const;
  // How hard each rating holds a row of n to what it is drawn to.
  double hold(size_t n) const;
  double bias_hold(Axis axis, size_t n) const;
  // The rows are working rows (kernel.h) until finish() makes them those of ratings/factors.h.
  bool working() const;
  // A row of the model, in the unit of the ratings, from a working row.
  void put_row(Axis axis, std::span<const float> from, std::span<float> to) const;
  // Of folding in by steps (fold.cc).
  void put_back(Axis axis, std::span<const uint32_t> numbers, Matrix& working) const;
  void start_alone(Axis axis, size_t ratings, std::span<const float> mean, Matrix& row,
                   Matrix& drawn_to) const;

  Config config_;
  // A rating is scale_ times what the loss sees, and the mean more.
  double scale_ = 1;
  bool working_ = false;
  // As the last run had them; 0.1 knew no other.
  double frequency_ = 1;
  double user_bias_penalty_ = 0, item_bias_penalty_ = 0;  // found from the data
  KnownRows known_;                                       // what rows are drawn to
  bool leaves_columns_ = false;                           // columns that it does not learn from
};

}  // namespace kith::mf
