// SPDX-License-Identifier: Apache-2.0
#pragma once
// Steps on single cells of a matrix of counts. A cell N of word i and context j costs
//
//   f(N) / 2 (w_i . c_j + b_i + d_j - log N)^2,   f(N) = min(1, (N / x_max)^alpha)
//
// so with e = f(N) (w_i . c_j + b_i + d_j - log N) its gradients are e c_j, e w_i, e and e. Every
// number has its own rate lr / sqrt(h), where h is kFirstSquare and all squares of its gradients
// (AdaGrad), or lr itself. Without biases b and d stay 0.

#include <cstdint>
#include <span>

#include "core/matrix.h"
#include "train/grid.h"
#include "train/optimiser.h"

namespace kith::glove {

// A working row is [w, b, 1, zeros] of a word, [c, 1, d, zeros] of a context, so that a product of
// two is the whole score; then as many squares. Without biases the ones are 0, and with them the
// gradients of b and d.
inline size_t parameters(size_t dim) { return padded(dim + 2); }
inline size_t row_width(size_t dim) { return 2 * parameters(dim); }
inline constexpr float kFirstSquare = 1;

struct Steps {
  Optimiser optimiser;
  float lr;
  float log_x_max, alpha;
  size_t dim;
  float one = 1;  // 0: without biases
};

// Trains on the cells in their order, the value of each being log N. Returns the sum of the costs
// before each step.
double train_cells(const Steps& steps, std::span<const Entry> cells, Rows words, Rows contexts);
// The same without a step.
double cost_of_cells(const Steps& steps, std::span<const Entry> cells, ConstRows words,
                     ConstRows contexts);

}  // namespace kith::glove
