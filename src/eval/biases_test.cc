// SPDX-License-Identifier: Apache-2.0
#include "eval/biases.h"

#include <gtest/gtest.h>

namespace kith {
namespace {

// 40 users x 30 items, all rated, without noise: user u adds u / 40, item i takes i / 30 away.
TEST(RatingBaselines, BiasesOfUsersAndItems) {
  Sparse a;
  a.columns = 30;
  for (uint32_t u = 0; u < 40; ++u) {
    for (uint32_t i = 0; i < 30; ++i) {
      a.column.push_back(i);
      a.value.push_back(3 + static_cast<float>(u) / 40 - static_cast<float>(i) / 30);
    }
    a.offsets.push_back(a.column.size());
  }
  const RatingBaselines b(a);
  EXPECT_NEAR(b.mean(), 3 + 39.0 / 80 - 29.0 / 60, 1e-5);
  EXPECT_NEAR(b.predict(10, 20), 3 + 10.0 / 40 - 20.0 / 30, 0.02);  // drawn a little to the mean
  EXPECT_NEAR(b.predict(1000, 0), b.mean() + 29.0 / 60, 0.02) << "an unknown user has no bias";
  EXPECT_EQ(b.predict(1000, 1000), b.mean());
}

// If one side has none, a bias is what is left of n ratings, divided by n and the penalty.
TEST(FitBiases, ThePenaltyCountsAsRatingsThatAreAsUsual) {
  Sparse a;
  a.columns = 3;
  a.offsets = {0, 3, 5, 6};
  a.column = {0, 1, 2, 0, 1, 0};
  a.value = {4, 3, 3, 5, 1, 2};
  constexpr double kNone = 1e12, kMean = 3;
  const Biases items = fit_biases(a, kNone, 5.0), users = fit_biases(a, 5.0, kNone);
  const double of_item[]{(4 + 5 + 2 - 3 * kMean) / 8, (3 + 1 - 2 * kMean) / 7, 0};
  const double of_user[]{(4 + 3 + 3 - 3 * kMean) / 8, 0, (2 - kMean) / 6};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(items.item[i], of_item[i], 1e-6) << i;
    EXPECT_NEAR(users.user[i], of_user[i], 1e-6) << i;
  }
}

TEST(RatingBaselines, StayWithinTheRange) {
  Sparse a;
  a.columns = 2;
  a.offsets = {0, 2, 4};
  a.column = {0, 1, 0, 1};
  a.value = {1, 1, 1, 5};
  const RatingBaselines b(a);
  for (uint32_t u = 0; u < 2; ++u) {
    for (uint32_t i = 0; i < 2; ++i) {
      EXPECT_GE(b.predict(u, i), 1);
      EXPECT_LE(b.predict(u, i), 5);
    }
  }
}

}  // namespace
}  // namespace kith
