// SPDX-License-Identifier: Apache-2.0
#include "train/residual.h"

#include <gtest/gtest.h>

#include "train/noise_level.h"
#include "train/test_matrices.h"

namespace kith {
namespace {

using test::random_matrix;

TEST(Residual, IsTheSameByUserAndByItemAndForAnyThreads) {
  const Sparse ratings = test::sampled(random_matrix(400, 150, 1), 0.4, 2);
  const Matrix user = random_matrix(400, 5, 3), item = random_matrix(150, 5, 4);
  Residual residual(ratings);
  const double squares = residual.update(user, item, 0.25, Context(1));
  double sum = 0;
  for (uint32_t u = 0; u < 400; ++u) {
    const Sparse::Row row = ratings.row(u), left = residual.by_user().row(u);
    for (size_t i = 0; i < row.size(); ++i) {
      const double truth = row.values[i] - 0.25 - test::dot(user, u, item, row.columns[i]);
      ASSERT_NEAR(left.values[i], truth, 1e-5);
      sum += truth * truth;
    }
  }
  EXPECT_NEAR(squares, sum, 1e-5 * sum);
  EXPECT_EQ(transposed(residual.by_user()).value, residual.by_item().value);
  for (const int threads : {2, 8}) {
    const Context job(threads);
    Residual again(ratings);
    EXPECT_EQ(again.update(user, item, 0.25, job), squares);
    EXPECT_EQ(again.by_user().value, residual.by_user().value);
  }
  double products = 0;
  for (uint32_t u = 0; u < 400; ++u) {
    for (const uint32_t i : ratings.row(u).columns) {
      products += std::pow(test::dot(user, u, item, i), 2);
    }
  }
  EXPECT_NEAR(observed_square(ratings, user, item, Context(1)), products, 1e-5 * products);
}

// Noise of deviation s in all of n x m entries has a largest singular value of s (sqrt n + sqrt m),
// nearly; a large value that rows and columns share does not count.
TEST(NoiseLevel, SeesNoiseAndNotWhatGoesTogether) {
  Matrix a = random_matrix(300, 200, 5);
  const double expected = std::sqrt(300.0) + std::sqrt(200.0);
  const Sparse noise = test::sampled(a, 1, 1);
  EXPECT_NEAR(largest_singular_value(noise, Context(1)), expected, 0.06 * expected);
  EXPECT_NEAR(noise_level(noise, 1, Context(1)), expected, 0.06 * expected);
  for (size_t r = 0; r < 300; ++r) {
    for (float& x : a.row(r)) x = 2;
  }
  const Sparse same = test::sampled(a, 1, 1);
  EXPECT_NEAR(largest_singular_value(same, Context(1)), 2 * std::sqrt(300.0 * 200.0), 0.1);
  EXPECT_NEAR(noise_level(same, 1, Context(1)), 2 * expected, 0.12 * expected);
}

}  // namespace
}  // namespace kith
