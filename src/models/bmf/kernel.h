// SPDX-License-Identifier: Apache-2.0
#pragma once
// The normal equations of a row, the one part of a sweep that costs.

#include <span>

#include "core/line_vector.h"
#include "core/matrix.h"
#include "data/sparse.h"

namespace kith::bmf {

struct alignas(kCacheLine) Scratch {
  explicit Scratch(size_t dim);
  Matrix tile, system, right;
  LineVector<double> a, b;  // what is solved: whole matrix, right side
};

// With f_k = [q_k, 1] for the rated rows [q, bias, weight] and t_k = value_k - bias_k:
// scratch.system = sum w f f^T (lower triangle), scratch.right = sum w t f. Returns sum w t^2.
double normal_equations(ConstRows others, size_t dim, Sparse::Row ratings, Scratch& scratch);

}  // namespace kith::bmf
