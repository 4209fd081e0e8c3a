// SPDX-License-Identifier: Apache-2.0
#include "train/ridge_solve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/parallel.h"

namespace kith {
namespace {

struct Problem {
  Matrix a, right;
  std::vector<float> diagonal, penalty;

  Problem(size_t rows, size_t cols, size_t sides) : a(rows, cols), right(cols, sides) {
    std::mt19937 rng(3);
    std::normal_distribution<float> normal;
    for (size_t r = 0; r < rows; ++r) {
      for (float& x : a.row(r)) x = normal(rng);
    }
    for (size_t r = 0; r < cols; ++r) {
      for (float& x : right.row(r)) x = normal(rng);
      penalty.push_back(0.5f + static_cast<float>(r));
    }
    diagonal.assign(cols, 0.0f);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < cols; ++c) diagonal[c] += a.row(r)[c] * a.row(r)[c];
    }
  }
  Matrix solved(int steps, int threads = 1) const {
    Matrix x(right.rows(), right.cols());
    solve_ridge(DenseOperator(a), diagonal, penalty, right, steps, Context(threads), x);
    return x;
  }
  // The largest number of (A^T A + penalty) x - right.
  double left(const Matrix& x) const {
    double worst = 0;
    for (size_t k = 0; k < right.cols(); ++k) {
      std::vector<double> ax(a.rows(), 0.0);
      for (size_t r = 0; r < a.rows(); ++r) {
        for (size_t c = 0; c < a.cols(); ++c) ax[r] += double{a.row(r)[c]} * x.row(c)[k];
      }
      for (size_t c = 0; c < a.cols(); ++c) {
        double sum = double{penalty[c]} * x.row(c)[k] - right.row(c)[k];
        for (size_t r = 0; r < a.rows(); ++r) sum += a.row(r)[c] * ax[r];
        worst = std::max(worst, std::abs(sum));
      }
    }
    return worst;
  }
};

// As many steps as there are unknowns are exact but for rounding.
TEST(RidgeSolve, SolvesEveryColumn) {
  const Problem p(40, 9, 3);
  EXPECT_LT(p.left(p.solved(9)), 1e-3);
  EXPECT_GT(p.left(p.solved(2)), 1e-2);
}

TEST(RidgeSolve, GoesOnFromWhereItIs) {
  const Problem p(40, 9, 3);
  Matrix x = p.solved(9);
  const Matrix before = x.copy();
  solve_ridge(DenseOperator(p.a), p.diagonal, p.penalty, p.right, 2, Context(1), x);
  for (size_t r = 0; r < x.rows(); ++r) {
    for (size_t k = 0; k < x.cols(); ++k) EXPECT_NEAR(x.row(r)[k], before.row(r)[k], 1e-4);
  }
}

TEST(RidgeSolve, ARightSideOfZerosIsSolvedByZeros) {
  Problem p(10, 4, 2);
  for (size_t r = 0; r < 4; ++r) p.right.row(r)[1] = 0;
  const Matrix x = p.solved(4);
  for (size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(x.row(r)[1], 0.0f);
    EXPECT_NE(x.row(r)[0], 0.0f);
  }
}

TEST(RidgeSolve, AnyNumberOfThreadsGivesTheSameBits) {
  const Problem p(3000, 40, 5);
  const Matrix one = p.solved(5);
  for (const int threads : {2, 3, 8}) {
    const Matrix more = p.solved(5, threads);
    for (size_t r = 0; r < one.rows(); ++r) {
      EXPECT_TRUE(std::ranges::equal(one.row(r), more.row(r)))
          << r << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace kith
