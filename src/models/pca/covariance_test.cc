// SPDX-License-Identifier: Apache-2.0
#include "models/pca/covariance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/pca/solvers.h"
#include "models/pca/test_rows.h"

namespace kith::pca {
namespace {

using test::plain_covariance;
using test::rows_with_spectrum;

Change of(const MatrixData& data) {
  return {data.train().moments().mean, std::vector<double>(data.cols(), 1.0)};
}

Small covariance(const MatrixData& data, const Context& context = Context(1)) {
  const size_t d = data.cols();
  std::vector<double> gram(d * d, 0.0);
  if (data.sparse()) {
    add_sparse_gram(data.train(), of(data), gram, context);
  } else {
    add_gram(data.train(), of(data), 0, data.rows(), gram, context);
  }
  return covariance_of(gram, d, static_cast<double>(data.rows() - 1));
}

// Sums of 256 products in single precision: errors of 256 * 2^-24 of the variances at the very
// most, and mostly a hundredth of that.
constexpr double kClose = 2e-6;

void expect_near(const Small& a, const Small& b, double tolerance) {
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i)
    EXPECT_NEAR(a.values[i], b.values[i], tolerance) << i;
}

// Widths around those of the panels; numbers of rows around those of pieces and blocks.
TEST(Covariance, IsThatOfItsDefinitionAtEverySize) {
  for (const size_t cols : {1, 31, 32, 33, 70}) {
    for (const size_t rows : {2, 255, 257, 4097}) {
      const Matrix x = rows_with_spectrum(rows, cols, {2, 1.5, 1});
      const Small wanted = plain_covariance(x);
      expect_near(covariance(MatrixData::of(x.copy())), wanted, 9 * kClose);
    }
  }
}

TEST(Covariance, LosesNothingBesideALargeMean) {
  const Matrix x = rows_with_spectrum(3000, 20, {2, 1.5, 1}, 1, 1e6);
  expect_near(covariance(MatrixData::of(x.copy())), plain_covariance(x), 9 * kClose);
}

TEST(Covariance, HasTheSameBitsForAnyNumberOfThreads) {
  const MatrixData data = MatrixData::of(rows_with_spectrum(9000, 40, {2, 1}));
  const Small one = covariance(data);
  EXPECT_EQ(one.values, covariance(data, Context(2)).values);
  EXPECT_EQ(one.values, covariance(data, Context(8)).values);
}

// Rows in pieces are the same rows: a run may stop after any block and go on.
TEST(Covariance, IsTheSameBlockByBlock) {
  const MatrixData data = MatrixData::of(rows_with_spectrum(20000, 40, {2, 1}));
  const size_t step = block_rows(40);
  ASSERT_LT(step, 20000u);
  std::vector<double> whole(1600, 0.0), parts(1600, 0.0);
  add_gram(data.train(), of(data), 0, 20000, whole, Context(2));
  for (uint64_t at = 0; at < 20000; at += step) {
    add_gram(data.train(), of(data), at, std::min<uint64_t>(at + step, 20000), parts, Context(1));
  }
  EXPECT_EQ(whole, parts);
}

Sparse sparse_of(const Matrix& x) {
  Sparse out;
  out.columns = static_cast<uint32_t>(x.cols());
  for (size_t r = 0; r < x.rows(); ++r) {
    for (size_t c = 0; c < x.cols(); ++c) {
      if (x.row(r)[c] == 0) continue;
      out.column.push_back(static_cast<uint32_t>(c));
      out.value.push_back(x.row(r)[c]);
    }
    out.offsets.push_back(out.column.size());
  }
  return out;
}

Matrix mostly_zero(size_t rows, size_t cols) {
  Matrix out(rows, cols);
  for (size_t r = 0; r < rows; ++r) {
    Rng rng(9, r);
    for (float& x : out.row(r)) x = rng.uniform() < 0.2f ? 1 + 3 * rng.uniform() : 0;
  }
  return out;
}

TEST(Covariance, OfSparseRowsIsThatOfTheSameRowsDense) {
  const Matrix x = mostly_zero(700, 40);
  expect_near(covariance(MatrixData::of(sparse_of(x))), plain_covariance(x), 1e-9);
}

TEST(Covariance, AppliedInPassesIsAppliedAsAMatrix) {
  const Matrix x = mostly_zero(5000, 70);
  const MatrixData dense = MatrixData::of(x.copy()), sparse = MatrixData::of(sparse_of(x));
  Change change = of(dense);
  for (size_t c = 0; c < 70; ++c) change.unit[c] = 1 + 0.1 * static_cast<double>(c % 5);
  const Small q = random_block(37, 70, 4);
  Small c = plain_covariance(x);
  for (size_t i = 0; i < 70; ++i) {
    for (size_t j = 0; j < 70; ++j) c.at(i, j) /= change.unit[i] * change.unit[j];
  }
  const Small wanted = product(q, c);
  for (const int threads : {1, 3}) {
    const Context context(threads);
    // Directions and coordinates are in single precision here.
    expect_near(streamed(dense.train(), change, 4999)->times(q, context), wanted, 2e-5);
    expect_near(streamed(sparse.train(), change, 4999)->times(q, context), wanted, 2e-5);
  }
  EXPECT_EQ(streamed(dense.train(), change, 4999)->times(q, Context(1)).values,
            streamed(dense.train(), change, 4999)->times(q, Context(8)).values);
  EXPECT_EQ(streamed(sparse.train(), change, 4999)->times(q, Context(1)).values,
            streamed(sparse.train(), change, 4999)->times(q, Context(8)).values);
}

}  // namespace
}  // namespace kith::pca
