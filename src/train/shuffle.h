// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/rng.h"

namespace kith {

// A random order of 0 .. size - 1 that takes no memory: a four-round Feistel network on the next
// even power of two, walked until it lands inside. Any place can be asked for, by any thread.
class Shuffle {
 public:
  Shuffle(uint64_t size, uint64_t seed)
      : size_(size),
        half_(static_cast<int>(std::bit_width(std::max<uint64_t>(size, 2) - 1) + 1) / 2),
        mask_((uint64_t{1} << half_) - 1) {
    for (uint64_t i = 0; i < 4; ++i) keys_[i] = mix64(seed + (i + 1) * 0x9e3779b97f4a7c15);
  }
  uint64_t operator[](uint64_t i) const {
    do {
      uint64_t left = i >> half_, right = i & mask_;
      for (const uint64_t key : keys_) {
        const uint64_t mixed = left ^ (mix64(right ^ key) & mask_);
        left = right;
        right = mixed;
      }
      i = left << half_ | right;
    } while (i >= size_);
    return i;
  }

 private:
  uint64_t size_;
  int half_;
  uint64_t mask_;
  uint64_t keys_[4];
};

}  // namespace kith
