// SPDX-License-Identifier: Apache-2.0
#include "models/ratings_baselines.h"

#include <algorithm>

namespace kith {

RatingBaselines::RatingBaselines(const Sparse& ratings) : biases_(fit_biases(ratings)) {
  if (ratings.size() == 0) return;
  const auto [low, high] = std::ranges::minmax(ratings.value);
  low_ = low;
  high_ = high;
}

double RatingBaselines::predict(uint32_t user, uint32_t item) const {
  double out = biases_.mean;
  if (user < biases_.user.size()) out += biases_.user[user];
  if (item < biases_.item.size()) out += biases_.item[item];
  return std::clamp(out, low_, high_);
}

}  // namespace kith
