// SPDX-License-Identifier: Apache-2.0
#include "models/ratings/row_means.h"

#include <gtest/gtest.h>

#include "models/ratings/test_ratings.h"

namespace kith {
namespace {

// F as numbers, by what it makes of each feature alone.
Matrix numbers_of(const FeatureRows& f) {
  Matrix one(f.cols(), f.cols());
  for (size_t k = 0; k < f.cols(); ++k) one.row(k)[k] = 1;
  return f.multiply(one, Context(1));
}

TEST(RowMeans, ChoicesAreHowManyAndEqualParts) {
  Sparse ratings;  // of three rows: two ratings, none, one
  ratings.columns = 3;
  ratings.offsets = {0, 2, 2, 3};
  ratings.column = {0, 2, 1};
  ratings.value = {5, 1, 3};
  const RowFeatures columns = test::grouped(3, 2);
  const Sparse by_other = transposed(ratings);
  const FeatureRows f(columns, ratings, by_other, true);
  EXPECT_EQ(f.ends(), (std::vector<uint32_t>{2, 3, 6}));
  const auto half = static_cast<float>(std::sqrt(0.5));
  // The group; log(1 + n) in standard units, of two rows 1 and -1; parts, whatever the rating.
  const std::vector<std::vector<float>> expected{
      {1, 0, 1, half, 0, half}, {0, 1, 0, 0, 0, 0}, {1, 0, -1, 0, 1, 0}};
  const Matrix numbers = numbers_of(f);
  for (size_t r = 0; r < 3; ++r) {
    for (size_t k = 0; k < 6; ++k) EXPECT_NEAR(numbers.row(r)[k], expected[r][k], 1e-5) << r << k;
  }
  EXPECT_TRUE(f.has_ratings(0));
  EXPECT_FALSE(f.has_ratings(1));
}

// F^T and the diagonal of F^T W F are what the numbers of F say.
TEST(RowMeans, TheTransposeIsThatOfTheNumbers) {
  test::Grouped planted{.users = 60, .items = 40};
  const Ratings ratings = planted.ratings(true);
  const Sparse by_item = transposed(ratings.train());
  for (const bool choices : {true, false}) {
    const FeatureRows f(ratings.item_features(), by_item, ratings.train(), choices);
    const Matrix numbers = numbers_of(f);
    Matrix one(40, 40);
    for (size_t k = 0; k < 40; ++k) one.row(k)[k] = 1;
    const Matrix back = f.multiply_transposed(one, Context(3));
    std::vector<float> weights(40);
    for (size_t r = 0; r < 40; ++r) weights[r] = static_cast<float>(r);
    const std::vector<float> diagonal = f.diagonal(weights);
    for (size_t k = 0; k < f.cols(); ++k) {
      double sum = 0;
      for (size_t r = 0; r < 40; ++r) {
        EXPECT_EQ(back.row(k)[r], numbers.row(r)[k]) << r << " " << k;
        sum += weights[r] * std::pow(numbers.row(r)[k], 2);
      }
      EXPECT_NEAR(diagonal[k], sum, 1e-3 * (1 + sum)) << k;
    }
  }
}

// What is said of a group is its weighted mean, drawn to 0 by beta.
TEST(RowMeans, AGroupIsItsWeightedMean) {
  constexpr uint32_t kRows = 7;  // groups 0 1 0 1 0 1 0; the last has no rating
  const std::vector<float> weights{1, 2, 3, 4, 5, 6, 100}, x{1, 2, 3, 4, 5, 6, 100};
  Matrix rows(kRows, 3);
  for (uint32_t r = 0; r < kRows; ++r) {
    rows.row(r)[0] = x[r];
    rows.row(r)[1] = -x[r];
    rows.row(r)[2] = 1;  // not learned
  }
  const RowFeatures columns = test::grouped(kRows, 2);
  const Sparse ratings = test::one_each(kRows, 1), by_other = transposed(ratings);
  const MeansFit fit(FeatureRows(columns, ratings, by_other, false), weights);
  RowMeans means;
  fit.start(means, 3);
  const double beta = 2, mean = (1 + 2 + 3 + 4 + 5 + 6) / 6.0;
  for (int step = 0; step < 3; ++step) fit.fit(rows, 2, beta, Context(1), means);
  const Matrix all = fit.means(means, Context(1));
  const double first = (1 * 1 + 3 * 3 + 5 * 5) / mean / ((1 + 3 + 5) / mean + beta);
  const double second = (2 * 2 + 4 * 4 + 6 * 6) / mean / ((2 + 4 + 6) / mean + beta);
  for (uint32_t r = 0; r < kRows; ++r) {
    EXPECT_NEAR(all.row(r)[0], r % 2 ? second : first, 1e-4) << r;
    EXPECT_NEAR(all.row(r)[1], r % 2 ? -second : -first, 1e-4) << r;
    EXPECT_EQ(all.row(r)[2], 0);
  }
}

TEST(RowMeans, ARowThatComesAgainIsToldTheSame) {
  test::Grouped planted{.users = 60, .items = 40};
  const Ratings ratings = planted.ratings(true);
  const Sparse by_item = transposed(ratings.train());
  const MeansFit fit(FeatureRows(ratings.item_features(), by_item, ratings.train(), true),
                     std::vector<float>(40, 1.0f));
  RowMeans means;
  fit.start(means, 4);
  for (size_t r = 0; r < means.effects.rows(); ++r) {
    for (size_t k = 0; k < 4; ++k) means.effects.row(r)[k] = static_cast<float>(r % 7 + k);
  }
  const auto expect_told = [&] {
    const Matrix all = fit.means(means, Context(1));
    for (uint32_t r = 0; r < 40; ++r) {
      const std::vector<float> told = means.of(by_item.row(r), r);
      for (size_t k = 0; k < 4; ++k) EXPECT_NEAR(told[k], all.row(r)[k], 1e-4) << r;
    }
  };
  expect_told();
  const std::vector<float> known = means.of(by_item.row(3), 3);
  EXPECT_NE(known, means.of(by_item.row(3), std::nullopt)) << "its group is not known";
  means.grow(45, 70);
  EXPECT_EQ(means.features, 6u + 1 + 70);
  EXPECT_EQ(means.of(by_item.row(3), 3), known);
  const std::vector<uint32_t> newcomer{65};
  const std::vector<float> five{5};
  const std::vector<float> told = means.of({newcomer, five}, 44);
  const auto count = means.effects.row(6);
  for (size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(told[k], means.counts.scaled(1) * count[k], 1e-5) << "of what came later nothing";
  }
}

TEST(RowMeans, NothingKnownSaysNothing) {
  const RowFeatures none;
  const Sparse ratings = test::one_each(4), by_other = transposed(ratings);
  const MeansFit fit(FeatureRows(none, ratings, by_other, false), std::vector<float>(4, 1.0f));
  EXPECT_EQ(fit.features(), 0u);
  RowMeans means;
  fit.start(means, 3);
  EXPECT_FALSE(means.features);
  EXPECT_TRUE(means.of({}, 0).empty());
}

}  // namespace
}  // namespace kith
