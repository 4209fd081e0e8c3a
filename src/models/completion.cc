// SPDX-License-Identifier: Apache-2.0
#include "models/completion.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "train/biases.h"

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
  throw Error(ErrorKind::kUsage,
              "{} completes ratings, and these are interactions without ratings; train als, or nmf "
              "with --unobserved zero, on them",
              model);
}

void CompletionModel::begin(const Ratings& ratings, size_t dim) {
  start(ratings, dim);
  rank_ = best_rank_ = 0;
  converged_ = false;
  if (!biases()) return;
  const Biases fitted = fit_biases(ratings.train());
  mean_ = fitted.mean;
  user_bias_penalty_ = fitted.user_penalty;
  item_bias_penalty_ = fitted.item_penalty;
  for (size_t u = 0; u < user_.rows(); ++u) user_.row(u)[dim] = fitted.user[u];
  for (size_t i = 0; i < item_.rows(); ++i) item_.row(i)[dim + 1] = fitted.item[i];
}

void CompletionModel::put(const Factors& factors) {
  rank_ = factors.p.cols();
  for (const auto& [from, to] : {std::pair{&factors.p, &user_}, std::pair{&factors.q, &item_}}) {
    for (size_t r = 0; r < to->rows(); ++r) {
      const auto row = to->row(r).first(dim());
      if (rank_ > 0) std::ranges::copy(from->row(r), row.begin());
      std::ranges::fill(row.subspan(rank_), 0.0f);
    }
  }
}

void CompletionModel::compact() {
  user_ = cut(user_, dim_, rank_);
  item_ = cut(item_, dim_, rank_);
  dim_ = rank_;
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
  user_penalty_ = penalty(user_);
  item_penalty_ = penalty(item_);
}

RowProblem CompletionModel::row_problem(Axis axis, size_t) const {
  RowProblem out{};
  out.biases = biases();
  out.penalty = axis == Axis::kUser ? user_penalty_ : item_penalty_;
  out.bias_penalty = axis == Axis::kUser ? user_bias_penalty_ : item_bias_penalty_;
  return out;
}

void CompletionModel::pack(ArchiveWriter& out, bool checkpoint) const {
  RatingsModel::pack(out, checkpoint);
  const auto put = [&](const char* key, auto value) {
    out.metadata[key] = fmt::format("{}", value);
  };
  put("completion.rank", rank_);
  put("completion.user_penalty", user_penalty_);
  put("completion.item_penalty", item_penalty_);
  put("completion.user_bias_penalty", user_bias_penalty_);
  put("completion.item_bias_penalty", item_bias_penalty_);
  if (!checkpoint) return;
  put("completion.best_rank", best_rank_);
  if (converged_) put("completion.converged", 1);
}

void CompletionModel::read(const Archive& in) {
  load(in);
  const auto check = [&](bool good, std::string_view what) {
    if (!good) throw Error(ErrorKind::kInput, "{}: {}; the file is damaged", in.where(), what);
  };
  rank_ = in.number_at<uint64_t>("completion.rank");
  check(rank_ <= dim(), "the rank is larger than the vectors are long");
  for (const auto& [key, to] : {std::pair{"completion.user_penalty", &user_penalty_},
                                std::pair{"completion.item_penalty", &item_penalty_},
                                std::pair{"completion.user_bias_penalty", &user_bias_penalty_},
                                std::pair{"completion.item_bias_penalty", &item_bias_penalty_}}) {
    *to = in.number_at<double>(key);
    check(std::isfinite(*to) && *to >= 0, "a penalty is not a number of 0 or more");
  }
  converged_ = in.metadata().contains("completion.converged");
  if (!in.metadata().contains("completion.best_rank")) return;
  best_rank_ = in.number_at<uint64_t>("completion.best_rank");
  check(best_rank_ <= dim(), "the best epoch's rank is larger than the vectors are long");
}

std::vector<Fact> CompletionModel::info() const {
  std::vector<Fact> out = RatingsModel::info();
  out.push_back({"rank", fmt::format("{}", rank_)});
  return out;
}

void CompletionModel::keep_best() {
  RatingsModel::keep_best();
  best_rank_ = rank_;
}

bool CompletionModel::take_best() {
  if (!RatingsModel::take_best()) return false;
  rank_ = best_rank_;
  return true;
}

std::pair<uint64_t, uint64_t> CompletionRun::progress() const {
  const uint64_t n = ratings_.train().size();
  return {m_.state_.block * n / m_.blocks(), epochs_ * n};
}

}  // namespace kith
