// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stochastic gradient descent on single ratings. With s = p . q + b + c and e = -dloss/ds,
//
//   p += lr_u (e q - lambda_u (p - m_u))      b += lr_u' (e - beta_u (b - m_u'))
//   q += lr_i (e p - lambda_i (q - m_i))      c += lr_i' (e - beta_i (c - m_i'))
//
// where a row's rate is lr / sqrt(energy), and its energy 1 + the sum of the mean squares of the
// gradients it has met (AdaGrad with one number a row). m is what a row is drawn to: 0, or what is
// known of it. No step goes past it: lr lambda counts as 1 at most. A block of ratings touches few
// enough rows that they stay in the second-level cache; no two blocks that run at the same time
// share one.

#include <cstdint>
#include <span>

#include "core/matrix.h"
#include "core/rng.h"
#include "data/sparse.h"
#include "train/grid.h"
#include "train/loss.h"

namespace kith::mf {

// A working row: the vector, zero-padded, then these.
// The square of its length is kept up to date by every step, which is cheaper than to sum it up.
// Those of the second line no step changes: lambda, beta and what the bias is drawn to.
enum Extra : size_t {
  kSquare,
  kBias,
  kEnergy,
  kBiasEnergy,
  kHold,
  kBiasHold,
  kUnused,
  kDrawnBias,
  kExtras
};
inline void measure_row(float* row, size_t dim) {
  float* const extras = row + padded(dim);
  extras[kSquare] = 0;
  for (size_t k = 0; k < dim; ++k) extras[kSquare] += row[k] * row[k];
}
inline void start_row(float* row, size_t dim) {
  float* const extras = row + padded(dim);
  extras[kEnergy] = extras[kBiasEnergy] = 1;
  measure_row(row, dim);
}
inline size_t row_width(size_t dim) { return padded(dim) + padded(kExtras); }

struct Rates {
  float lr;
  bool biases, adapt;
};

// The rows that steps move, and the vectors that they are drawn to, if not to 0: as many rows, of
// the width of the vectors.
struct Moving {
  Rows users, items;
  ConstRows user_means{}, item_means{};
  bool drawn() const { return user_means.data != nullptr; }
};

// Trains on the ratings in their order, values as the loss wants them. Returns the sum of the
// losses before each step.
double train_block(Loss loss, const Rates& rates, size_t dim, std::span<const Entry> ratings,
                   const Moving& rows);

// Bayesian personalised ranking: -log sigma(s_ui - s_uj), j drawn from `candidates`, not one that
// the user has seen.
double train_pairs(const Rates& rates, size_t dim, std::span<const Entry> ratings,
                   std::span<const uint32_t> candidates, const Sparse& seen, Rng& rng,
                   const Moving& rows);

}  // namespace kith::mf
