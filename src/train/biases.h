// SPDX-License-Identifier: Apache-2.0
#pragma once
// What users and items are like on the whole: rating(u, i) ~ mean + b_u + c_i, each bias drawn
// towards 0 the more, the fewer ratings it rests on. The baseline that every factorisation starts
// from, and must beat.

#include <vector>

#include "data/sparse.h"

namespace kith {

struct Biases {
  double mean = 0;
  std::vector<float> user, item;
  double user_penalty = 0, item_penalty = 0;  // as used
  double noise = 0;                           // variance of what is left
};

// By alternating b_u = sum (r - mean - c_i) / (n_u + penalty), and so for items. A negative penalty
// is found from the data: noise variance / variance of the biases, both re-estimated as the biases
// become known (expectation maximisation).
Biases fit_biases(const Sparse& ratings, double user_penalty = -1, double item_penalty = -1);

}  // namespace kith
