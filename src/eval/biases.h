// SPDX-License-Identifier: Apache-2.0
#pragma once
// What users and items are like on the whole: rating(u, i) ~ mean + b_u + c_i, each bias drawn
// towards 0 the more, the fewer ratings it rests on. The baseline that every factorisation starts
// from, and must beat.

#include <cstdint>
#include <optional>
#include <vector>

#include "data/sparse.h"

namespace kith {

struct Biases {
  double mean = 0;
  std::vector<float> user, item;
  double user_penalty = 0, item_penalty = 0;  // as used
  double noise = 0;                           // variance of what is left
};

// By alternating b_u = sum (r - mean - c_i) / (n_u + penalty), and so for items. A penalty that is
// not given is found from the data: noise variance / variance of the biases, both re-estimated as
// the biases become known (expectation maximisation).
Biases fit_biases(const Sparse& ratings, std::optional<double> user_penalty = {},
                  std::optional<double> item_penalty = {});

// What can be said of ratings without any vector.
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
