// SPDX-License-Identifier: Apache-2.0
#include "train/covariance.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kith {
namespace {

// Eigenvalues 4, 1 and 0.01 along axes that are turned in the first two columns.
std::vector<double> turned(double a, double b, double c) {
  const double x = std::cos(0.3), y = std::sin(0.3);
  return {a * x * x + b * y * y,
          (a - b) * x * y,
          0,
          (a - b) * x * y,
          a * y * y + b * x * x,
          0,
          0,
          0,
          c};
}

TEST(Covariance, TheInverseFactorMakesItTheIdentity) {
  const std::vector<double> s = turned(4, 1, 0.01);
  const auto f = inverse_factor(s, 3);
  ASSERT_TRUE(f);
  EXPECT_NEAR(f->log_determinant, std::log(4 * 1 * 0.01), 1e-12);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      double sum = 0;  // of L^-1 S L^-T
      for (size_t a = 0; a < 3; ++a) {
        for (size_t b = 0; b < 3; ++b) {
          sum += f->lower[i * 3 + a] * s[a * 3 + b] * f->lower[j * 3 + b];
        }
      }
      EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-12);
      if (j > i) {
        EXPECT_EQ(f->lower[i * 3 + j], 0);
      }
    }
  }
  EXPECT_FALSE(inverse_factor(turned(4, 0, 1), 3));
  EXPECT_FALSE(inverse_factor(turned(4, -1, 1), 3));
  EXPECT_FALSE(inverse_factor(turned(4, NAN, 1), 3));
}

TEST(Covariance, OnlyEigenvaluesThatAreTooLowAreRaised) {
  std::vector<double> s = turned(4, 1, 0.01);
  EXPECT_FALSE(raise_eigenvalues(s, 3, 0.001));
  EXPECT_EQ(s, turned(4, 1, 0.01));
  EXPECT_TRUE(raise_eigenvalues(s, 3, 2));
  const std::vector<double> want = turned(4, 2, 2);
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(s[i], want[i], 1e-12);
  std::vector<double> nothing(9, 0);
  EXPECT_TRUE(raise_eigenvalues(nothing, 3, 1e-6));
  EXPECT_NEAR(nothing[4], 1e-6, 1e-15);
  EXPECT_TRUE(inverse_factor(nothing, 3));
}

}  // namespace
}  // namespace kith
