// SPDX-License-Identifier: Apache-2.0
#include "core/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/hash.h"

namespace kith {
namespace {

// Chi-square in units of its deviation: (x - k) / sqrt(2 k) for k degrees of freedom is about
// normal for the k used here. Seeds are fixed, so the bound of 4 either holds forever or fails.
double surprise(const std::vector<uint64_t>& counts) {
  double total = 0;
  for (const uint64_t n : counts) total += static_cast<double>(n);
  const double expected = total / static_cast<double>(counts.size());
  double chi = 0;
  for (const uint64_t n : counts) {
    chi += (static_cast<double>(n) - expected) * (static_cast<double>(n) - expected) / expected;
  }
  const double freedom = static_cast<double>(counts.size()) - 1;
  return std::abs(chi - freedom) / std::sqrt(2 * freedom);
}

TEST(Rng, BelowIsUniformForPowersOfTwoAndOthers) {
  for (const uint32_t n : {2, 3, 4, 5, 8, 10, 16, 31, 32, 100, 1024, 1000}) {
    std::vector<uint64_t> counts(n);
    Rng rng(7, n);
    for (uint32_t i = 0; i < 200 * n + 20'000; ++i) ++counts.at(rng.below(n));
    EXPECT_LT(surprise(counts), 4) << n;
  }
}

TEST(Rng, BelowStaysBelow) {
  Rng rng(1, 1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(rng.below(1), 0u);
    EXPECT_LT(rng.below(UINT32_MAX), UINT32_MAX);
  }
}

// A float has 24 bits: one more, all of them set, would round up to 1.
TEST(Rng, UniformIsBelowOneForTheHighestDraw) {
  constexpr uint64_t kSeed = 58259263;
  ASSERT_EQ(Rng(kSeed, 0).next() >> 39, 0x1ffffffu) << "another seed draws the highest now";
  EXPECT_LT(Rng(kSeed, 0).uniform(), 1.0f);
}

// The trap of simple generators: one draw fixes the next when n is a power of two.
TEST(Rng, PairsOfDrawsAreIndependent) {
  for (const uint32_t n : {4, 5, 8, 10, 16}) {
    std::vector<uint64_t> counts(n * n);
    Rng rng(3, n);
    for (int i = 0; i < 100'000; ++i) {
      const uint32_t first = rng.below(n);
      ++counts.at(first * n + rng.below(n));
    }
    EXPECT_LT(surprise(counts), 4) << n;
  }
}

TEST(Rng, FirstDrawsOfNeighbouringStreamsAndSeedsAreUniform) {
  std::vector<uint64_t> by_stream(64), by_seed(64), by_both(64);
  for (uint64_t i = 0; i < 100'000; ++i) {
    ++by_stream.at(Rng(1, i).below(64));
    ++by_seed.at(Rng(i, 1).below(64));
    ++by_both.at(Rng(i, i).below(64));
  }
  EXPECT_LT(surprise(by_stream), 4);
  EXPECT_LT(surprise(by_seed), 4);
  EXPECT_LT(surprise(by_both), 4);
}

TEST(Rng, EveryBitIsFair) {
  Rng rng(5, 0);
  const int draws = 100'000;
  std::vector<int> ones(64);
  for (int i = 0; i < draws; ++i) {
    const uint64_t x = rng.next();
    for (size_t b = 0; b < 64; ++b) ones[b] += static_cast<int>(x >> b & 1);
  }
  // The deviation of a count is sqrt(n)/2 = 158; 64 bits at 5 deviations.
  for (size_t b = 0; b < 64; ++b) EXPECT_NEAR(ones[b], draws / 2, 790) << "bit " << b;
}

TEST(Rng, UniformFillsTheUnitInterval) {
  Rng rng(9, 0);
  std::vector<uint64_t> counts(100);
  for (int i = 0; i < 200'000; ++i) {
    const float u = rng.uniform();
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    ++counts.at(static_cast<size_t>(u * 100));
  }
  EXPECT_LT(surprise(counts), 4);
}

TEST(Rng, DrawsArePureFunctionsOfSeedStreamAndNumber) {
  std::vector<uint64_t> first, second;
  Rng a(1, 2), b(1, 2);
  for (int i = 0; i < 10; ++i) first.push_back(a.next());
  for (int i = 0; i < 10; ++i) second.push_back(b.next());
  EXPECT_EQ(first, second);
  EXPECT_NE(Rng(1, 2).next(), Rng(2, 1).next());
  std::set<uint64_t> seen;
  for (uint64_t stream = 0; stream < 1000; ++stream) {
    Rng rng(1, stream);
    for (int i = 0; i < 100; ++i) seen.insert(rng.next());
  }
  EXPECT_EQ(seen.size(), 100'000u) << "streams overlap";
}

// A hash table needs no more than this: no part of it gets twice its share.
TEST(Hash, ShortStringsSpreadOverHighAndLowBits) {
  std::vector<uint64_t> high(256), low(256);
  for (int i = 0; i < 50'000; ++i) {
    const uint64_t h = stable_hash(std::to_string(i));
    ++high.at(h >> 56);
    ++low.at(h & 255);
  }
  EXPECT_LT(*std::max_element(high.begin(), high.end()), 2 * 50'000 / 256);
  EXPECT_LT(*std::max_element(low.begin(), low.end()), 2 * 50'000 / 256);
}

TEST(Hash, NoTwoShortStringsOfFewLettersCollide) {
  std::set<uint64_t> seen;
  size_t made = 0;
  for (size_t length = 0; length <= 20; ++length) {
    for (size_t place = 0; place < length; ++place) {
      for (int c = 1; c < 256; ++c) {
        std::string s(length, '\0');
        s[place] = static_cast<char>(c);
        seen.insert(stable_hash(s));
        ++made;
      }
    }
  }
  EXPECT_EQ(seen.size(), made);
}

}  // namespace
}  // namespace kith
