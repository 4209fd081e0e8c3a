// SPDX-License-Identifier: Apache-2.0
#include "train/overlay.h"

#include <gtest/gtest.h>

namespace kith {
namespace {

TEST(RowOverlay, CopiesWhatIsAskedForAndNothingElse) {
  Matrix table(3000, 4);
  for (size_t r = 0; r < table.rows(); ++r) table.row(r)[0] = static_cast<float>(r);
  RowOverlay overlay(table.rows(), table.stride());
  overlay.start(table.view());
  float* const first = overlay.row(2999);
  for (uint32_t r = 0; r < 2999; ++r) EXPECT_EQ(overlay.row(r)[0], static_cast<float>(r));
  first[0] = -1;  // still good after many more
  EXPECT_EQ(overlay.row(2999)[0], -1);
  EXPECT_EQ(table.row(2999)[0], 2999);
  EXPECT_EQ(overlay.touched().size(), 3000u);
  overlay.start(table.view());
  EXPECT_EQ(overlay.row(2999)[0], 2999);
  EXPECT_EQ(overlay.touched().size(), 1u);
}

TEST(RoundChains, AddEveryBlocksChangesOnce) {
  for (const int threads : {1, 4}) {
    Matrix table(2000, 4);
    std::vector<RowOverlay> overlays;
    for (int b = 0; b < 3; ++b) overlays.emplace_back(table.rows(), table.stride());
    RoundChains chains(table.rows());
    Job job;
    job.threads = threads;
    for (int round = 1; round <= 2; ++round) {
      for (int b = 0; b < 3; ++b) {
        overlays[static_cast<size_t>(b)].start(table.view());
        // Block b touches every (b + 1)-th row and adds b + 1 to it.
        for (uint32_t r = 0; r < 2000; r += static_cast<uint32_t>(b) + 1) {
          overlays[static_cast<size_t>(b)].row(r)[1] += static_cast<float>(b + 1);
        }
      }
      add_changes(overlays, table.view(), chains, job);
      for (uint32_t r = 0; r < 2000; ++r) {
        const int expected = round * (1 + (r % 2 == 0 ? 2 : 0) + (r % 3 == 0 ? 3 : 0));
        ASSERT_EQ(table.row(r)[1], static_cast<float>(expected)) << r;
      }
    }
  }
}

}  // namespace
}  // namespace kith
