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
