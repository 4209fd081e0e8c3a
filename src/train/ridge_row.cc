// SPDX-License-Identifier: Apache-2.0
#include "train/ridge_row.h"

#include <algorithm>
#include <cmath>

namespace kith {

bool cholesky(std::span<double> a, size_t n) {
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i > j) {
        a[i * n + j] = sum / a[j * n + j];
      } else if (sum > 0) {
        a[j * n + j] = std::sqrt(sum);
      } else {
        return false;
      }
    }
  }
  return true;
}

void solve_lower(std::span<const double> l, size_t n, std::span<double> b) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= l[i * n + k] * b[k];
    b[i] /= l[i * n + i];
  }
}

void solve_upper(std::span<const double> l, size_t n, std::span<double> b) {
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= l[k * n + i] * b[k];
    b[i] /= l[i * n + i];
  }
}

std::vector<float> solve_row(const RowProblem& p, const Matrix& others, double mean,
                             Sparse::Row ratings) {
  const size_t d = p.dim, n = d + (p.biases ? 1 : 0);
  const size_t theirs = p.own == d ? d + 1 : d;  // where the other side has its bias
  if (ratings.size() == 0) {                     // nothing speaks for anything but the mean
    std::vector<float> out = p.mean;
    out.resize(d + 2, 0.0f);
    out[theirs] = static_cast<float>(p.one);
    return out;
  }
  std::vector<double> a(n * n, 0.0), b(n, 0.0), x(n);
  for (size_t r = 0; r < ratings.size(); ++r) {
    const auto q = others.row(ratings.columns[r]);
    std::copy_n(q.begin(), d, x.begin());
    if (p.biases) x[d] = q[p.own];
    const double weight = p.unobserved > 0 ? ratings.values[r] : 1;
    const double wanted = p.unobserved > 0 ? 1 : static_cast<double>(ratings.values[r]) - mean;
    const double target = wanted - p.one * q[theirs];
    for (size_t i = 0; i < n; ++i) {
      b[i] += weight * target * x[i];
      for (size_t j = 0; j <= i; ++j) a[i * n + j] += weight * x[i] * x[j];
    }
  }
  // Whole rows have d + 2 columns; the bias that is solved for meets the others' 1, at `own`.
  const auto gram = [&](size_t i, size_t j) { return p.gram[i * (d + 2) + j]; };
  const auto column = [&](size_t i) { return i < d ? i : p.own; };
  for (size_t i = 0; p.unobserved > 0 && i < n; ++i) {
    b[i] -= p.unobserved * p.one * gram(column(i), theirs);
    for (size_t j = 0; j <= i; ++j) a[i * n + j] += p.unobserved * gram(column(i), column(j));
  }
  for (size_t i = 0; i < n && !p.mean.empty(); ++i) {
    b[i] += (i < d ? p.penalty : p.bias_penalty) * p.mean[column(i)];
  }
  for (size_t i = 0; i < d; ++i) a[i * n + i] += p.penalty;
  if (p.biases) a[d * n + d] += p.bias_penalty;
  // A direction that nothing speaks of stays at zero instead of failing.
  for (size_t i = 0; i < n; ++i) a[i * n + i] += 1e-12 * (1 + a[i * n + i]);
  if (cholesky(a, n)) {
    solve_lower(a, n, b);
    solve_upper(a, n, b);
  } else {
    std::ranges::fill(b, 0.0);
  }
  std::vector<float> out(d + 2, 0.0f);
  for (size_t i = 0; i < d; ++i) out[i] = static_cast<float>(b[i]);
  if (p.biases) out[p.own] = static_cast<float>(b[d]);
  out[theirs] = static_cast<float>(p.one);
  return out;
}

}  // namespace kith
