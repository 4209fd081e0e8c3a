// SPDX-License-Identifier: Apache-2.0
#include "models/ratings/row_means.h"

#include <gtest/gtest.h>

#include "models/ratings/test_ratings.h"

namespace kith {
namespace {

TEST(RowMeans, ChoicesAreHowManyAndEqualParts) {
  Sparse ratings;  // of three rows: two ratings, none, one
  ratings.columns = 3;
  ratings.offsets = {0, 2, 2, 3};
  ratings.column = {0, 2, 1};
  ratings.value = {5, 1, 3};
  const RowFeatures f = with_choices(test::grouped(3, 2), ratings);
  EXPECT_EQ(f.ends, (std::vector<uint32_t>{2, 3, 6}));
  EXPECT_EQ(f.features.columns, 6u);
  const Sparse::Row first = f.features.row(0), second = f.features.row(1),
                    third = f.features.row(2);
  ASSERT_EQ(first.size(), 4u);  // its group, how many, two choices
  EXPECT_NEAR(first.values[1], 1, 1e-5) << "log(1 + n) in standard units, of two rows: 1 and -1";
  EXPECT_EQ(first.columns[2], 3u);
  EXPECT_EQ(first.columns[3], 5u);
  EXPECT_NEAR(first.values[2], std::sqrt(0.5), 1e-6) << "whatever the rating";
  EXPECT_EQ(first.values[2], first.values[3]);
  EXPECT_EQ(second.size(), 1u) << "the group alone";
  ASSERT_EQ(third.size(), 3u);
  EXPECT_NEAR(third.values[1], -1, 1e-5);
  EXPECT_EQ(third.values[2], 1);
}

// One rating of one thing in each row but the last.
Sparse one_each(uint32_t rows) {
  Sparse out;
  out.columns = 1;
  for (uint32_t r = 0; r < rows; ++r) {
    if (r + 1 < rows) {
      out.column.push_back(0);
      out.value.push_back(1);
    }
    out.offsets.push_back(out.column.size());
  }
  return out;
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
  const MeansFit fit(test::grouped(kRows, 2), one_each(kRows), false, weights);
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
  const MeansFit fit(ratings.item_features(), by_item, true, std::vector<float>(40, 1.0f));
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
  const MeansFit fit({}, one_each(4), false, std::vector<float>(4, 1.0f));
  EXPECT_EQ(fit.features(), 0u);
  RowMeans means;
  fit.start(means, 3);
  EXPECT_FALSE(means.features);
  EXPECT_TRUE(means.of({}, 0).empty());
}

}  // namespace
}  // namespace kith
