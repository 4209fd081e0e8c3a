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
