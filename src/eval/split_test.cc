// SPDX-License-Identifier: Apache-2.0
#include "eval/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "data/ratings/rating_columns.h"
#include "data/table/test_tables.h"

namespace kith {
namespace {

// Users rate from 1 to 40 items, at times of which many are equal.
Ratings some_ratings() {
  std::string text;
  Rng rng(5, 0);
  for (int u = 0; u < 200; ++u) {
    const int n = 1 + u % 40;
    for (int i = 0; i < n; ++i) {
      text += fmt::format("u{},i{},{},{}\n", u, (i * 7 + u) % 97, rng.below(5), rng.below(50));
    }
  }
  const TestFolder folder;
  const auto reader = open_ratings({folder.write("r", text)}, {}, {});
  return Ratings::read(*reader, {}, 0, true);
}

std::set<std::tuple<uint32_t, uint32_t, float>> entries(const Sparse& a) {
  std::set<std::tuple<uint32_t, uint32_t, float>> out;
  for (uint32_t u = 0; u < a.rows(); ++u) {
    for (size_t i = 0; i < a.row(u).size(); ++i) {
      out.emplace(u, a.row(u).columns[i], a.row(u).values[i]);
    }
  }
  return out;
}

// Both parts have the shape of the whole, and together are the whole.
void expect_parts(const Split& s, const Sparse& whole) {
  EXPECT_EQ(s.train.rows(), whole.rows());
  EXPECT_EQ(s.test.rows(), whole.rows());
  EXPECT_EQ(s.train.columns, whole.columns);
  EXPECT_EQ(s.test.columns, whole.columns);
  auto all = entries(s.train);
  all.merge(entries(s.test));
  EXPECT_EQ(all, entries(whole));
  EXPECT_EQ(s.train.size() + s.test.size(), whole.size());
}

// Of what is trained on: what is tested is later, and has no say.
TEST(Split, TheLatestItemsAreThoseOfTheLastRatingsOfTraining) {
  std::string text;
  for (int n = 0; n < 100; ++n) text += fmt::format("u{},i{},1,{}\n", n % 7, n, 1000 + n);
  const TestFolder folder;
  const auto reader = open_ratings({folder.write("r", text)}, {}, {});
  const Ratings r = Ratings::read(*reader, {}, 0, true);
  const Split s = split(r, SplitBy::kTime, 0.2, 1);
  std::set<std::string> items;
  for (const uint32_t i : latest_items(r, s.train, 0.1)) items.emplace(r.items()[i]);
  EXPECT_EQ(items, (std::set<std::string>{"i72", "i73", "i74", "i75", "i76", "i77", "i78", "i79"}));
}

TEST(Split, EveryKindIsWholeAndRepeatable) {
  const Ratings r = some_ratings();
  for (const SplitBy by : {SplitBy::kRandom, SplitBy::kUser, SplitBy::kTime, SplitBy::kUserTime}) {
    const Split a = split(r, by, 0.2, 1);
    expect_parts(a, r.train());
    EXPECT_EQ(entries(a.test), entries(split(r, by, 0.2, 1).test));
    EXPECT_NE(entries(a.test), entries(split(r, by, 0.2, 2).test));
  }
}

TEST(Split, RandomTakesExactlyTheShare) {
  const Ratings r = some_ratings();
  const auto n = static_cast<double>(r.train().size());
  EXPECT_EQ(split(r, SplitBy::kRandom, 0.25, 1).test.size(), std::llround(0.25 * n));
  // Any rating as likely as any other: over 200 seeds the first one is drawn about 50 times.
  int drawn = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    drawn += split(r, SplitBy::kRandom, 0.25, seed).test.row(0).size() > 0;
  }
  EXPECT_NEAR(drawn, 50, 4 * std::sqrt(200 * 0.25 * 0.75));
}

TEST(Split, ByUserLeavesEachSomething) {
  const Ratings r = some_ratings();
  for (const SplitBy by : {SplitBy::kUser, SplitBy::kUserTime}) {
    for (const double share : {0.1, 0.5, 0.99}) {
      const Split s = split(r, by, share, 1);
      for (uint32_t u = 0; u < r.train().rows(); ++u) {
        const auto n = static_cast<double>(r.train().row(u).size());
        EXPECT_GE(s.train.row(u).size(), 1u);
        const auto tested = static_cast<double>(s.test.row(u).size());
        EXPECT_LE(tested, std::ceil(share * n));
        EXPECT_GE(tested, std::min(std::floor(share * n), n - 1));
      }
    }
  }
}

// The fraction of a rating that a share of few ratings is: by chance, so that all of them together
// give the share.
TEST(Split, ByUserUsersOfFewRatingsAreTestedAsOftenAsOthers) {
  const Ratings r = some_ratings();
  for (const SplitBy by : {SplitBy::kUser, SplitBy::kUserTime}) {
    const Split s = split(r, by, 0.1, 1);
    double tested = 0, expected = 0, variance = 0;
    for (uint32_t u = 0; u < r.train().rows(); ++u) {
      const size_t n = r.train().row(u).size();
      if (n < 2 || n >= 10) continue;  // a tenth of them is less than one rating
      tested += static_cast<double>(s.test.row(u).size());
      expected += 0.1 * static_cast<double>(n);
      variance += 0.1 * static_cast<double>(n) * (1 - 0.1 * static_cast<double>(n));
    }
    EXPECT_GT(expected, 4 * std::sqrt(variance));
    EXPECT_NEAR(tested, expected, 4 * std::sqrt(variance));
  }
}

TEST(Split, ByTimeTestsTheLast) {
  const Ratings r = some_ratings();
  const auto time_of = [&](uint32_t u, uint32_t item) {
    const auto columns = r.train().row(u).columns;
    const auto at = std::ranges::find(columns, item) - columns.begin();
    return r.times()[r.train().offsets[u] + static_cast<uint64_t>(at)];
  };
  const Split all = split(r, SplitBy::kTime, 0.3, 1);
  EXPECT_EQ(all.test.size(), std::llround(0.3 * static_cast<double>(r.train().size())));
  int64_t last_trained = -1, first_tested = 1000;
  for (const auto& [u, i, v] : entries(all.train)) {
    last_trained = std::max(last_trained, time_of(u, i));
  }
  for (const auto& [u, i, v] : entries(all.test)) {
    first_tested = std::min(first_tested, time_of(u, i));
  }
  EXPECT_LE(last_trained, first_tested);
  const Split each = split(r, SplitBy::kUserTime, 0.3, 1);
  for (uint32_t u = 0; u < r.train().rows(); ++u) {
    for (const uint32_t tested : each.test.row(u).columns) {
      for (const uint32_t trained : each.train.row(u).columns) {
        EXPECT_GE(time_of(u, tested), time_of(u, trained));
      }
    }
  }
}

TEST(Split, TimesMustBeThere) {
  const Ratings r = some_ratings().with({}, {});
  const Ratings timeless = r.with(some_ratings().train(), {});
  expect_part("--time",
              message_of(ErrorKind::kUsage, [&] { split(timeless, SplitBy::kTime, 0.1, 1); }));
}

TEST(Split, FoldsAreAllRatingsOnce) {
  const Ratings r = some_ratings();
  for (const SplitBy by : {SplitBy::kRandom, SplitBy::kUser}) {
    for (const int folds : {2, 5}) {
      std::set<std::tuple<uint32_t, uint32_t, float>> tested;
      for (int f = 0; f < folds; ++f) {
        const Split s = fold_of(r, by, folds, f, 3);
        expect_parts(s, r.train());
        const auto part = entries(s.test);
        EXPECT_NEAR(static_cast<double>(part.size()), static_cast<double>(r.train().size()) / folds,
                    by == SplitBy::kRandom ? 1.0 : 60.0);  // by user: a rating for each of 200
        for (const auto& e : part) EXPECT_TRUE(tested.insert(e).second) << "tested twice";
        for (uint32_t u = 0; by == SplitBy::kUser && u < s.train.rows(); ++u) {
          EXPECT_GE(s.train.row(u).size(), 1u);
        }
      }
      if (by == SplitBy::kRandom) {
        EXPECT_EQ(tested, entries(r.train()));
      }
    }
  }
  EXPECT_THROW(fold_of(r, SplitBy::kTime, 5, 0, 1), Error);
}

std::set<std::pair<std::string, std::string>> named_pairs(const Ratings& r, const Sparse& a) {
  std::set<std::pair<std::string, std::string>> out;
  for (uint32_t u = 0; u < a.rows(); ++u) {
    for (const uint32_t i : a.row(u).columns) out.emplace(r.users()[u], r.items()[i]);
  }
  return out;
}

// What training holds out of a part is what it would hold out of the file, in whatever order.
TEST(HeldApart, IsWhatReadingHoldsOutInAnyOrder) {
  const TestFolder folder;
  std::vector<std::string> lines;
  for (int k = 0; k < 400; ++k) lines.push_back(fmt::format("u{},i{},3\n", k % 37, k % 41));
  const auto read = [&](double holdout) {
    const std::string text = std::accumulate(lines.begin(), lines.end(), std::string());
    const auto reader = open_ratings({folder.write("r", text)}, {}, {});
    return Ratings::read(*reader, {}, holdout, false);
  };
  const Ratings truth = read(0.25);
  const auto expected = named_pairs(truth, truth.held_out());
  EXPECT_NEAR(static_cast<double>(expected.size()), 100, 35);  // four deviations
  for (int order = 0; order < 2; ++order) {
    Ratings all = read(0);
    all.hold_out_later(0.25);
    const Ratings parts = held_apart(all);
    EXPECT_EQ(named_pairs(parts, parts.held_out()), expected);
    EXPECT_EQ(parts.train().size() + parts.held_out().size(), 400u);
    std::ranges::reverse(lines);
  }
}

}  // namespace
}  // namespace kith
