// SPDX-License-Identifier: Apache-2.0
#include "eval/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kith::eval {
namespace {

TEST(Errors, AreRootMeanSquareMeanSizeAndMiddle) {
  AllErrors e;
  for (const double guess : {1.0, 2.0, 7.0}) e.add(guess, 3.0);  // 2, 1, 4 off
  EXPECT_DOUBLE_EQ(e.rmse(), std::sqrt(21.0 / 3));
  EXPECT_DOUBLE_EQ(e.mae(), 7.0 / 3);
  EXPECT_DOUBLE_EQ(e.median(), 2);
  EXPECT_EQ(AllErrors().median(), 0);
}

TEST(Errors, R2IsWhatOfTheVarianceIsExplained) {
  AllErrors e;
  for (const double y : {1.0, 2.0, 3.0, 6.0}) e.add(y + (y > 2 ? 1 : 0), y);  // squares: 0 0 1 1
  EXPECT_NEAR(e.r2(), 1 - 2.0 / 14, 1e-12);  // about the mean 3: 4 1 0 9
  AllErrors constant;
  constant.add(1, 2);
  EXPECT_TRUE(std::isnan(constant.r2()));
}

// Four rows of two values, by hand.
TEST(Classes, ByHand) {
  Classes c(2);
  const auto add = [&](double p, uint32_t truth) { c.add(std::vector<double>{p, 1 - p}, truth); };
  add(0.95, 0);
  add(0.75, 0);
  add(0.75, 1);
  add(0.25, 1);
  EXPECT_EQ(c.size(), 4u);
  EXPECT_DOUBLE_EQ(c.accuracy(), 0.75);
  EXPECT_NEAR(c.log_loss(), -(std::log(0.95) + 2 * std::log(0.75) + std::log(0.25)) / 4, 1e-12);
  // The first: 2 TP, 1 FP. The second: 1 TP, 1 FN.
  EXPECT_NEAR(c.macro_f1(), (4.0 / 5 + 2.0 / 3) / 2, 1e-12);
  // Sure by .95: one of one. By .75: two of three.
  EXPECT_NEAR(c.calibration_error(), (0.05 + 0.25) / 4, 1e-12);
  // Pairs of a first and a second: .95 over both, .75 over .25 and equal to .75.
  EXPECT_DOUBLE_EQ(c.auc(), 3.5 / 4);
  EXPECT_EQ(c.count(1, 0), 1u);
  EXPECT_EQ(c.count(0, 1), 0u);
}

// As many as there are directors: what is kept grows with their number, not with its square.
TEST(Classes, MayBeMany) {
  constexpr size_t kMany = 1000000;
  Classes c(kMany);
  std::vector<double> p(kMany, 0);
  p[7] = 1;
  c.add(p, 7);
  c.add(p, 999999);
  EXPECT_DOUBLE_EQ(c.accuracy(), 0.5);
  EXPECT_DOUBLE_EQ(c.macro_f1(), (2.0 / 3 + 0) / 2);
}

TEST(Classes, OfMoreThanTwoHaveNoAucAndCountOnlyWhatOccurs) {
  Classes c(4);
  c.add(std::vector<double>{0.7, 0.1, 0.1, 0.1}, 0);
  c.add(std::vector<double>{0.1, 0.7, 0.1, 0.1}, 1);
  EXPECT_TRUE(std::isnan(c.auc()));
  EXPECT_DOUBLE_EQ(c.macro_f1(), 1);
  EXPECT_NEAR(c.calibration_error(), 0.3, 1e-12);
}

TEST(PlaceOf, CountsThoseAboveAndHalfOfTheEquals) {
  const std::vector<float> scores{5, 3, 3, 3, 1, 9};
  EXPECT_EQ(place_of(scores, 1, {}).rank, 3);  // two above, one of two equals
  EXPECT_EQ(place_of(scores, 1, {}).candidates, 6u);
  EXPECT_EQ(place_of(scores, 5, {}).rank, 0);
  const std::vector<uint8_t> skip{1, 0, 1, 1, 0, 0};
  EXPECT_EQ(place_of(scores, 1, skip).rank, 1);
  EXPECT_EQ(place_of(scores, 1, skip).candidates, 3u);
}

TEST(Ranking, OneQuestionByHand) {
  Ranking r(3);
  // Three right answers, at places 0, 2 and 5 of 10.
  const std::vector<double> ranks{0, 2, 5};
  r.add(ranks, 3, 10);
  EXPECT_DOUBLE_EQ(r.recall(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(r.ndcg(), (1 + 1 / std::log2(4)) / (1 + 1 / std::log2(3) + 1 / std::log2(4)));
  EXPECT_DOUBLE_EQ(r.map(), (1.0 + 2.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(r.mrr(), (1 + 1.0 / 3 + 1.0 / 6) / 3);
  EXPECT_DOUBLE_EQ(r.mpr(), 0.7 / 3);
  EXPECT_DOUBLE_EQ(r.hits(1), 1.0 / 3);
  EXPECT_DOUBLE_EQ(r.hits(2), 1.0 / 3) << "the third place is not among two";
  EXPECT_DOUBLE_EQ(r.hits(3), 2.0 / 3);
  EXPECT_DOUBLE_EQ(r.hits(10), 1);
  EXPECT_DOUBLE_EQ(r.median_rank(), 3);
}

TEST(Ranking, PerfectIsOneAndNothingFoundIsZero) {
  Ranking perfect(10), none(10);
  perfect.add(std::vector<double>{0, 1}, 2, 50);
  none.add({}, 2, 50);
  for (const double m : {perfect.recall(), perfect.ndcg(), perfect.map()}) EXPECT_DOUBLE_EQ(m, 1);
  for (const double m : {none.recall(), none.ndcg(), none.map()}) EXPECT_DOUBLE_EQ(m, 0);
}

// What cannot be among the first few does not count against those that are.
TEST(Ranking, MoreRightAnswersThanPlaces) {
  Ranking r(2);
  r.add(std::vector<double>{0, 1, 2, 3, 4}, 5, 10);
  EXPECT_DOUBLE_EQ(r.map(), 1);
  EXPECT_DOUBLE_EQ(r.ndcg(), 1);
  EXPECT_DOUBLE_EQ(r.recall(), 2.0 / 5);
}

TEST(Spearman, IsOneForTheSameOrderAndMinusOneForTheReverse) {
  const std::vector<double> a{1, 2, 3, 4}, b{10, 20, 25, 90}, c{4, 3, 2, 1}, same{1, 1, 1, 1};
  EXPECT_DOUBLE_EQ(spearman(a, b), 1);
  EXPECT_DOUBLE_EQ(spearman(a, c), -1);
  EXPECT_TRUE(std::isnan(spearman(a, same)));
  // Ties share their rank: 1, 2.5, 2.5, 4 against 1, 2, 3, 4.
  EXPECT_NEAR(spearman(std::vector<double>{1, 5, 5, 9}, a), 4.5 / std::sqrt(4.5 * 5), 1e-12);
}

}  // namespace
}  // namespace kith::eval
