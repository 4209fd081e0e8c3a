// SPDX-License-Identifier: Apache-2.0
#include "models/recovery.h"

#include <gtest/gtest.h>

namespace kith {
namespace {

RecoveryMap map_of(int threads, RecoveryMethod method = RecoveryMethod::kSvp) {
  Job job;
  job.threads = threads;
  return recovery_map({.n = 20, .max_rank = 2, .shares = 5, .trials = 1, .method = method}, job);
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
    const RecoveryMap map = map_of(2, method);
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

TEST(Recovery, TheMapDoesNotDependOnThreads) {
  const std::vector<double> one = map_of(1).success;
  EXPECT_EQ(one, map_of(2).success);
  EXPECT_EQ(one, map_of(8).success);
}

TEST(Recovery, ReportsItsRowsAndStopsWhenAsked) {
  Job job;
  std::vector<uint64_t> done;
  job.on_progress = [&](const Progress& p) {
    done.push_back(p.done);
    EXPECT_EQ(p.total, 15u);
    job.cancel();
  };
  recovery_map({.n = 12, .max_rank = 3, .shares = 5, .trials = 1}, job);
  EXPECT_EQ(done, std::vector<uint64_t>{5});
}

}  // namespace
}  // namespace kith
