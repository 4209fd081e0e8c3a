// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all models of ratings are, however they learn: vectors of users and of items whose product
// is the rating,
//
//   rating(u, i) ~ link(mean + user(u) . item(i)),   user(u) = [p_u, b_u, 1],  item(i) = [q_i, 1,
//   c_i]
//
// so biases are coordinates like the others, and a prediction is one dot product. Of ratings that
// were normalised the model learns z = ((r - m_u) / s_u - m_i) / s_i; its rows are those of z, and
// with one coordinate more, m_u and 1, they give ratings again: see scoring_row().

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/ratings.h"
#include "models/model.h"
#include "train/ridge_row.h"
#include "train/run.h"

namespace kith {

enum class Axis { kUser, kItem };

class RatingsModel : public Model {
 public:
  virtual uint64_t memory_needed(const Ratings& ratings, const Job& job) const = 0;
  // As Model says: trains, or goes on; returns early when the job is cancelled. Once on what is not
  // held out, watched by what is; then, if the model refits, anew on everything for as many epochs
  // as were best. Ratings that the caller moves here are given up before the second run.
  void train(Ratings ratings, Job& job);

  // What was learned.
  const Names& names_of(Axis axis) const { return axis == Axis::kUser ? users_ : items_; }
  const std::string& column_of(Axis axis) const {
    return axis == Axis::kUser ? user_column_ : item_column_;
  }
  const Matrix& rows_of(Axis axis) const { return axis == Axis::kUser ? user_ : item_; }
  size_t dim() const { return dim_; }
  double mean() const { return mean_; }
  bool implicit() const { return implicit_; }
  // Users x items: all ratings that it was given, those held out as well; while it trains, those of
  // the run that is on.
  const Sparse& seen() const { return *seen_; }
  // Of a pair, in the unit of the ratings and within their range; for implicit feedback a score.
  double predict(uint32_t user, uint32_t item) const;
  // The same from rows as scoring_row() and fold_in() give them.
  virtual double predict(std::span<const float> user, std::span<const float> item) const;
  // How far the truth may be from a prediction, one standard deviation; for models that know.
  std::optional<double> deviation(std::span<const float> user, std::span<const float> item) const;
  // The row of one in the unit of the ratings, so that the scores of a user's items, products with
  // these rows, are in the order of their predictions. `room` is for one that has to be made first.
  std::span<const float> scoring_row(Axis axis, uint32_t number, std::vector<float>& room) const;
  size_t scoring_cols() const { return dim() + 2 + (shifts_.empty() ? 0 : 1); }
  // Whether rows_of() are scoring rows.
  bool scores_by_rows() const { return shifts_.empty(); }

  // The scoring row that someone with these ratings (columns: numbers of the other axis) would
  // have, the other axis as it is. Nobody with no ratings gets the row of the unknown: predictions
  // are the mean and the other's bias.
  std::vector<float> fold_in(Axis axis, Sparse::Row ratings) const;
  // Adds what `more` (read on top of this model's names) has beyond it, and solves the rows of all
  // users, then of all new items, that it speaks of anew from all their ratings.
  struct Updated {
    uint64_t new_users = 0, new_items = 0, solved = 0;
  };
  Updated update(const Ratings& more);

  // Model
  bool finished() const override { return state_.finished; }
  void reopen() override;
  void pack(ArchiveWriter& out, bool checkpoint) const override;
  const Names& names() const override { return names_; }  // "item=Alien", then "user=42"
  std::span<const uint64_t> counts() const override { return counts_; }
  Matrix vectors(Side side) const override;  // p and q, without biases
  std::vector<Fact> info() const override;

 protected:
  friend class RatingsRun;
  // Folding in, as the model has learned: a row for ratings in its unit, `rows_of` the other axis
  // as they are.
  virtual std::vector<float> fold(Axis axis, Sparse::Row ratings) const;
  // How that weighs: everything of RowProblem but dim, own and gram, for a row of n ratings.
  virtual RowProblem row_problem(Axis axis, size_t n) const = 0;

