// SPDX-License-Identifier: Apache-2.0
#include "eval/label_scores.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kith::eval {
namespace {

using Ids = std::vector<uint32_t>;

// Counted by hand. Label 0: TP 1, FP 1, FN 1; label 1: TP 2, FP 0, FN 0; label 2: TP 0, FN 1.
LabelScores small() {
  LabelScores s(4);
  s.add(Ids{0}, Ids{0}, 0.5);
  s.add(Ids{0, 1}, Ids{1}, 0.25);
  s.add(Ids{2}, Ids{0, 1}, 1);
  return s;
}

TEST(LabelScores, OfEachLabel) {
  LabelScores s = small();
  EXPECT_EQ(s.texts(), 3u);
  const auto first = s.of(0).rates();
  EXPECT_DOUBLE_EQ(first.precision, 0.5);
  EXPECT_DOUBLE_EQ(first.recall, 0.5);
  EXPECT_DOUBLE_EQ(first.f1, 0.5);
  const auto second = s.of(1).rates();
  EXPECT_DOUBLE_EQ(second.precision, 0.5);
  EXPECT_DOUBLE_EQ(second.recall, 1);
  EXPECT_DOUBLE_EQ(second.f1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(s.of(2).rates().f1, 0);
}

// Label 3 never occurs, and is not in the means.
TEST(LabelScores, OfAllLabels) {
  const LabelScores s = small();
  EXPECT_DOUBLE_EQ(s.micro().precision, 2.0 / 4);
  EXPECT_DOUBLE_EQ(s.micro().recall, 2.0 / 4);
  EXPECT_DOUBLE_EQ(s.macro().precision, (0.5 + 0.5 + 0) / 3);
  EXPECT_DOUBLE_EQ(s.macro().recall, (0.5 + 1 + 0) / 3);
  EXPECT_DOUBLE_EQ(s.macro().f1, (0.5 + 2.0 / 3 + 0) / 3);
  EXPECT_DOUBLE_EQ(s.accuracy(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(s.exact(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(s.log_loss(), (std::log(2) + std::log(4)) / 3);
}

TEST(LabelScores, NothingIsNoScore) {
  LabelScores s(2);
  EXPECT_EQ(s.micro().f1, 0);
  EXPECT_EQ(s.macro().f1, 0);
  EXPECT_EQ(s.accuracy(), 0);
  s.add(Ids{1}, {}, 0);  // no guess at all, and no hope
  EXPECT_EQ(s.accuracy(), 0);
  EXPECT_NEAR(s.log_loss(), 34.5, 0.1);
}

}  // namespace
}  // namespace kith::eval
