// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: rows whose covariance is known to have gaps.

#include <cmath>
#include <vector>

#include "core/matrix.h"
#include "core/rng.h"
#include "train/symmetric.h"

namespace kith::test {

inline double gauss(Rng& rng) {
  double sum = -6;  // twelve uniform numbers have variance 1
  for (int i = 0; i < 12; ++i) sum += rng.uniform();
  return sum;
}

// Independent along `cols` orthonormal directions, with these deviations; those beyond them 0.1.
inline Matrix rows_with_spectrum(size_t rows, size_t cols, const std::vector<double>& deviations,
                                 uint64_t seed = 1, double mean = 0) {
  Small directions(cols, cols);
  for (size_t r = 0; r < cols; ++r) {
    Rng rng(seed + 77, r);
    for (size_t c = 0; c < cols; ++c) directions.at(r, c) = gauss(rng);
  }
  directions = orthonormal_rows(directions);
  Matrix out(rows, cols);
  for (size_t r = 0; r < rows; ++r) {
    Rng rng(seed, r);
    std::vector<double> x(cols, mean);
    for (size_t k = 0; k < cols; ++k) {
      const double along = gauss(rng) * (k < deviations.size() ? deviations[k] : 0.1);
      for (size_t c = 0; c < cols; ++c) x[c] += along * directions.at(k, c);
    }
    for (size_t c = 0; c < cols; ++c) out.row(r)[c] = static_cast<float>(x[c]);
  }
  return out;
}

// The covariance, in double, by its definition.
inline Small plain_covariance(const Matrix& rows) {
  const size_t n = rows.rows(), d = rows.cols();
  std::vector<double> mean(d, 0.0);
  for (size_t r = 0; r < n; ++r) {
    for (size_t c = 0; c < d; ++c) mean[c] += rows.row(r)[c] / static_cast<double>(n);
  }
  Small out(d, d);
  for (size_t r = 0; r < n; ++r) {
    for (size_t i = 0; i < d; ++i) {
      for (size_t j = 0; j < d; ++j) {
        out.at(i, j) += (rows.row(r)[i] - mean[i]) * (rows.row(r)[j] - mean[j]);
      }
    }
  }
  for (double& x : out.values) x /= static_cast<double>(n - 1);
  return out;
}

inline Small as_small(const Matrix& m) {
  Small out(m.rows(), m.cols());
  for (size_t r = 0; r < m.rows(); ++r) {
    for (size_t c = 0; c < m.cols(); ++c) out.at(r, c) = m.row(r)[c];
  }
  return out;
}

// The sine of the largest angle between the spaces that orthonormal rows span.
inline double largest_angle(const Small& a, const Small& b) {
  Small left = a;  // what of each row of a is outside b
  const Small along = product(product_transposed(a, b), b);
  for (size_t i = 0; i < left.values.size(); ++i) left.values[i] -= along.values[i];
  const EigenPairs squares = largest_eigenpairs(product_transposed(left, left), 1);
  return std::sqrt(std::max(0.0, squares.values[0]));
}

}  // namespace kith::test
