// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/rng.h"

namespace kith {

// Draws i with probability weight[i] / sum in constant time (Walker's alias method, Vose's
// construction). 8 bytes an item. The probability of each item is right to 2^-24 of a slot.
class AliasSampler {
 public:
  AliasSampler() = default;
  // Weights are finite, not negative and not all zero.
  explicit AliasSampler(std::span<const double> weights);

  uint32_t draw(Rng& rng) const {
    const uint64_t x = rng.next();
    const auto slot = static_cast<uint32_t>((x >> 32) * slots_.size() >> 32);
    const Slot& s = slots_[slot];
    // Without a branch: half of them would be guessed wrong.
    const auto take_other =
        static_cast<uint32_t>(!(static_cast<float>((x & 0xffffffff) >> 8) * 0x1p-24f < s.keep));
    return slot ^ ((slot ^ s.other) & (0u - take_other));
  }
  size_t size() const { return slots_.size(); }

 private:
  struct Slot {
    float keep;  // the share of the slot that belongs to its own item
    uint32_t other;
  };
  std::vector<Slot> slots_;
};

// counts[i]^alpha, the usual noise of negative sampling.
std::vector<double> noise_weights(std::span<const uint64_t> counts, double alpha);

}  // namespace kith
