// SPDX-License-Identifier: Apache-2.0
// Three ways to the factors U, V that minimise
//
//   |P - U V^T|^2 + lambda (|U|^2 + |V|^2)
//
// By the theorem of Eckart and Young, and its kin for lambda > 0, all of them lead to the first
// singular triplets of P with every singular value less lambda:
//
//   svd       Q = orthonormal(P^T Y),  Y = P Q: block power iteration; P is about Y Q^T
//   als       U = P V (V^T V + lambda)^-1, then the same for V; with --observed w != 1 each row has
//             its own weighted problem
//   gradient  U -= eta (U V^T V - P V + lambda U), then the same for V: half the gradient. Steps of
//             1 / (|V^T V|_2 + lambda) never raise the loss.
//
// An epoch is one such pass over P and one over its transpose.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "models/pmi/matrix.h"
#include "models/pmi/model.h"
#include "train/linear_operator.h"
#include "train/products.h"
#include "train/ridge_row.h"
#include "train/svd.h"

namespace kith::pmi {
namespace {

constexpr double kFarTooMuch = 10;  // times the loss of nothing

double square_of(const Matrix& m) {
  double out = 0;
  for (size_t r = 0; r < m.rows(); ++r) {
    for (const float x : m.row(r)) out += double{x} * x;
  }
  return out;
}

double inner(const Matrix& a, const Matrix& b) {
  double out = 0;
  for (size_t r = 0; r < a.rows(); ++r) {
    for (size_t k = 0; k < a.cols(); ++k) out += double{a.row(r)[k]} * b.row(r)[k];
  }
  return out;
}

double inner(const Small& a, const Small& b) {
  double out = 0;
  for (size_t k = 0; k < a.values.size(); ++k) out += a.values[k] * b.values[k];
  return out;
}

// The largest eigenvalue of a symmetric matrix that has none below 0, or a little more.
double largest_eigenvalue(const Small& a) {
  constexpr int kSteps = 100;
  std::vector<double> x(a.rows, 1.0), y(a.rows);
  double out = 0;
  for (int s = 0; s < kSteps; ++s) {
    double length = 0;
    for (size_t i = 0; i < a.rows; ++i) {
      y[i] = 0;
      for (size_t j = 0; j < a.cols; ++j) y[i] += a.at(i, j) * x[j];
      length += y[i] * y[i];
    }
    out = std::sqrt(length);
    if (out == 0) return 0;
    for (size_t i = 0; i < a.rows; ++i) x[i] = y[i] / out;
  }
  return 1.01 * out;
}

// Of a symmetric matrix that has none below 0, falling.
std::vector<double> eigenvalues(const Small& a) {
  Matrix dense(a.rows, a.cols);
  for (size_t i = 0; i < a.rows; ++i) {
    for (size_t j = 0; j < a.cols; ++j) dense.row(i)[j] = static_cast<float>(a.at(i, j));
  }
  return dense_svd(dense).sigma;
}

// The lower factor of a + penalty; what is singular is made regular by a little more.
std::vector<double> factor_of(const Small& a, double penalty) {
  double trace = 0;
  for (size_t i = 0; i < a.rows; ++i) trace += a.at(i, i);
  if (!std::isfinite(trace)) throw fault(ErrorKind::kDiverged, "a factor is not finite");
  for (double more = 0;; more = more == 0 ? 1e-12 * trace + 1e-30 : 10 * more) {
    std::vector<double> out = a.values;
    for (size_t i = 0; i < a.rows; ++i) out[i * a.cols + i] += penalty + more;
    if (cholesky(out, a.rows)) return out;
  }
}

// (a + penalty)^-1
Small inverse(const Small& a, double penalty) {
  const std::vector<double> l = factor_of(a, penalty);
  Small out(a.rows, a.rows);
  std::vector<double> x(a.rows);
  for (size_t j = 0; j < a.rows; ++j) {
    std::ranges::fill(x, 0.0);
    x[j] = 1;
    solve_lower(l, a.rows, x);
    solve_upper(l, a.rows, x);
    for (size_t i = 0; i < a.rows; ++i) out.at(i, j) = x[i];
  }
  return out;
}

// Orthonormal columns that span those of y, filled up with zeros if they are fewer.
Matrix basis_of(const Matrix& y, const Context& context) {
  const Matrix q = orthonormal(y, context);
  Matrix out(y.rows(), y.cols());
  for (size_t r = 0; r < q.rows(); ++r) std::ranges::copy(q.row(r), out.row(r).begin());
  return out;
}

}  // namespace

class PmiTrainer final : public Trainer {
 public:
  PmiTrainer(Pmi& model, const Counts& counts, Job& job)
      : m_(model),
        job_(job),
        p_(pmi_of(counts.cells(), {m_.config_.positive, m_.config_.shift, m_.config_.smoothing})),
        transposed_(transposed(p_)),
        cells_(counts.size()) {
    for (const float v : p_.value) square_ += double{v} * v;
  }

