// SPDX-License-Identifier: Apache-2.0
#pragma once
// One row of a non-negative factorisation, the rows of the other side given. y_i = p . q_i, and O
// are the rated i, or all of them with y = 0 for the rest if what was not rated is zero.
//
//   squared   min over p >= 0, b   1/2 sum_O (r_i - mean - c_i - b - p . q_i)^2
//   kl        min over p >= 0      sum_O (r_i log(r_i / y_i) - r_i + y_i)
//
// plus l2 |p|^2 / 2 + l1 sum p + bias_penalty b^2 / 2. Both are convex in the row; no update raises
// them.

#include <vector>

#include "core/matrix.h"
#include "data/sparse.h"
#include "models/nmf/config.h"
#include "train/products.h"

namespace kith::nmf {

// The other side, and what is the same for all rows of this one.
struct Others {
  const Matrix& rows;  // [q, 1, c] or [q, c, 1], as in models/ratings/factors.h
  size_t dim, own;     // own: where rows of this side have their bias
  bool biases;
  double mean;
  bool zero;
  Method method;
  Loss loss;
  Small gram{};                // zero, squared: sum of q q^T over all
  std::vector<double> sums{};  // zero, kl: sum of q over all
};

struct Penalties {
  double l2, l1, bias;
};

// Buffers of a thread.
struct Scratch {
  Matrix tile;
  std::vector<double> system, right, weights, slopes;
  std::vector<float> products, ratios;
};

// Improves `row`, a row of a Matrix, `sweeps` times over all its coordinates. Returns its loss
// without the penalties, as it is afterwards (squared: the sum of squares, not halved).
double update_row(const Others& others, const Penalties& penalties, Sparse::Row ratings, int sweeps,
                  std::span<float> row, Scratch& scratch);

}  // namespace kith::nmf
