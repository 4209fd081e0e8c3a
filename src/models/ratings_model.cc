// SPDX-License-Identifier: Apache-2.0
#include "models/ratings_model.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "models/run_file.h"

namespace kith {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  assert(a.size() == b.size());
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) sum += double{a[k]} * b[k];
  return sum;
}

Matrix grown(const Matrix& m, size_t rows, size_t one_at) {
  Matrix out(rows, m.cols());
  for (size_t r = 0; r < rows; ++r) {
    if (r < m.rows()) {
      std::ranges::copy(m.row(r), out.row(r).begin());
    } else {
      out.row(r)[one_at] = 1;
    }
  }
  return out;
}

}  // namespace

void RatingsModel::start_without_rows(const Ratings& ratings, size_t dim) {
  users_ = ratings.users();
  items_ = ratings.items();
  user_column_ = ratings.profile().user_column;
  item_column_ = ratings.profile().item_column;
  low_ = ratings.low();
  high_ = ratings.high();
  implicit_ = ratings.implicit();
  mean_ = 0;
  dim_ = dim;
  user_ = Matrix();
  item_ = Matrix();
  name_rows();
}

void RatingsModel::start(const Ratings& ratings, size_t dim) {
  start_without_rows(ratings, dim);
  user_ = grown(Matrix(0, dim + 2), users_.size(), dim + 1);
  item_ = grown(Matrix(0, dim + 2), items_.size(), dim);
}

void RatingsModel::name_rows() {
  names_ = Names();
  for (const Axis axis : {Axis::kItem, Axis::kUser}) {
    const Names& from = names_of(axis);
    for (size_t i = 0; i < from.size(); ++i) {
      names_.add(fmt::format("{}={}", column_of(axis), from[i]));
    }
  }
  count_rows();
}

void RatingsModel::count_rows() {
  counts_.assign(names_.size(), 0);
  for (const uint32_t i : seen_->column) ++counts_[i];
  for (uint32_t u = 0; u < seen_->rows(); ++u) counts_[items_.size() + u] = seen_->row(u).size();
}

void RatingsModel::reopen() {
  throw Error(ErrorKind::kUsage,
              "a model of ratings takes new ratings with kith update, or is trained anew on all");
}

double RatingsModel::predict(uint32_t user, uint32_t item) const {
  std::vector<float> p, q;
  return predict(scoring_row(Axis::kUser, user, p), scoring_row(Axis::kItem, item, q));
}

std::span<const float> RatingsModel::learned_row(Axis axis, uint32_t number,
                                                 std::vector<float>&) const {
  return rows_of(axis).row(number);
}

std::span<const float> RatingsModel::scoring_row(Axis axis, uint32_t number,
                                                 std::vector<float>& room) const {
  if (shifts_.empty()) return learned_row(axis, number, room);
  std::vector<float> own;
  put_scoring_row(axis, learned_row(axis, number, own), shifts_of(axis).of(number), room);
  return room;
}

// With z = mean + p . q + b + c,
//
//   r = m_u + s_u (m_i + s_i z)
//     = mean + [s_u p, s_u (b + mean), s_u, m_u - mean] . [s_i q, s_i, m_i + s_i c, 1].
void RatingsModel::put_scoring_row(Axis axis, std::span<const float> learned, const Shift& shift,
                                   std::vector<float>& out) const {
  out.resize(learned.size() + 1);
  for (size_t k = 0; k < learned.size(); ++k) {
    out[k] = static_cast<float>(shift.scale * learned[k]);
  }
  if (axis == Axis::kUser) {
    out[dim()] = static_cast<float>(shift.scale * (learned[dim()] + mean_));
    out.back() = static_cast<float>(shift.mean - mean_);
  } else {
    out[dim() + 1] = static_cast<float>(shift.original(learned[dim() + 1]));
    out.back() = 1;
  }
}

double RatingsModel::predict(std::span<const float> user, std::span<const float> item) const {
  const double score = mean_ + dot(user, item);
  return implicit_ ? score : std::clamp<double>(score, low_, high_);
}

// A scoring row is s times the learned one, with s where that has its 1; but for the place of its
// own bias, which no deviation looks at.
std::optional<double> RatingsModel::deviation(std::span<const float> user,
                                              std::span<const float> item) const {
  if (shifts_.empty()) return learned_deviation(user, item);
  std::vector<float> p(user.begin(), user.end()), q(item.begin(), item.end());
  const float user_scale = user[dim() + 1], item_scale = item[dim()];
  for (float& x : p) x /= user_scale;
  for (float& x : q) x /= item_scale;
  auto out = learned_deviation(p, q);
  if (out) *out *= double{user_scale} * item_scale;
  return out;
}

std::optional<double> RatingsModel::learned_deviation(std::span<const float>,
                                                      std::span<const float>) const {
  return std::nullopt;
}

std::vector<double> RatingsModel::gram(Axis axis) const {
  const Matrix& m = rows_of(axis);
  const size_t d = dim();
  std::vector<double> out(d * d, 0.0);
  for (size_t r = 0; r < m.rows(); ++r) {
    const auto row = m.row(r);
    for (size_t i = 0; i < d; ++i) {
      for (size_t j = 0; j <= i; ++j) out[i * d + j] += double{row[i]} * row[j];
    }
  }
  return out;
}

