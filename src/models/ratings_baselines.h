// SPDX-License-Identifier: Apache-2.0
#pragma once
// What can be said of ratings without any vector: the mean, and how users and items differ from it
// on the whole. What a model of ratings has to beat.

#include <cstdint>

#include "data/sparse.h"
#include "train/biases.h"

namespace kith {

class RatingBaselines {
 public:
  explicit RatingBaselines(const Sparse& ratings);
  double mean() const { return biases_.mean; }
  // mean + b_u + c_i, within the range of the ratings; who is not in them has no bias.
  double predict(uint32_t user, uint32_t item) const;

 private:
  Biases biases_;
  double low_ = 0, high_ = 0;
};

}  // namespace kith
