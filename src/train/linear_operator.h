// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrices that are known by what they do to a skinny block of vectors: all that a singular value
// decomposition asks of them. A matrix of ratings plus a product of factors never becomes dense.

#include <cstddef>

#include "core/matrix.h"
#include "core/parallel.h"
#include "data/sparse.h"

namespace kith {

class LinearOperator {
 public:
  virtual ~LinearOperator() = default;
  virtual size_t rows() const = 0;
  virtual size_t cols() const = 0;
  // A x and A^T x. The same bits for any number of threads.
  virtual Matrix multiply(const Matrix& x, const Context& context) const = 0;
  virtual Matrix multiply_transposed(const Matrix& x, const Context& context) const = 0;
};

class DenseOperator final : public LinearOperator {
 public:
  explicit DenseOperator(const Matrix& a);  // refers to `a`, and keeps its transpose
  size_t rows() const override { return a_.rows(); }
  size_t cols() const override { return a_.cols(); }
  Matrix multiply(const Matrix& x, const Context& context) const override;
  Matrix multiply_transposed(const Matrix& x, const Context& context) const override;

 private:
  const Matrix& a_;
  Matrix transposed_;
};

// scale S + P Q^T. Both orders of S are wanted, so that each product is a sum over the entries of a
// row, which no other thread writes to.
class SparsePlusLowRank final : public LinearOperator {
 public:
  struct LowRank {
    const Matrix* p;  // rows x rank, or wider: further columns are left out
    const Matrix* q;  // cols x rank, likewise
    size_t rank;
  };
  // Refers to all of them. `low` may be empty: the sparse matrix alone.
  SparsePlusLowRank(const Sparse& s, const Sparse& transposed, double scale = 1,
                    LowRank low = {nullptr, nullptr, 0})
      : s_(s), transposed_(transposed), scale_(static_cast<float>(scale)), low_(low) {}
  size_t rows() const override { return s_.rows(); }
  size_t cols() const override { return s_.columns; }
  Matrix multiply(const Matrix& x, const Context& context) const override;
  Matrix multiply_transposed(const Matrix& x, const Context& context) const override;

 private:
  const Sparse &s_, &transposed_;
  float scale_;
  LowRank low_;
};

}  // namespace kith
