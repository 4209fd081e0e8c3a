// SPDX-License-Identifier: Apache-2.0
#include "train/alias.h"

#include <cmath>
#include <numeric>

namespace kith {

AliasSampler::AliasSampler(std::span<const double> weights) : slots_(weights.size()) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> share(weights.size());  // in units of one slot
  std::vector<uint32_t> small, large;
  for (uint32_t i = 0; i < weights.size(); ++i) {
    share[i] = weights[i] / sum * static_cast<double>(weights.size());
    (share[i] < 1 ? small : large).push_back(i);
  }
  // Each small item fills the rest of its slot from a large one.
  while (!small.empty() && !large.empty()) {
    const uint32_t s = small.back(), l = large.back();
    small.pop_back();
    slots_[s] = {static_cast<float>(share[s]), l};
    share[l] -= 1 - share[s];
    if (share[l] < 1) {
      large.pop_back();
      small.push_back(l);
    }
  }
  // What is left is 1 up to rounding.
  for (const uint32_t i : small) slots_[i] = {1, i};
  for (const uint32_t i : large) slots_[i] = {1, i};
}

std::vector<double> noise_weights(std::span<const uint64_t> counts, double alpha) {
  std::vector<double> out(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    out[i] = std::pow(static_cast<double>(counts[i]), alpha);
  }
  return out;
}

}  // namespace kith
