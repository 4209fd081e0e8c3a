// SPDX-License-Identifier: Apache-2.0
#include "eval/calibrated_loss.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kith::eval {
namespace {

using Row = std::vector<float>;
constexpr uint32_t kFirst[] = {0}, kSecond[] = {1}, kBoth[] = {0, 1};

// 3 of 4 texts are of the first label. Whatever is said of all of them, the best is .75.
TEST(CalibratedLoss, TheRightPowerMakesProbabilitiesTrue) {
  const double truth = -0.75 * std::log(0.75) - 0.25 * std::log(0.25);
  for (const float said : {0.6f, 0.75f, 0.99f, 0.9999f}) {
    CalibratedLoss loss(2, true), alone(1, false);
    for (int i = 0; i < 4; ++i) {
      loss.add(Row{said, 1 - said}, i < 3 ? kFirst : kSecond);
      alone.add(Row{said}, i < 3 ? std::span<const uint32_t>(kFirst) : std::span<const uint32_t>());
    }
    EXPECT_NEAR(loss.best(), truth, 1e-5) << said;
    EXPECT_NEAR(alone.best(), truth, 1e-5) << said;
    EXPECT_NEAR(loss.at(1), -0.75 * std::log(said) - 0.25 * std::log(1 - said), 1e-4) << said;
  }
}

TEST(CalibratedLoss, SeveralLabels) {
  CalibratedLoss one(3, true), each(3, false);
  one.add(Row{0.5f, 0.3f, 0.2f}, kBoth);
  each.add(Row{0.5f, 0.3f, 0.2f}, kBoth);
  EXPECT_NEAR(one.at(1), -(std::log(0.5) + std::log(0.3)) / 2, 1e-6);
  EXPECT_NEAR(each.at(1), -std::log(0.5) - std::log(0.3) - std::log(0.8), 1e-6);
}

// A model that is right, whatever it says, has next to no loss; 0 and 1 are no numbers to fear.
TEST(CalibratedLoss, SureOfWhatIsRight) {
  CalibratedLoss loss(2, true), each(2, false);
  loss.add(Row{1, 0}, kFirst);
  loss.add(Row{0.4f, 0.6f}, kSecond);
  each.add(Row{1, 0}, kFirst);
  EXPECT_LT(loss.best(), 0.01);
  EXPECT_LT(each.best(), 1e-4);
  CalibratedLoss wrong(2, true);
  wrong.add(Row{1, 0}, kSecond);
  EXPECT_TRUE(std::isfinite(wrong.best()));
}

}  // namespace
}  // namespace kith::eval
