// SPDX-License-Identifier: Apache-2.0
#pragma once
// One row of a factorisation, given the rows of the other side: the closed form that alternating
// least squares, folding in and Gibbs sampling share. In double, for sizes where that costs
// nothing; the fast path of als is in its own kernel, and is tested against this.

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "data/sparse.h"

namespace kith {

// In place: the lower triangle of the n x n matrix a becomes its Cholesky factor L, a = L L^T.
// False if a is not positive definite.
bool cholesky(std::span<double> a, size_t n);
// b becomes the solution of L x = b, and of L^T x = b.
void solve_lower(std::span<const double> l, size_t n, std::span<double> b);
void solve_upper(std::span<const double> l, size_t n, std::span<double> b);

// A row of users is [p, b, 1] and meets a row of items [q, 1, c]: the row of the side that is
// solved for has its own bias at `own`, and a 1 where the other side has its own. See
// models/ratings/factors.h.
struct RowProblem {
  size_t dim;                      // of p
  bool biases;                     // whether b is solved for; else it stays 0
  size_t own;                      // dim for users, dim + 1 for items
  double penalty;                  // of |p|^2
  double bias_penalty;             // of b^2
  double one = 1;                  // what meets the other side's biases
  std::vector<float> mean{};       // what the penalties draw the row to; empty: to 0
  double unobserved = 0;           // weight of what was not rated, as 0 (implicit feedback)
  std::span<const double> gram{};  // then: sum over all whole rows of the other side of r r^T
};

// min over p, b of  sum_i (value_i - mean - c_i - b - p . q_i)^2 + penalty |p|^2 + bias_penalty b^2
// with rows of `others` for q and c; or, if unobserved is not 0, with the values as weights,
// sum_i value_i (1 - c_i - b - p . q_i)^2 + unobserved sum over all j of (c_j + b + p . q_j)^2 and
// the penalties. Returns a row of dim + 2.
std::vector<float> solve_row(const RowProblem& problem, const Matrix& others, double mean,
                             Sparse::Row ratings);

}  // namespace kith
