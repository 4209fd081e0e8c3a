// SPDX-License-Identifier: Apache-2.0
// Three ways to the least nuclear norm. A* is what mean and biases leave of the ratings, P(.) keeps
// the observed entries, shrink_t takes t from every singular value.
//
//   impute   Z = P(A*) + P_rest(M) = P(A* - M) + M,  M <- shrink_lambda(Z)
//            (Mazumder, Hastie, Tibshirani 2010)
//   als      q <- (P(A* - p q^T)^T p + q D^2) (D^2 + lambda)^-1 with D^2 = p^T p, and so for p: the
//            ridge regression of Z on p (Hastie, Mazumder, Lee, Zadeh 2015)
//   shrink   M <- shrink_tau(Y),  Y <- Y + eta P(A* - M),  from Y = 0 (Cai, Candes, Shen 2010)
//
// All are products of a sparse matrix, plus one of low rank, with a skinny block.
#include "models/softimpute/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "train/linear_operator.h"

namespace kith::softimpute {
namespace {

constexpr size_t kMore = 8;             // singular values looked for beyond those there were
constexpr uint64_t kSweepsBetween = 4;  // als: every so many iterations new directions are sought
constexpr uint64_t kDense = 1024;       // entries up to which a whole decomposition is cheap

// All singular triplets above `threshold`, at most `most`, from a start of `known` columns.
Svd above(const LinearOperator& a, double threshold, size_t most, SvdOptions options,
          const Context& context) {
  if (a.rows() * a.cols() <= kDense) {
    Matrix identity(a.cols(), a.cols());
    for (size_t i = 0; i < a.cols(); ++i) identity.row(i)[i] = 1;
    return truncated(dense_svd(a.multiply(identity, context)), most);
  }
  most = std::min({most, a.rows(), a.cols()});
  options.oversample = 5;
  options.power = options.start_cols > 0 ? 1 : 4;
  options.rank = std::min(most, options.start_cols + kMore);
  for (;;) {
    Svd out = randomised_svd(a, options, context);
    const bool all = out.rank() < options.rank || out.sigma.back() <= threshold;
    if (all || options.rank == most) return out;
    options.rank = std::min(most, 2 * options.rank);
  }
}

Matrix first_columns(const Matrix& m, size_t cols) {
  Matrix out(m.rows(), cols);
  for (size_t r = 0; r < m.rows(); ++r) {
    std::copy_n(m.row(r).begin(), cols, out.row(r).begin());
  }
  return out;
}

// (y + own D^2) (D^2 + lambda)^-1 in place of y, with D^2 the squares of the columns of `other`,
// which are orthogonal.
void ridge(const Matrix& own, const Matrix& other, double lambda, Matrix& y) {
  std::vector<double> squares(other.cols(), 0.0);
  for (size_t r = 0; r < other.rows(); ++r) {
    for (size_t k = 0; k < other.cols(); ++k) {
      squares[k] += double{other.row(r)[k]} * other.row(r)[k];
    }
  }
  for (size_t r = 0; r < y.rows(); ++r) {
    for (size_t k = 0; k < y.cols(); ++k) {
      y.row(r)[k] =
          static_cast<float>((y.row(r)[k] + own.row(r)[k] * squares[k]) / (squares[k] + lambda));
    }
  }
}

}  // namespace

SoftTrainer::SoftTrainer(SoftImpute& model, const Ratings& ratings, Job& job)
    : RatingsTrainer(model, ratings, job),
      m_(model),
      residual_(ratings.train()),
      error_(residual_.update(m_.f_.user, m_.f_.item, m_.f_.mean, job)) {
  if (m_.shrinks()) start_dual();
}

uint64_t SoftTrainer::segment() const {
  return m_.settled_ ? std::numeric_limits<uint64_t>::max() : 1;
}

// If it is cancelled on the way, the rows are what they were.
Trainer::Learned SoftTrainer::learn(const Blocks& blocks, const Rate&, LossSum& sum) {
  const FactorPair from{m_.f_.user.copy(), m_.f_.item.copy()};
  const uint64_t rank = m_.rank_;
  const auto settled = std::pair(m_.settled_, m_.objective_);
  try {
    const Learned out = step(blocks);
    sum.add(error_, residual_.size());
    return out;
  } catch (...) {
    m_.f_.user = from.p.copy();
    m_.f_.item = from.q.copy();
    m_.rank_ = rank;
    std::tie(m_.settled_, m_.objective_) = settled;
    throw;
  }
}

Trainer::Learned SoftTrainer::step(const Blocks& blocks) {
  if (m_.shrinks()) {
    shrink_step(blocks.epoch);
    const double tolerance = m_.config_.tolerance;
    return {1, error_ <= tolerance * tolerance * m_.square_};
  }
  const double lambda = m_.penalty_of(blocks.epoch);
  if (blocks.first == 0) {
    m_.settled_ = false;
    m_.objective_ = std::numeric_limits<double>::max();
    m_.penalty_ = lambda;
  }
  if (!m_.settled_) iterate(lambda, blocks.first);
  const bool closes = blocks.first + blocks.count == static_cast<uint64_t>(m_.config_.iterations);
  if (closes) m_.settled_ = false;
  return {blocks.count, closes && lambda <= m_.last_};
}

void SoftTrainer::iterate(double lambda, uint64_t iteration) {
  const size_t rank = m_.rank_;
  if (m_.sweeps_ && iteration % kSweepsBetween != 0) {
    sweep(lambda);
  } else {
    const SparsePlusLowRank z(residual_.by_user(), residual_.by_item(), 1,
                              {&m_.f_.user, &m_.f_.item, rank});
    take(above(z, lambda, m_.f_.dim,
               {.rank = 0,
                .seed = job_.seed + m_.state().block,
                .start = &m_.f_.item,
                .start_cols = rank},
               job_),
         lambda);
  }
  double norms = 0;  // |p|^2 + |q|^2 = 2 |M|_*
  for (const Matrix* m : {&m_.f_.user, &m_.f_.item}) {
    for (size_t r = 0; r < m->rows(); ++r) {
      for (size_t k = 0; k < m_.rank_; ++k) norms += double{m->row(r)[k]} * m->row(r)[k];
    }
  }
  const double objective = error_ / 2 + lambda * norms / 2;
  m_.settled_ =
      std::abs(m_.objective_ - objective) <= m_.config_.tolerance * objective && m_.rank_ <= rank;
  m_.objective_ = objective;
}

void SoftTrainer::take(const Svd& m, double lambda) {
  m_.put(balanced(shrink(m, lambda)));
  error_ = residual_.update(m_.f_.user, m_.f_.item, m_.f_.mean, job_);
}

void SoftTrainer::sweep(double lambda) {
  if (m_.rank_ == 0) return;
  for (const bool users : {false, true}) {
    const SparsePlusLowRank left(residual_.by_user(), residual_.by_item());
    FactorPair f{first_columns(m_.f_.user, m_.rank_), first_columns(m_.f_.item, m_.rank_)};
    Matrix y = users ? left.multiply(f.q, job_) : left.multiply_transposed(f.p, job_);
    ridge(users ? f.p : f.q, users ? f.q : f.p, lambda, y);
    (users ? f.p : f.q) = std::move(y);
    m_.put(balanced(svd_of_product(f.p, f.q, job_)));
    error_ = residual_.update(m_.f_.user, m_.f_.item, m_.f_.mean, job_);
  }
}

// Y begins at eta P(A*) as many times as M stays zero: steps that need no decomposition.
void SoftTrainer::start_dual() {
  dual_ = residual_.by_user();
  if (m_.dual_.size() == dual_.size() && m_.state().block > 0) {
    dual_.value = m_.dual_;
  } else {
    const double steps = std::ceil(m_.penalty_ / (m_.step_ * std::max(m_.top_, 1e-30)));
    for (float& y : dual_.value) y = static_cast<float>(y * m_.step_ * std::min(steps, 1e9));
  }
  dual_by_item_ = transposed(dual_);
}

void SoftTrainer::shrink_step(uint64_t step) {
  const SparsePlusLowRank y(dual_, dual_by_item_);
  take(above(y, m_.penalty_, m_.f_.dim,
             {.rank = 0, .seed = job_.seed + step, .start = &m_.f_.item, .start_cols = m_.rank_},
             job_),
       m_.penalty_);
  const double eta = m_.step_ * m_.state().lr_scale;
  const auto move = [&](Sparse& to, const Sparse& left) {
    for (size_t i = 0; i < to.value.size(); ++i) {
      to.value[i] = static_cast<float>(to.value[i] + eta * left.value[i]);
    }
  };
  move(dual_, residual_.by_user());
  move(dual_by_item_, residual_.by_item());
  m_.dual_ = dual_.value;
}

}  // namespace kith::softimpute
