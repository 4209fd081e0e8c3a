// SPDX-License-Identifier: Apache-2.0
#include "data/holdout.h"

#include <gtest/gtest.h>

namespace kith {
namespace {

TEST(HoldOut, TakesTheShareThatWasAskedFor) {
  for (const double share : {0.0, 0.01, 0.3, 1.0}) {
    const HoldOut held(share);
    int taken = 0;
    for (uint64_t key = 1; key <= 100'000; ++key) taken += held.takes(key);
    // Four standard deviations of 100,000 draws are 580 at most.
    EXPECT_NEAR(taken, share * 100'000, 600) << share;
  }
}

TEST(HoldOut, ALargerShareTakesTheSameAndMore) {
  const HoldOut few(0.1), many(0.3);
  for (uint64_t key = 1; key < 10'000; ++key) EXPECT_LE(few.takes(key), many.takes(key));
}

TEST(HoldOut, AnotherSeedTakesOthers) {
  const HoldOut a(0.5, 1), b(0.5, 2);
  int both = 0;
  for (uint64_t key = 1; key <= 10'000; ++key) both += a.takes(key) && b.takes(key);
  EXPECT_NEAR(both, 2500, 250);
}

TEST(HoldOut, ASettingIsAShareOrANumber) {
  EXPECT_EQ(HoldOut::wanted(std::nullopt, 1000, 10), 10u);
  EXPECT_EQ(HoldOut::wanted(0.05, 1000, 10), 50u);
  EXPECT_EQ(HoldOut::wanted(200, 1000, 10), 200u);
  EXPECT_EQ(HoldOut::wanted(0.0, 1000, 10), 0u);
  EXPECT_EQ(HoldOut::wanted(5000, 1000, 10), 500u) << "something must be left to learn from";
}

}  // namespace
}  // namespace kith
