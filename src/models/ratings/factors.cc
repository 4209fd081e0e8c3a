// SPDX-License-Identifier: Apache-2.0
#include "models/ratings/factors.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"

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

Names without_copy(const Names& names) {
  return Names::borrowed(names.bytes(), names.offsets(), nullptr, "");
}

// Rows are floats, so these have to fit into one.
bool fit_floats(const Shifts& shifts) {
  const auto good = [](double x) { return std::abs(x) <= std::numeric_limits<float>::max(); };
  const auto above_0 = [](double x) { return x >= std::numeric_limits<float>::min(); };
  return std::ranges::all_of(shifts.mean, good) && std::ranges::all_of(shifts.scale, good) &&
         std::ranges::all_of(shifts.scale, above_0);
}

}  // namespace

void RatingFactors::take_names(const Ratings& ratings, size_t new_dim) {
  users = ratings.users();
  items = ratings.items();
  user_column = ratings.counts().user_column;
  item_column = ratings.counts().item_column;
  low = ratings.low();
  high = ratings.high();
  implicit = ratings.implicit();
  mean = 0;
  dim = new_dim;
  user = Matrix();
  item = Matrix();
  user_trust = Matrix();
  item_trust = Matrix();
}

RatingFactors RatingFactors::planned(const Ratings& ratings, size_t dim) {
  RatingFactors out;
  out.users = without_copy(ratings.users());
  out.items = without_copy(ratings.items());
  out.dim = dim;
  return out;
}

void RatingFactors::make_rows() {
  user = grown(Matrix(0, dim + 2), users.size(), one(Axis::kUser));
  item = grown(Matrix(0, dim + 2), items.size(), one(Axis::kItem));
}

void RatingFactors::grow_rows() {
  user = grown(user, users.size(), one(Axis::kUser));
  item = grown(item, items.size(), one(Axis::kItem));
  if (!shifts.users.empty()) shifts.users.grow(users.size());
  if (!shifts.items.empty()) shifts.items.grow(items.size());
  days.grow(users.size());
}

void RatingFactors::visit(Parts& parts, size_t cols) {
  parts.number("ratings.mean", mean);
  parts.number("ratings.low", low);
  parts.number("ratings.high", high);
  parts.flag("ratings.implicit", implicit);
  parts.text("ratings.user_column", user_column);
  parts.text("ratings.item_column", item_column);
  parts.check(std::isfinite(mean) && low <= high, "the range of the ratings makes no sense");
  parts.names("users", users);
  parts.names("items", items);
  parts.matrix("user", user, users.size(), cols, Use::kLearned);
  parts.matrix("item", item, items.size(), cols, Use::kLearned);
  if (parts.loading()) {
    parts.check(user.cols() == item.cols() && user.cols() >= 2,
                "the vectors of users and items do not fit each other");
    dim = user.cols() < 2 ? 0 : user.cols() - 2;
  }
  parts.matrix("trust.user", user_trust, 1, users.size(), Use::kOptional);
  parts.matrix("trust.item", item_trust, 1, items.size(), Use::kOptional);
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    const std::string name = axis == Axis::kUser ? "shift.user" : "shift.item";
    Shifts& s = shifts_of(axis);
    const size_t rows = parts.loading() ? Parts::kAny : s.mean.size();
    parts.values(name + ".mean", s.mean, rows, Use::kOptional);
    parts.values(name + ".scale", s.scale, rows, Use::kOptional);
    if (!parts.loading() || s.mean.empty()) continue;
    parts.check(!implicit && s.mean.size() == names(axis).size() &&
                    s.scale.size() == s.mean.size() && fit_floats(s),
                "what was taken out of the ratings does not fit");
    s.find_typical();
  }
  if (parts.vectors_only()) return;
  days.visit(parts, users.size());
  // It is shared with others, so what is read goes into one of its own.
  Sparse own_seen;
  Sparse& all = parts.loading() ? own_seen : const_cast<Sparse&>(*seen);
  kith::visit(parts, {"seen.offsets", "seen.items", "seen.ratings"}, all, users.size(),
              items.size());
  if (parts.loading()) seen = std::make_shared<Sparse>(std::move(own_seen));
}

double RatingFactors::score(std::span<const float> p, std::span<const float> q) const {
  return mean + dot(p, q);
}

std::span<const float> RatingFactors::scoring_row(Axis axis, uint32_t number,
                                                  std::span<const float> learned,
                                                  std::vector<float>& scratch) const {
  if (shifts.empty()) return learned;
  put_scoring_row(axis, learned, shifts_of(axis).of(number), scratch);
  return scratch;
}

void RatingFactors::put_scoring_row(Axis axis, std::span<const float> learned, const Shift& shift,
                                    std::vector<float>& out) const {
  out.resize(learned.size() + 1);
  for (size_t k = 0; k < learned.size(); ++k) {
    out[k] = static_cast<float>(shift.scale * learned[k]);
  }
  if (axis == Axis::kUser) {
    out[dim] = static_cast<float>(shift.scale * (learned[dim] + mean));
    out.back() = static_cast<float>(shift.mean - mean);
  } else {
    out[dim + 1] = static_cast<float>(shift.original(learned[dim + 1]));
    out.back() = 1;
  }
}

void RatingFactors::find_trust() {
  user_trust = Matrix(1, users.size());
  item_trust = Matrix(1, items.size());
  for (uint32_t u = 0; u < seen->rows(); ++u) {
    user_trust.row(0)[u] = static_cast<float>(seen->row(u).size());
  }
  for (const uint32_t i : seen->column) item_trust.row(0)[i] += 1;
  for (Matrix* const m : {&user_trust, &item_trust}) {
    for (float& x : m->row(0)) x /= x + 1;
  }
}

std::vector<double> RatingFactors::gram(Axis axis) const {
  const Matrix& m = rows(axis);
  const size_t n = dim + 2;
  std::vector<double> out(n * n, 0.0);
  for (size_t r = 0; r < m.rows(); ++r) {
    const auto row = m.row(r);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) out[i * n + j] += double{row[i]} * row[j];
    }
  }
  return out;
}

}  // namespace kith