  uint64_t blocks() const override { return 1; }

  // One epoch, or none if it is cancelled on the way.
  Learned learn(const Blocks& blocks, const Rate&, LossSum& sum) override {
    Matrix u = m_.input_.copy(), v = m_.output_.copy();
    const double loss = m_.config_.solver == Solver::kSvd   ? iterate(u, v, blocks.epoch == 0)
                        : m_.config_.solver == Solver::kAls ? solve(u, v)
                                                            : descend(u, v);
    const double left = square_ > 0 ? loss / square_ : 0;  // of 1, where nothing is learned
    if (!(left < kFarTooMuch)) {
      throw fault(ErrorKind::kDiverged, "training diverged: the loss is {:.3g}{}", left,
                  m_.config_.lr ? "; leave --lr out, or make it smaller" : "");
    }
    m_.input_ = std::move(u);
    m_.output_ = std::move(v);
    sum.add(left, 1);
    return {1};
  }

  std::optional<double> held_out_loss() override { return std::nullopt; }

  std::pair<uint64_t, uint64_t> progress(const RunState& state) const override {
    return {state.block * cells_, static_cast<uint64_t>(m_.epochs()) * cells_};
  }

 private:
  Matrix times_p(const Matrix& x) const {
    return SparsePlusLowRank(p_, transposed_).multiply(x, job_);
  }
  Matrix times_transposed(const Matrix& x) const {
    return SparsePlusLowRank(p_, transposed_).multiply_transposed(x, job_);
  }

  double iterate(Matrix& y, Matrix& q, bool first) const {
    if (first) y = times_p(basis_of(q, job_));
    q = basis_of(times_transposed(y), job_);
    y = times_p(q);
    // Of Y Q^T the first `rank` triplets are kept, each less the penalty: |P - U V^T|^2 + lambda
    // (|U|^2 + |V|^2) is then |P|^2 less (sigma - lambda)^2 for each of them. Since Q^T Q = 1, the
    // squares of sigma are the eigenvalues of Y^T Y.
    const std::vector<double> squares = eigenvalues(transpose_times(y, y, job_));
    double out = square_;
    for (size_t k = 0; k < std::min(squares.size(), m_.rank(y.rows())); ++k) {
      out -= std::pow(std::max(0.0, std::sqrt(squares[k]) - m_.config_.penalty), 2);
    }
    return out;
  }

  // What is left of P, and the penalty, after a step on `moved` with `product` = P or P^T times the
  // other factor.
  double loss_of(const Matrix& moved, const Matrix& other, const Matrix& product) const {
    return square_ - 2 * inner(product, moved) +
           inner(transpose_times(moved, moved, job_), transpose_times(other, other, job_)) +
           m_.config_.penalty * (square_of(moved) + square_of(other));
  }

  double solve(Matrix& u, Matrix& v) const {
    if (m_.config_.observed == 1) {
      u = times(times_p(v), inverse(transpose_times(v, v, job_), m_.config_.penalty), job_);
      const Matrix product = times_transposed(u);
      v = times(product, inverse(transpose_times(u, u, job_), m_.config_.penalty), job_);
      return loss_of(v, u, product);
    }
    solve_rows(p_, v, u);
    solve_rows(transposed_, u, v);
    return weighted_loss(u, v);
  }

