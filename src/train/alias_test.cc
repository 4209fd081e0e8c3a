// SPDX-License-Identifier: Apache-2.0
#include "train/alias.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace kith {
namespace {

// Counted draws in `bins` ranges of equal probability mass against what is expected.
double chi_square(std::span<const double> weights, size_t bins, uint64_t draws) {
  const AliasSampler sampler(weights);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<size_t> bin(weights.size());
  std::vector<double> mass(bins, 0), seen(bins, 0);
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    bin[i] = std::min(bins - 1, static_cast<size_t>(sum / total * static_cast<double>(bins)));
    mass[bin[i]] += weights[i] / total;
    sum += weights[i];
  }
  Rng rng(1, 2);
  for (uint64_t i = 0; i < draws; ++i) ++seen[bin[sampler.draw(rng)]];
  double chi = 0;
  for (size_t b = 0; b < bins; ++b) {
    if (mass[b] == 0) continue;
    const double expected = static_cast<double>(draws) * mass[b];
    chi += (seen[b] - expected) * (seen[b] - expected) / expected;
  }
  return chi;
}

// With b bins chi-square has mean b and deviation sqrt(2 b): five deviations.
double limit(size_t bins) {
  return static_cast<double>(bins) + 5 * std::sqrt(2.0 * static_cast<double>(bins));
}

TEST(AliasSampler, DrawsByWeight) {
  const std::vector<double> weights{1, 2, 3, 4, 0.5, 10};
  EXPECT_LT(chi_square(weights, 6, 1000000), limit(6));
}

TEST(AliasSampler, NeverDrawsWeightZero) {
  const AliasSampler sampler(std::vector<double>{0, 1, 0, 3, 0});
  Rng rng(5, 6);
  for (int i = 0; i < 100000; ++i) {
    const uint32_t id = sampler.draw(rng);
    ASSERT_TRUE(id == 1 || id == 3);
  }
}

TEST(AliasSampler, OneItem) {
  const AliasSampler sampler(std::vector<double>{0.3});
  Rng rng(1, 1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sampler.draw(rng), 0u);
}

// The tables of other tools distort a vocabulary of this size by a fifth.
TEST(AliasSampler, StaysExactWithFiveMillionWords) {
  std::vector<uint64_t> counts(5000000);
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = 1 + 100000000 / (i + 3);
  const auto weights = noise_weights(counts, 0.75);
  EXPECT_LT(chi_square(weights, 1000, 5000000), limit(1000));
}

TEST(NoiseWeights, AnyExponent) {
  const std::vector<uint64_t> counts{1, 4, 16};
  EXPECT_EQ(noise_weights(counts, 0.5), (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(noise_weights(counts, 0), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(noise_weights(counts, -0.5), (std::vector<double>{1, 0.5, 0.25}));
}

}  // namespace
}  // namespace kith
