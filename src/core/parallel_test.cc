// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "core/error.h"

namespace kith {
namespace {

using namespace std::chrono_literals;

TEST(Shards, EachRunsOnceForAnyNumberOfThreads) {
  for (int threads = -1; threads <= 8; ++threads) {
    const Context context(threads);
    EXPECT_GE(context.threads(), 1);
    for (const size_t shards : {0, 1, 2, 7, 8, 9, 1000}) {
      std::vector<std::atomic<int>> runs(shards);
      for_each_shard(context, shards, [&](size_t s) { ++runs.at(s); });
      for (const auto& n : runs) EXPECT_EQ(n, 1) << threads << " threads, " << shards << " shards";
    }
  }
}

TEST(Shards, StartInOrderOnOneThread) {
  std::vector<size_t> order;
  for_each_shard(Context(1), 5, [&](size_t s) { order.push_back(s); });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST(Shards, AWorkerHasItsNumberForItself) {
  const Context context(4);
  std::vector<std::atomic<int>> busy(4);
  std::atomic<int> clashes{0};
  for_each_shard(context, 2000, [&](size_t, size_t worker) {
    if (busy.at(worker)++ != 0) ++clashes;
    --busy.at(worker);
  });
  EXPECT_EQ(clashes, 0);
}

TEST(Shards, AreSharedByTheThreads) {
  const Context context(4);
  std::atomic<int> there{0};
  // Each waits until four are there, which one thread alone could never see.
  for_each_shard(context, 4, [&](size_t) {
    ++there;
    while (there < 4) std::this_thread::yield();
  });
  EXPECT_EQ(there, 4);
}

TEST(Shards, TheFirstExceptionStopsTheRestAndIsRethrown) {
  for (int threads = 1; threads <= 8; ++threads) {
    const Context context(threads);
    std::atomic<size_t> begun{0};
    try {
      for_each_shard(context, 100'000, [&](size_t s) {
        ++begun;
        if (s == 10) throw fault(ErrorKind::kInput, "shard {}", s);
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

// A second of work lies behind the one that throws; what has begun by then may end.
TEST(Shards, NoMoreStartOnOtherThreadsAfterAnException) {
  const Context context(2);
  std::atomic<size_t> begun{0};
  EXPECT_THROW(for_each_shard(context, 1000,
                              [&](size_t s) {
                                ++begun;
                                while (s == 0 && begun < 2) std::this_thread::yield();
                                if (s == 0) throw fault(ErrorKind::kIo, "the first");
                                std::this_thread::sleep_for(1ms);
                              }),
               Error);
  EXPECT_LT(begun, 1000u);
}

TEST(Shards, OneOfManyExceptionsIsRethrown) {
  const Context context(8);
  EXPECT_THROW(for_each_shard(context, 100, [](size_t s) { throw fault(ErrorKind::kIo, "{}", s); }),
               Error);
}

TEST(Shards, CallsWithinAShardRunAlone) {
  const Context context(4);
  std::atomic<int> inner{0};
  for_each_shard(context, 2, [&](size_t) {  // two threads have nothing to do
    const auto here = std::this_thread::get_id();
    for_each_shard(context, 20, [&](size_t, size_t worker) {
      EXPECT_EQ(worker, 0u);
      EXPECT_EQ(std::this_thread::get_id(), here);
      ++inner;
      std::this_thread::sleep_for(1ms);
    });
  });
  EXPECT_EQ(inner, 40);
}

TEST(Shards, ManyThreadsMayUseOneContext) {
  const Context context(3);
  std::vector<std::jthread> callers;
  std::atomic<uint64_t> sum{0};
  for (int c = 0; c < 8; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        for_each_shard(context, 20, [&](size_t s) { sum += s; });
      }
    });
  }
  callers.clear();
  EXPECT_EQ(sum, 8u * 50u * 190u);
}

TEST(Cancelling, NoShardStartsAfterItAndTheFirstOnesAreDone) {
  for (int threads = 1; threads <= 4; ++threads) {
    Context context(threads);
    std::vector<std::atomic<int>> done(10'000);
    const size_t count = run_shards(context, done.size(), [&](size_t s) {
      if (s == 20) context.cancel();
      ++done[s];
    });
    EXPECT_LT(count, done.size());
    EXPECT_GE(count, 21u);
    for (size_t s = 0; s < done.size(); ++s) EXPECT_EQ(done[s], s < count ? 1 : 0) << s;
  }
}

TEST(Cancelling, IsAnErrorWhereAllShardsAreWanted) {
  Context context(2);
  context.cancel();
  try {
    for_each_shard(context, 3, [](size_t) { FAIL() << "it was cancelled"; });
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kCancelled);
  }
  context.reset();
  int runs = 0;
  for_each_shard(
      context, 3, [&](size_t) { ++runs; }, 1);
  EXPECT_EQ(runs, 3);
}

TEST(Cancelling, DoesNotCutWorkThatMustBeWhole) {
  Context context(2);
  std::atomic<int> runs{0};
  finish_shards(context, 1000, [&](size_t s) {
    if (s == 5) context.cancel();
    ++runs;
  });
  EXPECT_EQ(runs, 1000);
  finish_shards(context, 3, [&](size_t) { ++runs; });  // cancelled before it began
  EXPECT_EQ(runs, 1003);
}

TEST(Cancelling, WhenAllIsDoneComesTooLate) {
  Context context(2);
  for_each_shard(context, 2, [&](size_t s) {
    if (s == 1) context.cancel();
  });
  EXPECT_TRUE(context.cancelled());
}

}  // namespace
}  // namespace kith