  // For each row of `of`: (V^T V + (w - 1) sum v v^T + lambda) u = w sum P v, over the cells of the
  // row.
  void solve_rows(const Sparse& of, const Matrix& others, Matrix& out) const {
    const Small gram = transpose_times(others, others, job_);
    const double w = m_.config_.observed;
    for_each_range(job_, of.rows(), of.size() / of.rows() * gram.values.size() + 1,
                   [&](size_t first, size_t last) {
                     for (size_t r = first; r < last; ++r) {
                       const Sparse::Row row = of.row(static_cast<uint32_t>(r));
                       Small a = gram;
                       std::vector<double> x(a.rows, 0.0);
                       for (size_t k = 0; k < row.size(); ++k) {
                         const auto y = others.row(row.columns[k]);
                         for (size_t i = 0; i < a.rows; ++i) {
                           x[i] += w * double{row.values[k]} * y[i];
                           const double scaled = (w - 1) * double{y[i]};
                           for (size_t j = 0; j <= i; ++j) a.at(i, j) += scaled * y[j];
                         }
                       }
                       const std::vector<double> l = factor_of(a, m_.config_.penalty);
                       solve_lower(l, a.rows, x);
                       solve_upper(l, a.rows, x);
                       std::ranges::transform(x, out.row(r).begin(),
                                              [](double d) { return static_cast<float>(d); });
                     }
                   });
  }

  // |U V^T|^2 over all cells, and over those that were counted the difference from P instead, which
  // weighs more.
  double weighted_loss(const Matrix& u, const Matrix& v) const {
    double out = inner(transpose_times(u, u, job_), transpose_times(v, v, job_)) +
                 m_.config_.penalty * (square_of(u) + square_of(v));
    for (uint32_t r = 0; r < p_.rows(); ++r) {
      const Sparse::Row row = p_.row(r);
      for (size_t k = 0; k < row.size(); ++k) {
        double score = 0;
        for (size_t i = 0; i < u.cols(); ++i) {
          score += double{u.row(r)[i]} * v.row(row.columns[k])[i];
        }
        const double error = row.values[k] - score;
        out += m_.config_.observed * error * error - score * score;
      }
    }
    return out;
  }

  double descend(Matrix& u, Matrix& v) const {
    step(u, v, times_p(v));
    const Matrix product = times_transposed(u);
    step(v, u, product);
    return loss_of(v, u, product);
  }

  // moved -= eta (moved G - product + lambda moved),  G = other^T other
  void step(Matrix& moved, const Matrix& other, const Matrix& product) const {
    const Small gram = transpose_times(other, other, job_);
    const double penalty = m_.config_.penalty;
    const double longest = largest_eigenvalue(gram) + penalty;
    const double eta = m_.config_.lr ? *m_.config_.lr : longest > 0 ? 1 / longest : 0;
    const Matrix pulled = times(moved, gram, job_);
    for (size_t r = 0; r < moved.rows(); ++r) {
      const auto x = moved.row(r);
      for (size_t k = 0; k < x.size(); ++k) {
        const double gradient =
            double{pulled.row(r)[k]} - product.row(r)[k] + penalty * double{x[k]};
        x[k] = static_cast<float>(x[k] - eta * gradient);
      }
    }
  }

  Pmi& m_;
  Job& job_;
  const Sparse p_, transposed_;
  const uint64_t cells_;  // of the counts, which P may have fewer of
  double square_ = 0;     // |P|^2
};

std::unique_ptr<Trainer> Pmi::trainer(const Counts& counts, Job& job) {
  if (counts.held_out().size() > 0) {
    throw fault(ErrorKind::kUsage, "{}; leave --holdout out", Pmi::kNeedsAll);
  }
  return std::make_unique<PmiTrainer>(*this, counts, job);
}

uint64_t Pmi::memory(const Counts& counts, const Job&) const {
  const uint64_t rows = counts.vocabulary().words.size();
  // The factors, their copies during an epoch and a product; its basis while that is made, which is
  // two tables about as large as the vectors that there are at the end.
  const uint64_t work = padded(working_cols(rows)), dim = padded(static_cast<size_t>(config_.dim));
  const uint64_t tables = (5 * work + 2 * dim) * rows * sizeof(float);
  // Sums of products of two factors, of as many shards as there are rows for; in double.
  const uint64_t shards = std::min<uint64_t>(64, 1 + rows / 64);
  const uint64_t sums = shards * working_cols(rows) * padded(working_cols(rows)) * sizeof(double);
  return tables + sums + 16 * counts.cells().size() + 16 * rows + memory_of_words(counts);
}

}  // namespace kith::pmi
