// SPDX-License-Identifier: Apache-2.0
#include "train/linear_operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "train/incoherence.h"
#include "train/test_matrices.h"

namespace kith {
namespace {

using test::random_matrix;

Matrix turned(const Matrix& a) {
  Matrix out(a.cols(), a.rows());
  for (size_t r = 0; r < a.rows(); ++r) {
    for (size_t c = 0; c < a.cols(); ++c) out.row(c)[r] = a.row(r)[c];
  }
  return out;
}

// A x and A^T x against sums in double.
void expect_products(const LinearOperator& a, const Matrix& truth) {
  ASSERT_EQ(a.rows(), truth.rows());
  ASSERT_EQ(a.cols(), truth.cols());
  for (const size_t width : {1, 5, 16, 17, 70}) {  // around the padding and the strips of a kernel
    const Matrix x = random_matrix(a.cols(), width, 11), y = random_matrix(a.rows(), width, 12);
    for (const int threads : {1, 3}) {
      const Context job(threads);
      // Rounding of sums of a hundred products of order 10.
      EXPECT_LT(test::squared_distance(a.multiply(x, job), test::product(truth, turned(x))),
                1e-9 * test::squared_norm(truth) * static_cast<double>(width));
      EXPECT_LT(test::squared_distance(a.multiply_transposed(y, job),
                                       test::product(turned(truth), turned(y))),
                1e-9 * test::squared_norm(truth) * static_cast<double>(width));
    }
  }
}

TEST(LinearOperator, Dense) {
  const Matrix a = random_matrix(37, 53, 1);
  expect_products(DenseOperator(a), a);
}

TEST(LinearOperator, SparseAlone) {
  const Sparse s = test::sampled(random_matrix(90, 61, 2), 0.2, 3);
  const Sparse st = transposed(s);
  expect_products(SparsePlusLowRank(s, st), test::dense(s));
}

TEST(LinearOperator, SparsePlusLowRankEqualsTheDenseSum) {
  const Sparse s = test::sampled(random_matrix(90, 61, 2), 0.2, 3);
  const Sparse st = transposed(s);
  Matrix p = random_matrix(90, 4, 4), q = random_matrix(61, 4, 5);
  Matrix truth = test::product(p, q);
  const Matrix sparse = test::dense(s);
  for (size_t r = 0; r < 90; ++r) {
    for (size_t c = 0; c < 61; ++c) truth.row(r)[c] += 1.5f * sparse.row(r)[c];
  }
  expect_products(SparsePlusLowRank(s, st, 1.5, {&p, &q, 4}), truth);
  // Columns beyond the rank, such as biases, do not count.
  const auto widened = [](const Matrix& m) {
    Matrix out(m.rows(), 6);
    for (size_t r = 0; r < m.rows(); ++r) {
      std::ranges::fill(out.row(r), 9.0f);
      std::ranges::copy(m.row(r), out.row(r).begin());
    }
    return out;
  };
  p = widened(p);
  q = widened(q);
  expect_products(SparsePlusLowRank(s, st, 1.5, {&p, &q, 4}), truth);
}

TEST(LinearOperator, EmptyRowsAndColumnsGiveZeros) {
  Matrix a(6, 5);
  a.row(2)[3] = 4;
  const Sparse s = test::sampled(a, 1, 1), st = transposed(s);
  Sparse empty;
  empty.columns = 5;
  empty.offsets.assign(7, 0);
  const Sparse empty_t = transposed(empty);
  expect_products(SparsePlusLowRank(s, st), a);
  const Matrix y = SparsePlusLowRank(empty, empty_t).multiply(random_matrix(5, 3, 1), Context(1));
  EXPECT_EQ(test::squared_norm(y), 0);
}

// --- Definition 14 ---

TEST(Incoherence, RandomIsSpreadOutAndASpikeIsNot) {
  const Context job(1);
  const size_t n = 200;
  for (const size_t k : {1, 4, 10}) {
    const Svd random = svd_of_product(random_matrix(n, k, 1), random_matrix(n, k, 2), job);
    // Of n^2 nearly normal entries the largest is about sqrt(2 log n^2) of them, 4.6 at n = 200;
    // for k = 1 entries of U U^T are products of two.
    const double mu = incoherence(random, job);
    EXPECT_GE(mu, 1) << k;
    EXPECT_LT(mu, 15) << k;
    // One singular pair on a single entry: e_ij = 1, the worst there is.
    Matrix p = random_matrix(n, k, 1), q = random_matrix(n, k, 2);
    for (size_t r = 0; r < n; ++r) p.row(r)[0] = q.row(r)[0] = r == 7 ? 1e4f : 0;
    const double spiky = incoherence(svd_of_product(p, q, job), job);
    EXPECT_NEAR(spiky, static_cast<double>(n) / std::sqrt(static_cast<double>(k)), 0.05 * spiky)
        << k;
  }
}

// All entries equal: U U^T, V V^T and U V^T are 1 / n everywhere, so mu = 1 for every n; no matrix
// is less coherent, since the entries of U V^T have mean square k / n^2.
TEST(Incoherence, AConstantMatrixHasMuOne) {
  Matrix ones(30, 20);
  for (size_t r = 0; r < 30; ++r) std::ranges::fill(ones.row(r), 2.0f);
  EXPECT_NEAR(incoherence(dense_svd(ones), Context(1)), 1, 1e-5);
}

TEST(Incoherence, IsTheDefinition) {
  const Svd a = svd_of_product(random_matrix(9, 2, 3), random_matrix(6, 2, 4), Context(1));
  const double mu = incoherence(a, Context(1)), root = std::sqrt(2.0);
  double tightest = 0;
  const auto bounded = [&](double value, double size) {
    EXPECT_LE(std::abs(value), mu * root / size * (1 + 1e-12));
    tightest = std::max(tightest, std::abs(value) * size / root);
  };
  for (size_t i = 0; i < 9; ++i) {
    for (size_t j = 0; j < 9; ++j) bounded(test::dot(a.u, i, a.u, j) - (i == j ? 2 / 9.0 : 0), 9);
    for (size_t j = 0; j < 6; ++j) bounded(test::dot(a.u, i, a.v, j), std::sqrt(54.0));
  }
  for (size_t i = 0; i < 6; ++i) {
    for (size_t j = 0; j < 6; ++j) bounded(test::dot(a.v, i, a.v, j) - (i == j ? 2 / 6.0 : 0), 6);
  }
  EXPECT_NEAR(tightest, mu, 1e-12 * mu);
}

}  // namespace
}  // namespace kith
