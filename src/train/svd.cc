// SPDX-License-Identifier: Apache-2.0
// Large matrices are floats and are multiplied by our own kernels; what is small (as wide as a
// block) is decomposed by Eigen in double.
#include "train/svd.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "core/rng.h"

namespace kith {
namespace {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Directions shorter than this share of the longest are rounding of single precision.
constexpr double kNothing = 2e-7;

Dense dense_of(const Small& a) {
  return Eigen::Map<const Dense>(a.values.data(), static_cast<Eigen::Index>(a.rows),
                                 static_cast<Eigen::Index>(a.cols));
}

Small small_of(const Dense& a) {
  Small out(static_cast<size_t>(a.rows()), static_cast<size_t>(a.cols()));
  Eigen::Map<Dense>(out.values.data(), a.rows(), a.cols()) = a;
  return out;
}

// y = q r with orthonormal columns of q.
struct Qr {
  Matrix q;
  Dense r;
  double condition;  // about: the length that the shortest direction of y has left, 1 at best
};

// With d the lengths of the columns of y and G = y^T y / (d d^T) = L L^T, the columns of y d^-1
// L^-T are orthonormal: quick, and right as long as no column is nearly a sum of the others.
std::optional<Qr> by_cholesky(const Matrix& y, const Dense& gram, const Context& context) {
  const Eigen::VectorXd d = gram.diagonal().cwiseSqrt();
  if (!(d.minCoeff() > kNothing * d.maxCoeff())) return std::nullopt;
  const Eigen::VectorXd over = d.cwiseInverse();
  const Eigen::LLT<Dense> factor(over.asDiagonal() * gram * over.asDiagonal());
  if (factor.info() != Eigen::Success) return std::nullopt;
  const Dense l = factor.matrixL();
  const double pivot = l.diagonal().minCoeff();  // length of what is new in a column, of 1
  if (!(pivot > 1e-4)) return std::nullopt;
  Dense map = over.asDiagonal();
  factor.matrixU().solveInPlace<Eigen::OnTheRight>(map);
  return Qr{times(y, small_of(map), context), l.transpose() * d.asDiagonal(), pivot};
}

// With y^T y = E D E^T the columns of y E D^(-1/2) are: for any y, since directions that are
// nothing can be left out.
Qr by_eigenvectors(const Matrix& y, const Dense& gram, const Context& context) {
  const Eigen::SelfAdjointEigenSolver<Dense> eigen(gram);
  const Eigen::VectorXd& d = eigen.eigenvalues();  // rising
  const Eigen::Index l = d.size();
  Eigen::Index kept = 0;
  while (kept < l && d(l - 1 - kept) > kNothing * kNothing * d(l - 1)) ++kept;
  if (kept == 0) return {Matrix(y.rows(), 0), Dense(0, l), 0};
  const Dense e = eigen.eigenvectors().rightCols(kept);
  const Eigen::VectorXd root = d.tail(kept).cwiseSqrt();
  const Dense map = e * root.cwiseInverse().asDiagonal();
  return {times(y, small_of(map), context), root.asDiagonal() * e.transpose(), 0};
}

Qr one_pass(const Matrix& y, const Context& context) {
  const Dense gram = dense_of(transpose_times(y, y, context));
  if (gram.size() == 0) return {Matrix(y.rows(), 0), Dense(0, 0), 0};
  if (std::optional<Qr> quick = by_cholesky(y, gram, context)) return std::move(*quick);
  return by_eigenvectors(y, gram, context);
}

// Columns of y that are nearly dependent leave rounding behind; a second pass, which starts from
// columns that are nearly orthonormal, takes it away.
Qr qr(const Matrix& y, const Context& context) {
  Qr first = one_pass(y, context);
  if (first.q.cols() == 0 || first.condition > 0.3) return first;
  Qr second = one_pass(first.q, context);
  second.r = second.r * first.r;
  return second;
}

void fix_signs(Svd& a) {
  std::vector<double> largest(a.rank(), 0.0);
  for (size_t r = 0; r < a.u.rows(); ++r) {
    for (size_t j = 0; j < a.rank(); ++j) {
      const double x = a.u.row(r)[j];
      if (std::abs(x) > std::abs(largest[j])) largest[j] = x;
    }
  }
  for (Matrix* m : {&a.u, &a.v}) {
    for (size_t r = 0; r < m->rows(); ++r) {
      for (size_t j = 0; j < a.rank(); ++j) {
        if (largest[j] < 0) m->row(r)[j] = -m->row(r)[j];
      }
    }
  }
}

// How many of the singular values (falling) are more than rounding, at most `most`.
size_t rank_of(const Eigen::VectorXd& sigma, size_t most) {
  size_t k = 0;
  while (k < most && k < static_cast<size_t>(sigma.size()) &&
         sigma(static_cast<Eigen::Index>(k)) > kNothing * sigma(0)) {
    ++k;
  }
  return k;
}

// The first triplets of a small matrix, by the eigenvectors of A A^T where that is exact enough:
// several times as quick as a decomposition of A, but singular values far below the first drown.
struct SmallSvd {
  Dense u, v;
  Eigen::VectorXd sigma;
};
SmallSvd small_svd(const Dense& a, size_t most) {
  const Eigen::SelfAdjointEigenSolver<Dense> eigen(a * a.transpose());
  const Eigen::Index k = std::min(static_cast<Eigen::Index>(most), a.rows());
  SmallSvd out;
  out.sigma = eigen.eigenvalues().tail(k).reverse().cwiseMax(0).cwiseSqrt();
  if (k > 0 && k <= a.cols() && out.sigma(k - 1) > 1e-3 * out.sigma(0)) {
    out.u = eigen.eigenvectors().rightCols(k).rowwise().reverse();
    out.v = a.transpose() * out.u * out.sigma.cwiseInverse().asDiagonal();
    return out;
  }
  const Eigen::BDCSVD<Dense> svd(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.matrixU(), svd.matrixV(), svd.singularValues()};
}

// left middle right^T, with orthonormal columns of left and right: the SVD of the small one,
// turned.
Svd turned(const Matrix& left, const Dense& middle, const Matrix& right, size_t most,
           const Context& context) {
  Svd out;
  if (middle.size() == 0) return out;
  const SmallSvd svd = small_svd(middle, most);
  const size_t k = rank_of(svd.sigma, most);
  const auto cols = static_cast<Eigen::Index>(k);
  out.u = times(left, small_of(svd.u.leftCols(cols)), context);
  out.v = times(right, small_of(svd.v.leftCols(cols)), context);
  out.sigma.assign(svd.sigma.data(), svd.sigma.data() + k);
  fix_signs(out);
  return out;
}

Matrix first_block(size_t rows, size_t cols, const SvdOptions& options) {
  Matrix out(rows, cols);
  const size_t given = options.start ? std::min(cols, options.start_cols) : 0;
  for (size_t r = 0; r < rows; ++r) {
    Rng rng(options.seed, r);
    if (given > 0) std::copy_n(options.start->row(r).begin(), given, out.row(r).begin());
    for (size_t j = given; j < cols; ++j) out.row(r)[j] = 2 * rng.uniform() - 1;
  }
  return out;
}

// Start vectors may be much shorter or longer than random ones; orthonormal blocks must not drop
// either, so each column gets length 1 first.
void normalise_columns(Matrix& m) {
  std::vector<double> squares(m.cols(), 0.0);
  for (size_t r = 0; r < m.rows(); ++r) {
    for (size_t j = 0; j < m.cols(); ++j) squares[j] += double{m.row(r)[j]} * m.row(r)[j];
  }
  for (size_t r = 0; r < m.rows(); ++r) {
    for (size_t j = 0; j < m.cols(); ++j) {
      if (squares[j] > 0) m.row(r)[j] = static_cast<float>(m.row(r)[j] / std::sqrt(squares[j]));
    }
  }
}

}  // namespace

Svd dense_svd(const Matrix& a) {
  Svd out;
  if (a.rows() == 0 || a.cols() == 0) return out;
  Dense m(static_cast<Eigen::Index>(a.rows()), static_cast<Eigen::Index>(a.cols()));
  for (size_t r = 0; r < a.rows(); ++r) {
    for (size_t c = 0; c < a.cols(); ++c) {
      m(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) = a.row(r)[c];
    }
  }
  const Eigen::BDCSVD<Dense> svd(m, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const size_t k = rank_of(svd.singularValues(), std::min(a.rows(), a.cols()));
  out.sigma.assign(svd.singularValues().data(), svd.singularValues().data() + k);
  out.u = Matrix(a.rows(), k);
  out.v = Matrix(a.cols(), k);
  for (size_t j = 0; j < k; ++j) {
    const auto col = static_cast<Eigen::Index>(j);
    for (size_t r = 0; r < a.rows(); ++r) {
      out.u.row(r)[j] = static_cast<float>(svd.matrixU()(static_cast<Eigen::Index>(r), col));
    }
    for (size_t c = 0; c < a.cols(); ++c) {
      out.v.row(c)[j] = static_cast<float>(svd.matrixV()(static_cast<Eigen::Index>(c), col));
    }
  }
  fix_signs(out);
  return out;
}

Svd randomised_svd(const LinearOperator& a, const SvdOptions& options, const Context& context) {
  const size_t most = std::min(a.rows(), a.cols());
  const size_t width = std::min(most, options.rank + options.oversample);
  if (width == 0 || options.rank == 0) return {};
  Matrix block = first_block(a.cols(), width, options);
  normalise_columns(block);
  // One pass is enough on the way: it keeps the columns apart. The last one is exact.
  Matrix image = a.multiply(block, context);
  for (int i = 0; i < options.power && image.cols() > 0; ++i) {
    image = one_pass(image, context).q;
    block = one_pass(a.multiply_transposed(image, context), context).q;
    image = a.multiply(block, context);
  }
  image = qr(image, context).q;
  if (image.cols() == 0) return {};
  // Within the block A = image (A^T image)^T; and A^T image = q r.
  const Qr last = qr(a.multiply_transposed(image, context), context);
  return turned(image, last.r.transpose(), last.q, options.rank, context);
}

Svd power_method(const LinearOperator& a, const PowerOptions& options, const Context& context) {
  const size_t most = std::min({options.rank, a.rows(), a.cols()});
  Svd out;
  out.u = Matrix(a.rows(), most);
  out.v = Matrix(a.cols(), most);
  // A less what was found: A x - sum sigma_i u_i (v_i . x).
  const auto length_of = [](const Matrix& m) {
    double sum = 0;
    for (size_t r = 0; r < m.rows(); ++r) sum += double{m.row(r)[0]} * m.row(r)[0];
    return std::sqrt(sum);
  };
  const auto deflated = [&](Matrix y, const Matrix& x, const Matrix& outer, const Matrix& inner) {
    for (size_t i = 0; i < out.rank(); ++i) {
      double dot = 0;
      for (size_t r = 0; r < x.rows(); ++r) dot += double{inner.row(r)[i]} * x.row(r)[0];
      const double c = out.sigma[i] * dot;
      for (size_t r = 0; r < y.rows(); ++r) {
        y.row(r)[0] = static_cast<float>(y.row(r)[0] - c * outer.row(r)[i]);
      }
    }
    return y;
  };
  for (size_t k = 0; k < most; ++k) {
    Matrix v = first_block(a.cols(), 1, {.rank = 1, .seed = options.seed + k}), u;
    normalise_columns(v);
    double sigma = 0;
    for (int i = 0; i < options.iterations; ++i) {
      u = deflated(a.multiply(v, context), v, out.u, out.v);
      normalise_columns(u);
      Matrix next = deflated(a.multiply_transposed(u, context), u, out.v, out.u);
      sigma = length_of(next);
      normalise_columns(next);
      double moved = 0;
      for (size_t r = 0; r < v.rows(); ++r) {
        moved += std::pow(double{next.row(r)[0]} - v.row(r)[0], 2);
      }
      v = std::move(next);
      if (std::sqrt(moved) < options.tolerance) break;
    }
    if (sigma <= kNothing * (out.sigma.empty() ? 0 : out.sigma[0])) break;
    for (size_t r = 0; r < u.rows(); ++r) out.u.row(r)[k] = u.row(r)[0];
    for (size_t r = 0; r < v.rows(); ++r) out.v.row(r)[k] = v.row(r)[0];
    out.sigma.push_back(sigma);
  }
  out = truncated(out, out.rank());
  fix_signs(out);
  return out;
}

Matrix orthonormal(const Matrix& y, const Context& context) { return qr(y, context).q; }

Svd svd_of_product(const Matrix& p, const Matrix& q, const Context& context) {
  if (p.cols() == 0) return {};
  const Qr left = qr(p, context), right = qr(q, context);
  if (left.q.cols() == 0 || right.q.cols() == 0) return {};
  return turned(left.q, left.r * right.r.transpose(), right.q, p.cols(), context);
}

Svd truncated(const Svd& a, size_t k) {
  Svd out;
  k = std::min(k, a.rank());
  out.sigma.assign(a.sigma.begin(), a.sigma.begin() + static_cast<std::ptrdiff_t>(k));
  for (const auto& [from, to] : {std::pair{&a.u, &out.u}, std::pair{&a.v, &out.v}}) {
    *to = Matrix(from->rows(), k);
    for (size_t r = 0; r < from->rows(); ++r) {
      std::copy_n(from->row(r).begin(), k, to->row(r).begin());
    }
  }
  return out;
}

Svd shrink(const Svd& a, double tau) {
  size_t k = 0;
  while (k < a.rank() && a.sigma[k] > tau) ++k;
  Svd out = truncated(a, k);
  for (double& s : out.sigma) s -= tau;
  return out;
}

FactorPair balanced(const Svd& a) {
  FactorPair out{a.u.copy(), a.v.copy()};
  for (Matrix* m : {&out.p, &out.q}) {
    for (size_t r = 0; r < m->rows(); ++r) {
      for (size_t j = 0; j < a.rank(); ++j) {
        m->row(r)[j] = static_cast<float>(m->row(r)[j] * std::sqrt(a.sigma[j]));
      }
    }
  }
  return out;
}

}  // namespace kith
