// SPDX-License-Identifier: Apache-2.0
#include "kith/score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/test_models.h"

namespace kith::test {
namespace {

// Rows like those of training, and in the middle a city of Italy that stands in Japan.
std::string with_an_odd_row(const TestFolder& folder) {
  std::string rows = places_table(60, 5);
  rows += place_line("odd", {.country = 1, .city = 0, .twin = 1, .tag = 0, .year = 2}, "Japan");
  rows += places_table(20, 6).substr(kPlacesHeader.size());
  return folder.write("rows.csv", rows);
}

TEST(Score, AnOddRowComesFirstWithWhatIsOddAboutIt) {
  const TestFolder folder;
  const auto rows =
      score_rows(places(), {with_an_odd_row(folder)}, {.name = "id"}, {}, two_threads());
  ASSERT_EQ(rows.size(), 20u);
  const ScoredRow& odd = rows.front();
  EXPECT_EQ(odd.name, "odd");
  // Seven columns, each with each.
  EXPECT_EQ(odd.pairs.size(), 21u);
  const auto oddest = std::ranges::max_element(odd.pairs, {}, &ScoredRow::Pair::odd);
  expect_part("country", oddest->columns);
  EXPECT_LT(oddest->score, oddest->usual);
}

TEST(Score, PairsAddUpToTheScoreOfTheRow) {
  const TestFolder folder;
  for (const ScoredRow& row :
       score_rows(places(), {with_an_odd_row(folder)}, {.all = true}, {}, two_threads())) {
    double score = 0, odd = 0;
    for (const ScoredRow::Pair& p : row.pairs) {
      score += p.score;
      odd += p.odd;
    }
    EXPECT_NEAR(score, row.score, 1e-9) << row.name;
    EXPECT_NEAR(odd / std::sqrt(static_cast<double>(row.pairs.size())), row.odd, 1e-9) << row.name;
  }
}

// Over all rows what is odd about a pair has mean 0 and variance 1.
TEST(Score, OddIsInStandardDeviations) {
  const TestFolder folder;
  const auto rows =
      score_rows(places(), {with_an_odd_row(folder)}, {.all = true}, {}, two_threads());
  double sum = 0, squares = 0, scores = 0;
  for (const ScoredRow& row : rows) {
    sum += row.pairs[1].odd;
    squares += std::pow(row.pairs[1].odd, 2);
    scores += row.pairs[1].score;
  }
  const auto n = static_cast<double>(rows.size());
  EXPECT_EQ(rows[0].pairs[1].columns, "city x country");
  EXPECT_NEAR(sum / n, 0, 1e-6);
  EXPECT_NEAR(squares / n, 1, 1e-6);
  EXPECT_NEAR(scores / n, rows[0].pairs[1].usual, 1e-6);
}

TEST(Score, AllIsEveryRowInTheOrderOfTheFile) {
  const TestFolder folder;
  const std::string file = with_an_odd_row(folder);
  const auto rows = score_rows(places(), {file}, {.name = "id", .all = true}, {}, two_threads());
  ASSERT_EQ(rows.size(), 81u);
  EXPECT_EQ(rows[0].name, "p0");
  EXPECT_EQ(rows[60].name, "odd");
  EXPECT_EQ(rows[61].name, "p0");
  // The best of them come first without it.
  const auto some = score_rows(places(), {file}, {.top = 3, .name = "id"}, {}, two_threads());
  ASSERT_EQ(some.size(), 3u);
  EXPECT_EQ(some[0].odd, std::ranges::max(rows, {}, &ScoredRow::odd).odd);
  EXPECT_GE(some[0].odd, some[1].odd);
  EXPECT_GE(some[1].odd, some[2].odd);
}

TEST(Score, ARowIsCalledByItsPlaceIfNoColumnNamesIt) {
  const TestFolder folder;
  const std::string file = with_an_odd_row(folder);
  EXPECT_EQ(score_rows(places(), {file}, {.top = 1}, {}, two_threads()).front().name, file + ":62");
  expect_part("has no column idd; did you mean id?", usage_error([&] {
                score_rows(places(), {file}, {.name = "idd"}, {}, two_threads());
              }));
}

TEST(Score, MissingCellsHaveNoPairs) {
  const TestFolder folder;
  const std::string file = folder.write("rows.csv", "city#country#year\nRome#Italy#\nLima##1960\n");
  const Settings reading{text("delimiter", "#")};
  const auto rows = score_rows(places(), {file}, {.all = true}, reading, two_threads());
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_EQ(rows[0].pairs.size(), 1u);
  EXPECT_EQ(rows[0].pairs[0].columns, "city x country");
  ASSERT_EQ(rows[1].pairs.size(), 1u);
  EXPECT_EQ(rows[1].pairs[0].columns, "city x year");
}

TEST(Score, TellsWhatItCouldNotRead) {
  const TestFolder folder;
  Events events;
  score_rows(places(), {folder.write("rows.csv", "city,year\nRome,soon\n")}, {}, {}, two_threads(),
             &events);
  EXPECT_TRUE(events.noted("\"soon\" is not a number and counts as missing"));
}

TEST(Score, IsForModelsThatCompleteRows) {
  EXPECT_EQ(usage_error([] { score_rows(ratings(), {ratings_file()}, {}, {}, two_threads()); }),
            "score is for models that complete rows of a table; " + ratings().path() +
                " holds als, which does not");
}

TEST(Score, StopsWhenItIsCancelled) {
  Context context(1);
  context.cancel();
  message_of(ErrorKind::kCancelled,
             [&] { score_rows(places(), {places_file()}, {}, {}, context); });
}

}  // namespace
}  // namespace kith::test
