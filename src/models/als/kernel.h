// SPDX-License-Identifier: Apache-2.0
#pragma once
// The closed form of a row (source: alternating least squares with missing entries), the rows of
// the other side given:
//
//   min over p, b  sum_k w_k (t_k - b - p . q_k)^2 + lambda |p|^2 + beta b^2
//                  + alpha sum_j (c_j + b + p . q_j)^2
//
// explicit:  w = 1, t = rating - mean - c_k, alpha = 0
// implicit:  w = the strength, t = 1 - c_k, alpha = the weight of what was not observed
//
// so (sum w q q^T + alpha G + lambda) p = sum w (t - b) q - alpha (b sum_j q_j + sum_j c_j q_j),
// with G = sum over all rows of q q^T. All three sums over j are in the Gram matrix of whole rows,
// [p, b, 1] and [q, 1, c], as a score is the product of whole rows. Of implicit feedback items have
// biases and users have none; but the 1 of a user, which meets the bias of an item, is then how
// much of a visitor the user is: see model.cc.
// Conjugate gradients need one pass over the rated rows for each step, and never form the matrix:
// 4 n d operations a pass. The block solver forms it for some of the coordinates at a time, with
// the others as they are (iALS++); with all of them at once it is the exact solution.

#include <cstdint>
#include <span>
#include <vector>

#include "core/line_vector.h"
#include "core/matrix.h"
#include "data/sparse.h"

namespace kith::als {

// All that rows of one side have in common.
struct Side {
  ConstRows others;  // [q, 1, c] or [q, c, 1]
  size_t dim;
  size_t own, theirs;  // where the row to solve has its bias, and where the other side has
  bool biases;         // whether the rows to solve have one
  bool shifted;        // whether those of the other side have one
  float mean;
  bool implicit = false;
  float unobserved = 0;
  ConstRows gram{nullptr, 0};  // of the others, dim + 2 square, if implicit
  int steps = 3;
  size_t block = 64;
};

struct alignas(kCacheLine) Scratch {
  Scratch(size_t dim, size_t block);
  Matrix vectors;            // residual, direction, product; gradient
  Matrix tile;               // rated rows, the coordinates of a block
  Matrix system;             // of a block
  LineVector<float> scores;  // one for each rating
};

struct Task {
  Sparse::Row ratings;
  float* row;  // in: where to start; out: the solution
  float penalty, bias_penalty;
  const float* mean = nullptr;  // what the penalties draw the row to, like a row; null: to 0
};

// Solves rows of one side, one after the other. Returns the squared errors that are left, weighted,
// what was not observed included.
double solve_cg(const Side& side, std::span<const Task> tasks, Scratch& scratch);
double solve_blocks(const Side& side, std::span<const Task> tasks, Scratch& scratch);

// out, zero at first, becomes the sum over rows [begin, end) of r r^T, of their first n columns.
void add_gram(ConstRows rows, size_t begin, size_t end, size_t n, Rows out);

}  // namespace kith::als