  // deviation() of the rows as they were learned, in the unit of what was learned.
  virtual std::optional<double> learned_deviation(std::span<const float> user,
                                                  std::span<const float> item) const;
  // A row of [p, b, 1] or [q, 1, c] as it was learned.
  virtual std::span<const float> learned_row(Axis axis, uint32_t number,
                                             std::vector<float>& room) const;

  // The parts of train(). Their ratings are normalised if that was asked for.
  // Error(kUsage) if the model's settings do not allow that.
  virtual void check_normalised() const {}
  virtual bool refits() const = 0;
  // Where a run on these ratings starts.
  virtual void initialise(const Ratings& ratings, const Job& job) = 0;
  // Where the second one starts: the rows are the first one's best, and state_.refit says after how
  // many epochs that was. 0: nothing was better than the start, so what this leaves is the model.
  virtual void initialise_refit(const Ratings& whole, const Job& job) { initialise(whole, job); }
  virtual bool run(const Ratings& ratings, Job& job) = 0;  // true at its end, as TrainRun::run()
  // Makes the rows of the last run, which was on these ratings, those to be saved.
  virtual void finish(const Ratings& /*ratings*/, const Job& /*job*/) {}
  // Error(kInput) if a checkpoint is of other data, or lacks what is needed to go on.
  virtual void check_same(const Ratings& ratings) const;
  // The rows of the best epoch so far: kept, and put back. False if there are none.
  virtual void keep_best();
  virtual bool take_best();

  // Reads settings and the common part into this model, which may be half read if it throws: a
  // model restores into a fresh one of its kind, and then takes its place.
  void load(const Archive& in);
  // Takes names and range of the data; no rows yet.
  void start_without_rows(const Ratings& ratings, size_t dim);
  // And rows for everyone, [0.., 0, 1] and [0.., 1, 0].
  void start(const Ratings& ratings, size_t dim);
  // The error on what is held out: root mean square, or for implicit feedback the mean of 1 - 1 /
  // log2(1 + rank), what NDCG is short of 1 (0 best): the rank among what the user has not seen, in
  // which the first places count most. Nothing if nothing is held out.
  std::optional<double> held_out_error(const Ratings& ratings) const;
  bool finite() const { return all_finite(user_) && all_finite(item_); }

  Names users_, items_;
  std::string user_column_ = "user", item_column_ = "item";
  Matrix user_, item_;  // dim + 2; while it trains, a model may have others
  size_t dim_ = 0;
  double mean_ = 0;
  float low_ = 0, high_ = 0;
  bool implicit_ = false;
  std::shared_ptr<const Sparse> seen_ = std::make_shared<Sparse>();  // see Ratings::share
  RatingShifts shifts_;  // what normalising took out of the ratings
  RunState state_;
  uint64_t unit_ = 0;  // ratings that progress counts as an epoch, in both runs

 private:
  struct Folded {
    std::vector<float> row;  // as it was learned
    Shift shift;
  };
  Folded fold_normalised(Axis axis, Sparse::Row ratings) const;
  Shifts& shifts_of(Axis axis) { return axis == Axis::kUser ? shifts_.users : shifts_.items; }
  const Shifts& shifts_of(Axis axis) const {
    return axis == Axis::kUser ? shifts_.users : shifts_.items;
  }
  void put_scoring_row(Axis axis, std::span<const float> learned, const Shift& shift,
                       std::vector<float>& out) const;
  void solve_row_of(Axis axis, uint32_t number, Sparse::Row ratings);
  void load_shifts(const Archive& in, Axis axis);

  void check_ratings(const Ratings& ratings) const;
  double ranking_error(const Ratings& ratings) const;
  // What a run on these learns from, and what is seen and taken out of them meanwhile.
  const Ratings& take(const Ratings& ratings, std::optional<Ratings>& room);
  RunPlan plan(RunPlan first) const;  // of the run that is on
  void restart_state();               // to the beginning of the run that is on
  void start_refit();
  void conclude();
  void name_rows();
  void count_rows();
  std::vector<double> gram(Axis axis) const;
  Names names_;
  std::vector<uint64_t> counts_;
  std::vector<double> gram_;      // of the other axis, while update() solves many rows with it
  Matrix best_user_, best_item_;  // while a run that may go back to them is on
};

}  // namespace kith
