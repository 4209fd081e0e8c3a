// SPDX-License-Identifier: Apache-2.0
#include "train/ridge_solve.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "train/products.h"

namespace kith {
namespace {

constexpr double kNothing = 1e-12;  // of the squares that the right side has

// For each column the sum over rows of a b w, in double and in a fixed order.
std::vector<double> column_dots(const Matrix& a, const Matrix& b, std::span<const float> w) {
  std::vector<double> out(a.cols(), 0.0);
  for (size_t r = 0; r < a.rows(); ++r) {
    const auto x = a.row(r), y = b.row(r);
    const double weight = w.empty() ? 1 : w[r];
    for (size_t k = 0; k < out.size(); ++k) out[k] += weight * x[k] * y[k];
  }
  return out;
}

// to += by[k] from, column by column.
void add(Matrix& to, const Matrix& from, const std::vector<double>& by, double sign) {
  for (size_t r = 0; r < to.rows(); ++r) {
    const auto x = to.row(r);
    const auto y = from.row(r);
    for (size_t k = 0; k < by.size(); ++k) x[k] += static_cast<float>(sign * by[k]) * y[k];
  }
}

Matrix apply(const LinearOperator& a, std::span<const float> penalty, const Matrix& x,
             const Context& context) {
  Matrix out = a.multiply_transposed(a.multiply(x, context), context);
  for (size_t r = 0; r < out.rows(); ++r) {
    for (size_t k = 0; k < out.cols(); ++k) out.row(r)[k] += penalty[r] * x.row(r)[k];
  }
  return out;
}

std::vector<double> quotient(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size(), 0.0);
  for (size_t k = 0; k < a.size(); ++k) {
    if (b[k] > 0) out[k] = a[k] / b[k];
  }
  return out;
}

}  // namespace

// With z = W r, W the inverse of the diagonal of the system:
//   x += alpha p, r -= alpha q,  q = (A^T A + penalty) p,  alpha = r.z / p.q
//   p  = z + beta p,                                       beta  = r'.z' / r.z
void solve_ridge(const LinearOperator& a, std::span<const float> diagonal,
                 std::span<const float> penalty, const Matrix& right, int steps,
                 const Context& context, Matrix& x) {
  std::vector<float> inverse(right.rows());
  for (size_t r = 0; r < inverse.size(); ++r) inverse[r] = 1 / (diagonal[r] + penalty[r]);
  const std::vector<double> ones(right.cols(), 1.0);
  Matrix left = right.copy();
  add(left, apply(a, penalty, x, context), ones, -1);
  std::vector<double> rz = column_dots(left, left, inverse);
  const std::vector<double> start = column_dots(right, right, inverse);
  Matrix p(right.rows(), right.cols());
  std::vector<double> beta(right.cols(), 0.0);
  for (int step = 0; step < steps; ++step) {
    bool any = false;
    for (size_t k = 0; k < rz.size(); ++k) any = any || rz[k] > kNothing * start[k];
    if (!any) return;
    for (size_t r = 0; r < p.rows(); ++r) {
      for (size_t k = 0; k < beta.size(); ++k) {
        p.row(r)[k] = inverse[r] * left.row(r)[k] + static_cast<float>(beta[k]) * p.row(r)[k];
      }
    }
    const Matrix q = apply(a, penalty, p, context);
    const std::vector<double> alpha = quotient(rz, column_dots(p, q, {}));
    add(x, p, alpha, 1);
    add(left, q, alpha, -1);
    std::vector<double> next = column_dots(left, left, inverse);
    beta = quotient(next, rz);
    rz = std::move(next);
  }
}

}  // namespace kith
