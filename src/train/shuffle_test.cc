// SPDX-License-Identifier: Apache-2.0
#include "train/shuffle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kith {
namespace {

TEST(Shuffle, IsAPermutationOfAnySize) {
  for (const uint64_t size : {1, 2, 3, 4, 5, 16, 17, 1000, 4097}) {
    const Shuffle order(size, 7);
    std::vector<bool> seen(size, false);
    for (uint64_t i = 0; i < size; ++i) {
      ASSERT_LT(order[i], size);
      ASSERT_FALSE(seen[order[i]]) << size;
      seen[order[i]] = true;
    }
  }
}

// The rank correlation of place and number is 0 with deviation 1 / sqrt(n); 4 deviations are
// allowed.
TEST(Shuffle, LeavesNoTraceOfTheOrder) {
  constexpr uint64_t kSize = 10000;
  for (const uint64_t seed : {1, 2, 3}) {
    const Shuffle order(kSize, seed);
    double sum = 0, neighbours = 0;
    for (uint64_t i = 0; i < kSize; ++i) {
      const auto centred = [](uint64_t x) {
        return (static_cast<double>(x) - (kSize - 1) / 2.0) / (kSize / std::sqrt(12.0));
      };
      sum += centred(i) * centred(order[i]);
      if (i > 0) neighbours += centred(order[i - 1]) * centred(order[i]);
    }
    EXPECT_LT(std::abs(sum) / kSize, 4 / std::sqrt(kSize));
    EXPECT_LT(std::abs(neighbours) / kSize, 4 / std::sqrt(kSize));
  }
  EXPECT_NE(Shuffle(kSize, 1)[0], Shuffle(kSize, 2)[0]);
}

}  // namespace
}  // namespace kith
