// SPDX-License-Identifier: Apache-2.0
#include "train/svd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "train/test_matrices.h"

namespace kith {
namespace {

using test::random_matrix;

// How far the columns are from orthonormal: the largest entry of |M^T M - I|.
double skew(const Matrix& m) {
  const Small g = transpose_times(m, m, Context(1));
  double worst = 0;
  for (size_t i = 0; i < g.rows; ++i) {
    for (size_t j = 0; j < g.cols; ++j) {
      worst = std::max(worst, std::abs(g.at(i, j) - (i == j ? 1 : 0)));
    }
  }
  return worst;
}

// Singular values 10, 5, 2.5, ... on random vectors.
Matrix falling(size_t rows, size_t cols, size_t rank) {
  const Context job(1);
  Svd a{orthonormal(random_matrix(rows, rank, 1), job), {}, {}};
  a.v = orthonormal(random_matrix(cols, rank, 2), job);
  for (size_t k = 0; k < rank; ++k) a.sigma.push_back(10 * std::pow(0.5, static_cast<double>(k)));
  return test::product(a);
}

void expect_equal(const Matrix& a, const Matrix& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  for (size_t r = 0; r < a.rows(); ++r) ASSERT_TRUE(std::ranges::equal(a.row(r), b.row(r))) << r;
}

// Entries are stored as floats, 6e-8 relative to themselves, so to sigma_1 at most.
constexpr double kFloat = 5e-7;

TEST(Svd, TheDenseOneGivesTheMatrixBackAndLemma8) {
  for (const auto& [rows, cols] : {std::pair{7, 5}, {5, 7}, {40, 17}, {1, 9}, {9, 1}}) {
    const Matrix a = random_matrix(static_cast<size_t>(rows), static_cast<size_t>(cols), 3);
    const Svd s = dense_svd(a);
    EXPECT_LT(test::squared_distance(test::product(s), a), 1e-11 * test::squared_norm(a));
    EXPECT_LT(skew(s.u), kFloat);
    EXPECT_LT(skew(s.v), kFloat);
    EXPECT_TRUE(std::ranges::is_sorted(s.sigma, std::greater<>()));
    double squares = 0;
    for (const double x : s.sigma) squares += x * x;
    EXPECT_NEAR(squares, test::squared_norm(a), 1e-6 * squares);  // |A|_F^2 = sum sigma^2
  }
}

TEST(Svd, OfRankDeficientMatricesOnlyTheRankIsGiven) {
  const Matrix a = test::product(random_matrix(30, 3, 1), random_matrix(20, 3, 2));
  EXPECT_EQ(dense_svd(a).rank(), 3u);
  EXPECT_EQ(randomised_svd(DenseOperator(a), {.rank = 8}, Context(1)).rank(), 3u);
  EXPECT_EQ(dense_svd(Matrix(4, 3)).rank(), 0u);
  EXPECT_EQ(randomised_svd(DenseOperator(Matrix(4, 3)), {.rank = 2}, Context(1)).rank(), 0u);
}

// |A - A_k|_F^2 = sum of the squares of the dropped singular values, and no matrix of rank k is
// closer: by the dense decomposition to rounding, by the randomised one to what four passes of a
// spectrum that halves leave.
TEST(Svd, EckartYoung) {
  const Matrix a = falling(60, 45, 12);
  const Svd whole = dense_svd(a);
  ASSERT_EQ(whole.rank(), 12u);
  for (const size_t k : {1, 2, 5, 11}) {
    double dropped = 0;
    for (size_t i = k; i < whole.rank(); ++i) dropped += whole.sigma[i] * whole.sigma[i];
    const Svd best = truncated(whole, k);
    EXPECT_NEAR(test::squared_distance(test::product(best), a), dropped, 1e-6);
    const Svd quick = randomised_svd(DenseOperator(a), {.rank = k}, Context(1));
    ASSERT_EQ(quick.rank(), k);
    EXPECT_NEAR(test::squared_distance(test::product(quick), a), dropped, 2e-6);
    // Other matrices of rank k, near and far, are no better.
    for (const uint64_t seed : {7, 8, 9}) {
      FactorPair other = balanced(best);
      const Matrix noise = random_matrix(60, k, seed);
      for (size_t r = 0; r < 60; ++r) {
        for (size_t j = 0; j < k; ++j) other.p.row(r)[j] += 0.01f * noise.row(r)[j];
      }
      EXPECT_GT(test::squared_distance(test::product(other.p, other.q), a), dropped);
    }
  }
}

TEST(Svd, TheRandomisedOneEqualsTheDenseOne) {
  const Matrix a = random_matrix(50, 30, 4);  // a flat spectrum: the hard case
  const Svd whole = dense_svd(a);
  const Svd quick = randomised_svd(DenseOperator(a), {.rank = 5, .power = 20}, Context(1));
  ASSERT_EQ(quick.rank(), 5u);
  EXPECT_LT(skew(quick.u), kFloat);
  EXPECT_LT(skew(quick.v), kFloat);
  for (size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(quick.sigma[k], whole.sigma[k], 1e-5 * whole.sigma[0]);
    for (size_t r = 0; r < 50; ++r) EXPECT_NEAR(quick.u.row(r)[k], whole.u.row(r)[k], 1e-4);
    for (size_t r = 0; r < 30; ++r) EXPECT_NEAR(quick.v.row(r)[k], whole.v.row(r)[k], 1e-4);
  }
}

TEST(Svd, AStartThatIsRightNeedsNoIterations) {
  const Matrix a = falling(80, 60, 20);
  const Svd whole = dense_svd(a);
  const Svd first = truncated(whole, 4);
  const Svd again = randomised_svd(
      DenseOperator(a),
      {.rank = 4, .oversample = 0, .power = 0, .start = &first.v, .start_cols = 4}, Context(1));
  for (size_t k = 0; k < 4; ++k) EXPECT_NEAR(again.sigma[k], whole.sigma[k], 1e-5);
}

// The loss of the rank-1 model, |u|^2 |v|^2 / 2 - u^T A v, is least for the first triplet with
// sigma = sqrt(lambda_1) of A A^T, where it is -sigma^2 / 2.
TEST(Svd, TheRankOneModelIsTheFirstTriplet) {
  const Matrix a = falling(40, 25, 8);
  const Svd whole = dense_svd(a);
  const Svd one = power_method(DenseOperator(a), {.rank = 1}, Context(1));
  ASSERT_EQ(one.rank(), 1u);
  EXPECT_NEAR(one.sigma[0], whole.sigma[0], 1e-5);
  double product = 0;
  for (size_t r = 0; r < 40; ++r) {
    EXPECT_NEAR(one.u.row(r)[0], whole.u.row(r)[0], 1e-5);
    for (size_t c = 0; c < 25; ++c) {
      product += double{one.u.row(r)[0]} * a.row(r)[c] * one.v.row(c)[0];
    }
  }
  const double s = one.sigma[0];
  EXPECT_NEAR(s * s / 2 - s * product, -s * s / 2, 1e-4);
}

TEST(Svd, DeflationGivesTheNextTriplets) {
  const Matrix a = falling(40, 25, 8);
  const Svd whole = dense_svd(a);
  const Svd five = power_method(DenseOperator(a), {.rank = 5}, Context(1));
  ASSERT_EQ(five.rank(), 5u);
  for (size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(five.sigma[k], whole.sigma[k], 1e-4);
    for (size_t r = 0; r < 40; ++r) EXPECT_NEAR(five.u.row(r)[k], whole.u.row(r)[k], 1e-4);
    for (size_t c = 0; c < 25; ++c) EXPECT_NEAR(five.v.row(c)[k], whole.v.row(c)[k], 1e-4);
  }
  // A matrix of rank 8 has no ninth triplet.
  EXPECT_EQ(power_method(DenseOperator(falling(20, 12, 3)), {.rank = 5}, Context(1)).rank(), 3u);
}

TEST(Svd, TheProductOfFactorsNeedsNoDenseMatrix) {
  const Matrix p = random_matrix(70, 6, 1), q = random_matrix(50, 6, 2);
  const Svd whole = dense_svd(test::product(p, q)), quick = svd_of_product(p, q, Context(1));
  ASSERT_EQ(quick.rank(), 6u);
  for (size_t k = 0; k < 6; ++k) EXPECT_NEAR(quick.sigma[k], whole.sigma[k], 1e-4);
  const FactorPair f = balanced(quick);
  EXPECT_LT(test::squared_distance(test::product(f.p, f.q), test::product(p, q)), 1e-6);
  // |P|^2 + |Q|^2 is twice the nuclear norm.
  double nuclear = 0;
  for (const double s : quick.sigma) nuclear += s;
  EXPECT_NEAR(test::squared_norm(f.p) + test::squared_norm(f.q), 2 * nuclear, 1e-4 * nuclear);
}

TEST(Svd, BitsDoNotDependOnThreads) {
  // Large enough for many shards in every product.
  const Sparse s = test::sampled(random_matrix(3000, 400, 5), 0.05, 6);
  const Sparse st = transposed(s);
  const Matrix p = random_matrix(3000, 7, 7), q = random_matrix(400, 7, 8);
  const SparsePlusLowRank a(s, st, 0.5, {&p, &q, 7});
  const Svd one = randomised_svd(a, {.rank = 12, .power = 2}, Context(1));
  for (const int n : {2, 8}) {
    const Context job(n);
    const Svd many = randomised_svd(a, {.rank = 12, .power = 2}, job);
    EXPECT_EQ(one.sigma, many.sigma);
    expect_equal(one.u, many.u);
    expect_equal(one.v, many.v);
  }
}

// --- Theorem 13: shrink is the proximal operator of the nuclear norm ---

double nuclear_objective(const Matrix& a, const Matrix& b, double tau) {
  double nuclear = 0;
  for (const double s : dense_svd(b).sigma) nuclear += s;
  return test::squared_distance(a, b) / 2 + tau * nuclear;
}

TEST(Shrink, NothingNearIsBetter) {
  const Matrix a = random_matrix(12, 9, 1);
  const Svd whole = dense_svd(a);
  for (const double tau : {0.5, 2.0, 4.0}) {
    const Matrix b = test::product(shrink(whole, tau));
    const double least = nuclear_objective(a, b, tau);
    for (uint64_t seed = 10; seed < 40; ++seed) {
      const float step = 0.3f / static_cast<float>(1 + seed % 10);
      const Matrix noise = random_matrix(12, 9, seed);
      Matrix other = b.copy();
      for (size_t r = 0; r < 12; ++r) {
        for (size_t c = 0; c < 9; ++c) other.row(r)[c] += step * noise.row(r)[c];
      }
      EXPECT_GT(nuclear_objective(a, other, tau), least) << "tau " << tau << " seed " << seed;
    }
    // Along B itself, where the norm has no kink.
    for (const float scale : {0.9f, 0.99f, 1.01f, 1.1f}) {
      Matrix other = b.copy();
      for (size_t r = 0; r < 12; ++r) {
        for (float& x : other.row(r)) x *= scale;
      }
      EXPECT_GT(nuclear_objective(a, other, tau), least - 1e-6);
    }
  }
}

// The condition of first order: (A - B) / tau is a subgradient of the nuclear norm at B, so it is
// U V^T on the space of B and has spectral norm at most 1 elsewhere.
TEST(Shrink, TheRestIsASubgradient) {
  const Matrix a = random_matrix(15, 11, 2);
  const double tau = 3;
  const Svd b = shrink(dense_svd(a), tau);
  ASSERT_GT(b.rank(), 0u);
  ASSERT_LT(b.rank(), 11u);
  Matrix rest = a.copy();
  const Matrix product = test::product(b);
  for (size_t r = 0; r < 15; ++r) {
    for (size_t c = 0; c < 11; ++c) {
      rest.row(r)[c] = static_cast<float>((rest.row(r)[c] - product.row(r)[c]) / tau);
    }
  }
  const Svd s = dense_svd(rest);
  EXPECT_NEAR(s.sigma[0], 1, 1e-5);
  double inner = 0;  // <rest, U V^T> is the rank
  for (size_t r = 0; r < 15; ++r) {
    for (size_t c = 0; c < 11; ++c) inner += rest.row(r)[c] * test::dot(b.u, r, b.v, c);
  }
  EXPECT_NEAR(inner, static_cast<double>(b.rank()), 1e-4);
}

TEST(Shrink, TheRankFallsWithTau) {
  const Svd a = dense_svd(random_matrix(20, 20, 3));
  size_t before = a.rank();
  for (double tau = 0; tau < a.sigma[0]; tau += 0.3) {
    const size_t rank = shrink(a, tau).rank();
    EXPECT_LE(rank, before);
    before = rank;
  }
  EXPECT_EQ(shrink(a, a.sigma[0]).rank(), 0u);
  EXPECT_EQ(shrink(a, 0).rank(), a.rank());
}

}  // namespace
}  // namespace kith
