// SPDX-License-Identifier: Apache-2.0
#include "train/linear_operator.h"

#include <algorithm>
#include <utility>

#include "kernels/skinny.h"
#include "train/products.h"

namespace kith {
namespace {

// a x for a dense a.
Matrix product(const Matrix& a, const Matrix& x, const Context& context) {
  Matrix y(a.rows(), x.cols());
  const Rows to = y.view();
  for_each_range(context, a.rows(), a.cols() * y.stride(), [&](size_t first, size_t last) {
    for (size_t r = first; r < last; ++r) {
      sum_rows({x.view(), nullptr, a.view().row(r), a.cols(), 1}, false, to.row(r), y.stride());
    }
  });
  return y;
}

// scale s x + p (q^T x), the second term only if the rank is not 0.
Matrix product(const Sparse& s, float scale, const SparsePlusLowRank::LowRank& low, const Matrix& x,
               const Context& context) {
  Matrix y(s.rows(), x.cols());
  Matrix inner;  // q^T x, rank x width
  if (low.rank > 0) {
    const Small sums = transpose_times(*low.q, low.rank, x, context);
    inner = Matrix(sums.rows, sums.cols);
    for (size_t i = 0; i < sums.rows; ++i) {
      for (size_t j = 0; j < sums.cols; ++j) inner.row(i)[j] = static_cast<float>(sums.at(i, j));
    }
  }
  const Rows to = y.view();
  const size_t mean_entries = s.size() / std::max<size_t>(1, s.rows()) + inner.rows() + 1;
  for_each_range(context, s.rows(), mean_entries * y.stride(), [&](size_t first, size_t last) {
    for (size_t r = first; r < last; ++r) {
      const Sparse::Row row = s.row(static_cast<uint32_t>(r));
      sum_rows({x.view(), row.columns.data(), row.values.data(), row.size(), scale}, false,
               to.row(r), y.stride());
      if (inner.rows() == 0) continue;
      sum_rows({std::as_const(inner).view(), nullptr, low.p->view().row(r), low.rank, 1}, true,
               to.row(r), y.stride());
    }
  });
  return y;
}

}  // namespace

DenseOperator::DenseOperator(const Matrix& a) : a_(a), transposed_(a.cols(), a.rows()) {
  for (size_t r = 0; r < a.rows(); ++r) {
    for (size_t c = 0; c < a.cols(); ++c) transposed_.row(c)[r] = a.row(r)[c];
  }
}

Matrix DenseOperator::multiply(const Matrix& x, const Context& context) const {
  return product(a_, x, context);
}

Matrix DenseOperator::multiply_transposed(const Matrix& x, const Context& context) const {
  return product(transposed_, x, context);
}

Matrix SparsePlusLowRank::multiply(const Matrix& x, const Context& context) const {
  return product(s_, scale_, low_, x, context);
}

Matrix SparsePlusLowRank::multiply_transposed(const Matrix& x, const Context& context) const {
  return product(transposed_, scale_, {low_.q, low_.p, low_.rank}, x, context);
}

}  // namespace kith
