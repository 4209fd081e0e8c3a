// SPDX-License-Identifier: Apache-2.0
#include "kith/recovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "api/test_models.h"

namespace kith::test {
namespace {

constexpr RecoveryOptions kSmall{.size = 20, .ranks = 2, .shares = 5, .trials = 1};

RecoveryMap map_of(const RecoveryOptions& options, int threads = 2) {
  return recovery_map(options, Context(threads));
}

double total(const RecoveryMap& map) {
  return std::accumulate(map.success.begin(), map.success.end(), 0.0);
}

// 39 numbers determine a matrix of 20 x 20 and rank 1, 76 one of rank 2; of 400 entries.
TEST(Recovery, TheBoundCountsDegreesOfFreedom) {
  RecoveryMap map;
  map.n = 20;
  EXPECT_DOUBLE_EQ(map.bound(1), 39.0 / 400);
  EXPECT_DOUBLE_EQ(map.bound(2), 76.0 / 400);
  EXPECT_DOUBLE_EQ(map.bound(20), 1);
}

TEST(Recovery, SucceedsFarAboveTheBoundAndNeverBelow) {
  for (const RecoveryMethod method : {RecoveryMethod::kSvp, RecoveryMethod::kNuclear}) {
    RecoveryOptions options = kSmall;
    options.method = method;
    const RecoveryMap map = map_of(options);
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(map.at(k, 4), 1) << detail::show(method);  // all entries
      for (size_t s = 0; s < 5; ++s) {
        if (map.shares[s] < map.bound(static_cast<double>(k + 1))) {
          EXPECT_EQ(map.at(k, s), 0);
        }
      }
    }
    EXPECT_EQ(map.at(0, 3), 1) << detail::show(method);
  }
}

// A cell for each rank and share, and five in the legend, on one sheet of white.
TEST(Recovery, ThePlotHasACellForEachRankAndShare) {
  const RecoveryOptions options{.size = 8, .ranks = 2, .shares = 4, .trials = 7};
  const RecoveryMap map{.n = 8,
                        .ranks = {1, 2},
                        .shares = {0.25, 0.5, 0.75, 1},
                        .success = {0, 1, 1, 1, 0, 0, 0.5, 1},
                        .incoherence = {1, 1}};
  const std::string svg = recovery_plot(map, options);
  size_t cells = 0;
  for (size_t at = 0; (at = svg.find("<rect", at)) != std::string::npos; ++at) ++cells;
  EXPECT_EQ(cells, 8u + 5 + 1);
  for (const char* part : {"rank 2, 75 % of the entries: 50 % recovered", ">of 7<", "8 × 8"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
}

TEST(Recovery, TheMapHasTheSizeThatWasAskedFor) {
  const RecoveryMap map = map_of({.size = 8, .ranks = 3, .shares = 4, .trials = 2});
  EXPECT_EQ(map.n, 8u);
  EXPECT_EQ(map.ranks, (std::vector<size_t>{1, 2, 3}));
  EXPECT_EQ(map.shares, (std::vector<double>{0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(map.success.size(), 12u);
  EXPECT_EQ(map.incoherence.size(), 3u);
  // No matrix of 4 x 4 has a higher rank.
  EXPECT_EQ(map_of({.size = 4, .ranks = 9, .shares = 2, .trials = 1}).ranks.size(), 4u);
}

// With several matrices for each point, some succeed and some do not.
TEST(Recovery, SuccessIsAShareOfTheTrials) {
  const RecoveryMap map = map_of({.size = 16, .ranks = 3, .shares = 10, .trials = 4});
  bool between = false;
  for (const double share : map.success) {
    EXPECT_EQ(share * 4, std::round(share * 4));
    between = between || (share > 0 && share < 1);
  }
  EXPECT_TRUE(between);
}

TEST(Recovery, TheMapDependsOnTheSeedAndNotOnThreads) {
  const RecoveryOptions options{.size = 16, .ranks = 3, .shares = 10, .trials = 2};
  const RecoveryMap one = map_of(options, 1), eight = map_of(options, 8);
  EXPECT_EQ(one.success, eight.success);
  EXPECT_EQ(one.incoherence, eight.incoherence);
  RecoveryOptions other = options;
  other.seed = 2;
  EXPECT_NE(map_of(other).incoherence, one.incoherence);
}

TEST(Recovery, TheTwoMethodsDiffer) {
  RecoveryOptions options{.size = 16, .ranks = 4, .shares = 10, .trials = 2};
  const RecoveryMap svp = map_of(options);
  options.method = RecoveryMethod::kNuclear;
  EXPECT_NE(map_of(options).success, svp.success);
}

// All of a matrix in one row and column: few of its entries say nothing about it.
TEST(Recovery, ASpikeIsSeenLessAndLessEvenlySpread) {
  RecoveryOptions options = kSmall;
  const RecoveryMap even = map_of(options);
  options.spike = 1;
  const RecoveryMap spiked = map_of(options);
  EXPECT_LT(total(spiked), total(even));
  for (size_t k = 0; k < 2; ++k) EXPECT_GT(spiked.incoherence[k], 1.5 * even.incoherence[k]) << k;
}

TEST(Recovery, ReportsItsRowsAndStopsWhenAsked) {
  const RecoveryOptions options{.size = 12, .ranks = 3, .shares = 5, .trials = 1};
  std::vector<double> shares;
  recovery_map(options, Context(2), [&](double share) { shares.push_back(share); });
  EXPECT_EQ(shares, (std::vector<double>{1.0 / 3, 2.0 / 3, 1}));

  Context context(2);
  shares.clear();
  message_of(ErrorKind::kCancelled, [&] {
    recovery_map(options, context, [&](double share) {
      shares.push_back(share);
      context.cancel();
    });
  });
  EXPECT_EQ(shares.size(), 1u);
  message_of(ErrorKind::kCancelled, [&] { recovery_map(options, context); });
  context.reset();
  EXPECT_EQ(recovery_map(options, context).ranks.size(), 3u);
}

}  // namespace
}  // namespace kith::test
