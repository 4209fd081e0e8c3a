// SPDX-License-Identifier: Apache-2.0
#pragma once
// Models that rank, and know how well one list for everybody ranks: that of the most popular.

#include <optional>

namespace kith {

struct BesidePopularity {
  virtual ~BesidePopularity() = default;
  // The held-out score that the most popular items would have; nothing if it was not measured.
  virtual std::optional<double> popularity_held_out() const = 0;
};

}  // namespace kith