std::vector<float> RatingsModel::fold_in(Axis axis, Sparse::Row ratings) const {
  Folded folded = fold_normalised(axis, ratings);
  if (shifts_.empty()) return std::move(folded.row);
  std::vector<float> out;
  put_scoring_row(axis, folded.row, folded.shift, out);
  return out;
}

// The moments are those of the row's own ratings: of users as they were given, of items of what the
// users' shifts leave of them.
RatingsModel::Folded RatingsModel::fold_normalised(Axis axis, Sparse::Row ratings) const {
  if (shifts_.empty()) return {fold(axis, ratings), {}};
  std::vector<double> values(ratings.values.begin(), ratings.values.end());
  const Shifts& own = shifts_of(axis);
  const Shifts& others = shifts_of(axis == Axis::kUser ? Axis::kItem : Axis::kUser);
  Shift shift;
  for (const bool users : {true, false}) {
    if (users != (axis == Axis::kUser)) {
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] = others.of(ratings.columns[k]).normalised(values[k]);
      }
    } else if (!own.empty()) {
      shift = shift_of(moments_of(values), own.typical);
      for (double& v : values) v = shift.normalised(v);
    }
  }
  const std::vector<float> left(values.begin(), values.end());
  return {fold(axis, {ratings.columns, left}), shift};
}

void RatingsModel::solve_row_of(Axis axis, uint32_t number, Sparse::Row ratings) {
  const Folded folded = fold_normalised(axis, ratings);
  std::ranges::copy(folded.row, (axis == Axis::kUser ? user_ : item_).row(number).begin());
  if (!shifts_of(axis).empty()) shifts_of(axis).set(number, folded.shift);
}

std::vector<float> RatingsModel::fold(Axis axis, Sparse::Row ratings) const {
  const Axis other = axis == Axis::kUser ? Axis::kItem : Axis::kUser;
  RowProblem problem = row_problem(axis, ratings.size());
  problem.dim = dim();
  problem.own = axis == Axis::kUser ? dim() : dim() + 1;
  std::vector<double> all;
  if (problem.unobserved > 0) {
    if (gram_.empty()) all = gram(other);
    problem.gram = gram_.empty() ? all : gram_;
  }
  return solve_row(problem, rows_of(other), mean_, ratings);
}

RatingsModel::Updated RatingsModel::update(const Ratings& more) {
  Updated out;
  out.new_users = more.users().size() - users_.size();
  out.new_items = more.items().size() - items_.size();
  const size_t known_items = items_.size();
  users_ = more.users();
  items_ = more.items();
  auto all = std::make_shared<Sparse>(merged(*seen_, more.train()));
  user_ = grown(user_, users_.size(), dim() + 1);
  item_ = grown(item_, items_.size(), dim());
  if (!shifts_.users.empty()) shifts_.users.grow(users_.size());
  if (!shifts_.items.empty()) shifts_.items.grow(items_.size());
  seen_ = all;
  const Sparse fresh = transposed(more.train());
  const Sparse by_item = transposed(*all);
  const bool implicit = row_problem(Axis::kUser, 0).unobserved > 0;
  // New users first, from the items that are known; then new items, from the users; then the users
  // that rated new items once more.
  const auto solve_users = [&](bool only_with_new_items) {
    if (implicit) gram_ = gram(Axis::kItem);
    for (uint32_t u = 0; u < more.train().rows(); ++u) {
      const Sparse::Row row = more.train().row(u);
      const bool concerned =
          only_with_new_items
              ? std::ranges::any_of(row.columns, [&](uint32_t i) { return i >= known_items; })
              : row.size() > 0;
      if (!concerned) continue;
      solve_row_of(Axis::kUser, u, all->row(u));
      ++out.solved;
    }
  };
  solve_users(false);
  if (implicit) gram_ = gram(Axis::kUser);
  for (auto i = static_cast<uint32_t>(known_items); i < items_.size(); ++i) {
    if (fresh.row(i).size() == 0) continue;
    solve_row_of(Axis::kItem, i, by_item.row(i));
    ++out.solved;
  }
  if (out.new_items > 0) solve_users(true);
  gram_.clear();
  shifts_.users.find_typical();
  shifts_.items.find_typical();
  name_rows();
  return out;
}

Matrix RatingsModel::vectors(Side side) const {
  if (side != Side::kInput) {
    throw Error(ErrorKind::kUsage,
                "a model of ratings has one vector for each user and item; ask with --vectors "
                "input");
  }
  Matrix out(items_.size() + users_.size(), std::max<size_t>(1, dim()));
  for (size_t r = 0; r < out.rows(); ++r) {
    const auto row = r < items_.size() ? item_.row(r) : user_.row(r - items_.size());
    std::copy_n(row.begin(), dim(), out.row(r).begin());
  }
  return out;
}

std::vector<Fact> RatingsModel::info() const {
  std::vector<Fact> out{{"users", fmt::format("{}", users_.size())},
                        {"items", fmt::format("{}", items_.size())},
                        {"ratings", fmt::format("{}", seen_->size())},
                        {"feedback", implicit_ ? "implicit" : "explicit"},
                        {"range", fmt::format("{:g} to {:g}", low_, high_)},
                        {"dim", fmt::format("{}", dim())}};
  if (!shifts_.empty()) out.push_back({"normalise", detail::show(shifts_.by())});
  add_facts(state_, out);
  return out;
}

}  // namespace kith
