// SPDX-License-Identifier: Apache-2.0
#include "models/ratings/completion.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "eval/biases.h"

namespace kith {
namespace {

constexpr double kMostPenalty = 1e9;  // for factors that are zero

// Rows with only the first `rank` of `dim` factors; the two columns of biases stay.
Matrix cut(const Matrix& m, size_t dim, size_t rank) {
  Matrix out(m.rows(), rank + 2);
  for (size_t r = 0; r < m.rows(); ++r) {
    std::copy_n(m.row(r).begin(), rank, out.row(r).begin());
    out.row(r)[rank] = m.row(r)[dim];
    out.row(r)[rank + 1] = m.row(r)[dim + 1];
  }
  return out;
}

}  // namespace

void want_explicit(const Ratings& ratings, std::string_view model) {
  if (!ratings.implicit()) return;
  throw fault(ErrorKind::kUsage,
              "{} completes ratings, and these are interactions without ratings; train als, or nmf "
              "with --unrated zero, on them",
              model);
}

void CompletionModel::begin(const Ratings& ratings, size_t dim) {
  f_.take_names(ratings, dim);
  f_.make_rows();
  rank_ = 0;
  if (!biases()) return;
  const Biases fitted = fit_biases(ratings.train());
  f_.mean = fitted.mean;
  user_bias_penalty_ = fitted.user_penalty;
  item_bias_penalty_ = fitted.item_penalty;
  for (size_t u = 0; u < f_.user.rows(); ++u) f_.user.row(u)[dim] = fitted.user[u];
  for (size_t i = 0; i < f_.item.rows(); ++i) f_.item.row(i)[dim + 1] = fitted.item[i];
}

void CompletionModel::put(const FactorPair& factors) {
  rank_ = factors.p.cols();
  for (const auto& [from, to] :
       {std::pair{&factors.p, &f_.user}, std::pair{&factors.q, &f_.item}}) {
    for (size_t r = 0; r < to->rows(); ++r) {
      const auto row = to->row(r).first(f_.dim);
      if (rank_ > 0) std::ranges::copy(from->row(r), row.begin());
      std::ranges::fill(row.subspan(rank_), 0.0f);
    }
  }
}

void CompletionModel::compact() {
  f_.user = cut(f_.user, f_.dim, rank_);
  f_.item = cut(f_.item, f_.dim, rank_);
  f_.dim = rank_;
}

void CompletionModel::set_fold_in(double noise) {
  const auto penalty = [&](const Matrix& m) {
    double squares = 0;
    for (size_t r = 0; r < m.rows(); ++r) {
      for (size_t k = 0; k < rank_; ++k) squares += double{m.row(r)[k]} * m.row(r)[k];
    }
    const double variance = squares / std::max(1.0, static_cast<double>(m.rows() * rank_));
    return std::min(noise / std::max(variance, 1e-30), kMostPenalty);
  };
  user_penalty_ = penalty(f_.user);
  item_penalty_ = penalty(f_.item);
}

RowProblem CompletionModel::row_problem(Axis axis, const Folding&) const {
  RowProblem out{};
  out.biases = biases();
  out.penalty = axis == Axis::kUser ? user_penalty_ : item_penalty_;
  out.bias_penalty = axis == Axis::kUser ? user_bias_penalty_ : item_bias_penalty_;
  return out;
}

void CompletionModel::visit(Parts& parts) {
  RatingsModel::visit(parts);
  parts.number("completion.rank", rank_, Use::kLearned);
  parts.check(rank_ <= f_.dim, "the rank is larger than the vectors are long");
  for (const auto& [key, value] :
       {std::pair{"completion.user_penalty", &user_penalty_},
        std::pair{"completion.item_penalty", &item_penalty_},
        std::pair{"completion.user_bias_penalty", &user_bias_penalty_},
        std::pair{"completion.item_bias_penalty", &item_bias_penalty_}}) {
    parts.number(key, *value);
    parts.check(std::isfinite(*value) && *value >= 0, "a penalty is not a number of 0 or more");
  }
}

std::vector<Fact> CompletionModel::info() const {
  std::vector<Fact> out = RatingsModel::info();
  out.push_back({"rank", fmt::format("{}", rank_), true});
  return out;
}

}  // namespace kith
