// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is held out to score a model while it trains. One rule for all kinds of data: whether a
// piece (a line, a row, a rating) is taken depends on its key and the share alone, never on the
// order of the others, the seed of the run or the machine.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/rng.h"

namespace kith {

class HoldOut {
 public:
  explicit HoldOut(double share, uint64_t seed = 0)
      : limit_(share >= 1  ? ~uint64_t{0}
               : share > 0 ? static_cast<uint64_t>(std::ldexp(share, 64))
                           : 0),
        seed_(seed) {}
  bool takes(uint64_t key) const { return limit_ != 0 && mix64(key + seed_) < limit_; }

  // How many of so many units a setting asks for: below 1 a share of them, else a number, at most
  // half; `usual` if it is not given.
  static uint64_t wanted(std::optional<double> setting, uint64_t units, uint64_t usual) {
    if (!setting) return std::min(usual, units / 2);
    const double all = static_cast<double>(units);
    const double number = *setting < 1 ? *setting * all : *setting;
    return static_cast<uint64_t>(std::min(number, all / 2));
  }

 private:
  uint64_t limit_, seed_;
};

}  // namespace kith
