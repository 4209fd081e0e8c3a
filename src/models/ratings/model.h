// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all models of ratings are to everyone else. Predicting, recommending, folding in, updating
// and saving are written once, on RatingFactors; a model of ratings is how it starts and its
// trainer, and, if it has one of its own, a way of folding in.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/popularity.h"
#include "models/ratings/factors.h"
#include "train/ridge_row.h"

namespace kith {

class RatingsModel : public Learns<Ratings>,
                     public HasVectors,
                     public Ranks,
                     public Updates,
                     public BesidePopularity {
 public:
  const RatingFactors& factors() const { return f_; }
  // Of a pair, in the unit of the ratings and within their range; for implicit feedback a score.
  double predict(uint32_t user, uint32_t item) const;

  // ModelBase
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;
  // HasVectors: p and q, without biases
  std::vector<VectorGroup> vectors(Side side) const override;
  // Ranks
  const Names& names_of(Axis axis) const final { return f_.names(axis); }
  const std::string& column_of(Axis axis) const final { return f_.column(axis); }
  bool implicit() const final { return f_.implicit; }
  bool has_strengths() const final { return !f_.implicit || f_.low < f_.high; }
  const Sparse& seen() const final { return *f_.seen; }
  std::span<const float> scoring_row(Axis axis, uint32_t number,
                                     std::vector<float>& scratch) const final;
  size_t scoring_cols() const final { return f_.scoring_cols(); }
  const Matrix* scoring_rows(Axis axis) const final;
  std::vector<float> fold_in(Axis axis, Sparse::Row ratings) const final;
  std::vector<std::vector<float>> fold_in_each(Axis axis, Sparse::Row ratings) const final;
  double rating(std::span<const float> user, std::span<const float> item,
                float on_day = 0) const final;
  bool knows_days() const final { return !f_.days.empty(); }
  float day_effect(uint32_t user, float day) const final { return f_.days.of(user, day); }
  std::optional<double> deviation(std::span<const float> user,
                                  std::span<const float> item) const final;
  // BesidePopularity
  std::optional<double> popularity_held_out() const final { return popularity_; }
  // Updates: users with new ratings, then new items, are solved from all their ratings.
  std::any known() const final;
  Updated update(const Dataset& more, const Context& context) final;

 protected:
  friend class RatingsTrainer;
  friend class RatingsCourse;
  bool learn(const Ratings& ratings, Job& job) final { return learn_last(Ratings(ratings), job); }
  bool learn_last(Ratings&& ratings, Job& job) final;

  // --- What a model brings ---

  // Error(kUsage) or Error(kInput) for ratings that its settings are not for.
  virtual void check(const Ratings& ratings) const = 0;
  virtual RunPlan plan() const = 0;
  // Part of memory(): what every model of ratings takes, names of its own among it.
  static uint64_t memory_of_all(const Ratings& ratings);
  virtual bool refits() const = 0;
  // Whether the days of ratings are learned from; nothing: if that is nearer to what is held out.
  virtual std::optional<bool> days() const { return false; }
  // Where a run on these ratings starts; they are normalised if that was asked for.
  virtual void start(const Ratings& ratings, Start start, const Job& job) = 0;
  virtual std::unique_ptr<Trainer> trainer(const Ratings& ratings, Job& job) = 0;
  // Makes the rows of the last run, which was on these ratings, those to be saved.
  virtual void finish(const Ratings& /*ratings*/, const Job& /*job*/) {}
  // Whether a checkpoint has what is needed to go on.
  virtual bool can_go_on() const { return true; }
  // Folding in, as the model has learned: a row for ratings in its unit, with the rows of the other
  // axis as they are. By default the closed form of row_problem(), with the Gram matrix of those.
  struct Folding {
    Sparse::Row ratings;
    std::span<const double> gram;
    std::optional<uint32_t> number;  // of a row that is known
  };
  virtual std::vector<float> fold(Axis axis, const Folding& row) const;
  // How that weighs: everything of RowProblem but dim, own and gram.
  virtual RowProblem row_problem(Axis /*axis*/, const Folding& /*row*/) const { return {}; }
  // More users and items than before, as the names say.
  virtual void grow() {}
  // What a score says of a rating: by default itself, within the range of the ratings.
  virtual double link(double score) const;
  // deviation() of the rows as they were learned, in the unit of what was learned.
  virtual std::optional<double> learned_deviation(std::span<const float> user,
                                                  std::span<const float> item) const;

  RatingFactors f_;

 private:
  struct Folded {
    std::vector<float> row;  // as it was learned
    Shift shift;
  };
  std::vector<double> gram_for(Axis axis) const;
  Folded fold_normalised(Axis axis, const Folding& row) const;
  std::vector<float> scoring(Axis axis, Folded folded) const;
  void solve_rows(Axis axis, std::span<const uint32_t> numbers, const Sparse& ratings,
                  const Context& context);
  uint64_t solve_all(const Ratings& more, size_t known_items, const Context& context);

  std::optional<double> popularity_;  // of the first run, if it ranked
  uint64_t unit_ = 0;                 // ratings that progress counts as an epoch, in both runs
};

}  // namespace kith
