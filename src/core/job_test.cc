// SPDX-License-Identifier: Apache-2.0
#include "core/job.h"

#include <gtest/gtest.h>

#include <set>

#include "core/error.h"

namespace kith {
namespace {

TEST(Job, EveryShardRunsOnceForAnyNumberOfThreads) {
  for (int threads = -1; threads <= 8; ++threads) {
    Job job;
    job.threads = threads;
    for (const size_t shards : {0, 1, 2, 7, 8, 9, 1000}) {
      std::vector<std::atomic<int>> runs(shards);
      job.for_each_shard(shards, [&](size_t s) { ++runs.at(s); });
      for (const auto& n : runs) EXPECT_EQ(n, 1) << threads << " threads, " << shards << " shards";
    }
  }
}

TEST(Job, ShardsStartInOrderOnOneThread) {
  std::vector<size_t> order;
  Job().for_each_shard(5, [&](size_t s) { order.push_back(s); });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST(Job, AWorkerHasItsNumberForItself) {
  Job job;
  job.threads = 4;
  std::vector<std::atomic<int>> busy(4);
  std::atomic<int> clashes{0};
  job.for_each_shard(2000, [&](size_t, size_t worker) {
    if (busy.at(worker)++ != 0) ++clashes;
    --busy.at(worker);
  });
  EXPECT_EQ(clashes, 0);
}

TEST(Job, TheFirstExceptionStopsTheRestAndIsRethrown) {
  for (int threads = 1; threads <= 8; ++threads) {
    Job job;
    job.threads = threads;
    std::atomic<size_t> begun{0};
    try {
      job.for_each_shard(100'000, [&](size_t s) {
        ++begun;
        if (s == 10) throw Error(ErrorKind::kInput, "shard {}", s);
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), "shard 10");
      EXPECT_EQ(e.kind(), ErrorKind::kInput);
    }
    EXPECT_GE(begun, 11u);
    if (threads == 1) {
      EXPECT_EQ(begun, 11u);
    }
  }
}

TEST(Job, OneOfManyExceptionsIsRethrown) {
  Job job;
  job.threads = 8;
  EXPECT_THROW(job.for_each_shard(100, [](size_t s) { throw Error(ErrorKind::kIo, "{}", s); }),
               Error);
}

TEST(Job, CanBeCancelledFromAShard) {
  Job job;
  job.threads = 2;
  EXPECT_FALSE(job.cancelled());
  job.for_each_shard(2, [&](size_t) { job.cancel(); });
  EXPECT_TRUE(job.cancelled());
}

}  // namespace
}  // namespace kith
