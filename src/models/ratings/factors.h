// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all models of ratings have learned, however they learn: vectors of users and of items whose
// product is the rating,
//
//   rating(u, i) ~ link(mean + user(u) . item(i)),  user(u) = [p_u, b_u, 1],  item(i) = [q_i, 1,
//   c_i]
//
// so biases are coordinates like the others, and a prediction is one dot product. Of ratings that
// were normalised the model learns z = ((r - m_u) / s_u - m_i) / s_i; its rows are those of z, and
// with one coordinate more, m_u and 1, they give ratings again: see scoring_row().

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "core/names.h"
#include "data/ratings/ratings.h"
#include "data/sparse.h"
#include "models/capabilities.h"
#include "models/parts.h"
#include "models/ratings/day_effects.h"

namespace kith {

struct RatingFactors {
  Names users, items;
  std::string user_column = "user", item_column = "item";
  Matrix user, item;  // dim + 2; while it trains, a model may have others
  size_t dim = 0;
  double mean = 0;
  float low = 0, high = 0;  // the range of the ratings
  bool implicit = false;
  // Users x items: all ratings that it was given, those held out as well; while it trains, those of
  // the run that is on. Shared with the data.
  std::shared_ptr<const Sparse> seen = std::make_shared<Sparse>();
  DayEffects days;      // what was taken out of the ratings first
  RatingShifts shifts;  // what normalising took out of the rest
  // Of interactions: how far the vector of each is to be trusted, one row each. None while it
  // trains, and in files of 0.1.
  Matrix user_trust, item_trust;

  const Names& names(Axis axis) const { return axis == Axis::kUser ? users : items; }
  const std::string& column(Axis axis) const {
    return axis == Axis::kUser ? user_column : item_column;
  }
  Matrix& rows(Axis axis) { return axis == Axis::kUser ? user : item; }
  const Matrix& rows(Axis axis) const { return axis == Axis::kUser ? user : item; }
  Shifts& shifts_of(Axis axis) { return axis == Axis::kUser ? shifts.users : shifts.items; }
  const Shifts& shifts_of(Axis axis) const {
    return axis == Axis::kUser ? shifts.users : shifts.items;
  }
  Matrix& trust(Axis axis) { return axis == Axis::kUser ? user_trust : item_trust; }
  const Matrix& trust(Axis axis) const { return axis == Axis::kUser ? user_trust : item_trust; }
  // Where rows of an axis have their own bias, and where a 1 that meets the other's.
  size_t own(Axis axis) const { return axis == Axis::kUser ? dim : dim + 1; }
  size_t one(Axis axis) const { return axis == Axis::kUser ? dim + 1 : dim; }

  // Names and range of the data; no rows yet.
  void take_names(const Ratings& ratings, size_t new_dim);
  // Rows for everyone, [0.., 0, 1] and [0.., 1, 0].
  void make_rows();
  // More of them, for names that came later.
  void grow_rows();
  // As many users and items as the data have, without a copy of their names: to count memory.
  static RatingFactors planned(const Ratings& ratings, size_t dim);

  void visit(Parts& parts, size_t cols);

  double score(std::span<const float> p, std::span<const float> q) const;  // mean + p . q
  // A row as it was learned, in the unit of the ratings: with z = mean + p . q + b + c,
  //
  //   r = m_u + s_u (m_i + s_i z)
  //     = mean + [s_u p, s_u (b + mean), s_u, m_u - mean] . [s_i q, s_i, m_i + s_i c, 1].
  void put_scoring_row(Axis axis, std::span<const float> learned, const Shift& shift,
                       std::vector<float>& out) const;
  std::span<const float> scoring_row(Axis axis, uint32_t number, std::span<const float> learned,
                                     std::vector<float>& scratch) const;
  size_t scoring_cols() const { return dim + 2 + (shifts.empty() ? 0 : 1); }

  // n / (n + 1) for a user or an item with n visits. A vector that was made of one or two of them
  // points anywhere, and is nearer to some than any that many visits agreed on. To doubt more than
  // this hides series that few know: als/README.md.
  void find_trust();

  // The sum over all rows of an axis of r r^T, biases and ones included.
  std::vector<double> gram(Axis axis) const;
};

}  // namespace kith
