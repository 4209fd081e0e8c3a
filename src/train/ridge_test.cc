// SPDX-License-Identifier: Apache-2.0
#include "train/ridge.h"

#include <gtest/gtest.h>

#include <random>

namespace kith {
namespace {

TEST(RidgeFit, FindsTheMapThatMadeTheExamples) {
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  Matrix map(3, 5);
  for (size_t o = 0; o < 3; ++o) {
    for (float& x : map.row(o)) x = normal(rng);
  }
  RidgeFit fit(5, 3);
  for (int e = 0; e < 200; ++e) {
    std::vector<float> x(5), y(3, 0.0f);
    for (float& v : x) v = normal(rng);
    for (size_t o = 0; o < 3; ++o) {
      for (size_t i = 0; i < 5; ++i) y[o] += map.row(o)[i] * x[i];
    }
    fit.add(x, y, 1 + e % 3);
  }
  const Matrix found = fit.solve(0), shrunk = fit.solve(10);
  double full = 0, small = 0;
  for (size_t o = 0; o < 3; ++o) {
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(found.row(o)[i], map.row(o)[i], 1e-4);
      full += found.row(o)[i] * found.row(o)[i];
      small += shrunk.row(o)[i] * shrunk.row(o)[i];
    }
  }
  EXPECT_LT(small, full / 10);  // the penalty shrinks
}

// As many examples as inputs, or fewer, are solved through the products of examples: the equation
// that W must meet, W (X'X + lambda I) = Y'X, is the same.
TEST(RidgeFit, MeetsItsEquationWithFewAndWithManyExamples) {
  constexpr size_t kInputs = 6, kOutputs = 2;
  for (const int examples : {1, 3, 6, 7, 20}) {
    std::mt19937 rng(static_cast<unsigned>(examples));
    std::normal_distribution<float> normal;
    RidgeFit fit(kInputs, kOutputs);
    double xx[kInputs][kInputs] = {}, yx[kOutputs][kInputs] = {}, trace = 0;
    for (int e = 0; e < examples; ++e) {
      std::vector<float> x(kInputs), y(kOutputs);
      for (float& v : x) v = normal(rng);
      for (float& v : y) v = normal(rng);
      const double weight = 1 + e % 3;
      fit.add(x, y, weight);
      for (size_t i = 0; i < kInputs; ++i) {
        trace += weight * x[i] * x[i];
        for (size_t j = 0; j < kInputs; ++j) xx[i][j] += weight * x[i] * x[j];
        for (size_t o = 0; o < kOutputs; ++o) yx[o][i] += weight * y[o] * x[i];
      }
    }
    constexpr double kPenalty = 0.1;
    for (size_t i = 0; i < kInputs; ++i) xx[i][i] += kPenalty * trace / kInputs;
    const Matrix w = fit.solve(kPenalty);
    for (size_t o = 0; o < kOutputs; ++o) {
      for (size_t i = 0; i < kInputs; ++i) {
        double sum = 0;
        for (size_t j = 0; j < kInputs; ++j) sum += w.row(o)[j] * xx[j][i];
        EXPECT_NEAR(sum, yx[o][i], 1e-4) << examples;
      }
    }
  }
}

TEST(RidgeFit, AWeightIsHowOftenAnExampleCounts) {
  const std::vector<float> x[]{{1, 0.5f}, {-1, 2}, {0.5f, 0.5f}}, y[]{{1}, {3}, {-2}};
  RidgeFit weighed(2, 1), repeated(2, 1);
  for (size_t e = 0; e < 3; ++e) {  // three points of no plane through 0
    weighed.add(x[e], y[e], static_cast<double>(e + 1));
    for (size_t times = 0; times <= e; ++times) repeated.add(x[e], y[e], 1);
  }
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(weighed.solve(0.1).row(0)[i], repeated.solve(0.1).row(0)[i], 1e-6);
  }
}

TEST(RidgeFit, OneExampleInManyDimensionsIsNoProblem) {
  RidgeFit fit(4, 1);
  const std::vector<float> x{1, 0, 0, 0}, y{2};
  fit.add(x, y, 1);
  const Matrix w = fit.solve(0.01);
  EXPECT_NEAR(w.row(0)[0], 2, 0.02);
  EXPECT_NEAR(w.row(0)[1], 0, 1e-6);
}

}  // namespace
}  // namespace kith
