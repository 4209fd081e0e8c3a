// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrices whose truth is known, for tests of decompositions and of completion.

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/matrix.h"
#include "core/rng.h"
#include "data/sparse.h"
#include "train/svd.h"

namespace kith::test {

inline Matrix random_matrix(size_t rows, size_t cols, uint64_t seed) {
  Matrix out(rows, cols);
  for (size_t r = 0; r < rows; ++r) {
    Rng rng(seed, r);
    for (float& x : out.row(r)) {
      // Nearly normal: the sum of 12 uniform numbers has variance 1.
      double sum = -6;
      for (int i = 0; i < 12; ++i) sum += rng.uniform();
      x = static_cast<float>(sum);
    }
  }
  return out;
}

inline double dot(const Matrix& a, size_t i, const Matrix& b, size_t j) {
  double sum = 0;
  for (size_t k = 0; k < a.cols(); ++k) sum += double{a.row(i)[k]} * b.row(j)[k];
  return sum;
}

// p q^T.
inline Matrix product(const Matrix& p, const Matrix& q) {
  Matrix out(p.rows(), q.rows());
  for (size_t r = 0; r < p.rows(); ++r) {
    for (size_t c = 0; c < q.rows(); ++c) out.row(r)[c] = static_cast<float>(dot(p, r, q, c));
  }
  return out;
}

inline Matrix product(const Svd& a) {
  const FactorPair f = balanced(a);
  return product(f.p, f.q);
}

inline double squared_distance(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (size_t r = 0; r < a.rows(); ++r) {
    for (size_t c = 0; c < a.cols(); ++c) sum += std::pow(double{a.row(r)[c]} - b.row(r)[c], 2);
  }
  return sum;
}

inline double squared_norm(const Matrix& a) {
  return squared_distance(a, Matrix(a.rows(), a.cols()));
}

// Entries of `a` that a coin with this chance picks; all of them if the chance is 1.
inline Sparse sampled(const Matrix& a, double chance, uint64_t seed) {
  Sparse out;
  out.columns = static_cast<uint32_t>(a.cols());
  for (size_t r = 0; r < a.rows(); ++r) {
    Rng rng(seed, r);
    for (size_t c = 0; c < a.cols(); ++c) {
      if (rng.uniform() >= chance) continue;
      out.column.push_back(static_cast<uint32_t>(c));
      out.value.push_back(a.row(r)[c]);
    }
    out.offsets.push_back(out.column.size());
  }
  return out;
}

inline Matrix dense(const Sparse& a) {
  Matrix out(a.rows(), a.columns);
  for (uint32_t r = 0; r < a.rows(); ++r) {
    const Sparse::Row row = a.row(r);
    for (size_t i = 0; i < row.size(); ++i) out.row(r)[row.columns[i]] = row.values[i];
  }
  return out;
}

}  // namespace kith::test
