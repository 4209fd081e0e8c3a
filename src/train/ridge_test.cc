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
