// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ways to find the first directions of a covariance. Each is a state that can be saved, and a step.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/pca/covariance.h"
#include "train/symmetric.h"

namespace kith::pca {

// Entries between -1 and 1, a stream of the seed for each row.
Small random_block(size_t rows, size_t cols, uint64_t seed);

// The first directions within the space that orthonormal rows span, and their variances (Rayleigh
// and Ritz): those of the covariance itself if they span its first directions.
EigenPairs within(const Covariance& c, const Small& basis, size_t count, const Context& context);

// Block power iteration: what is found within a block, and the block that is next.
struct BlockStep {
  EigenPairs found;
  Small next;
};
BlockStep block_step(const Covariance& c, const Small& basis, size_t count, const Context& context);

// The next direction after those that were found, orthonormal rows with their variances, by the
// power method on C - sum lambda v v^T.
struct PowerOptions {
  int iterations;
  double least_gain;  // of variance; an iteration that gains no more is the last
};
struct Direction {
  double value = 0;
  std::vector<double> vector;
  int iterations = 0;
};
Direction next_direction(const Covariance& c, const EigenPairs& found, std::vector<double> start,
                         const PowerOptions& options, const Context& context);

// The linear autoencoder x -> W x -> V W x, where W is k x d and V d x k, on the loss
//
//   L = E |x - V W x|^2 / 2 = tr((I - V W) C (I - V W)^T) / 2
//
//   dL/dV = -(I - V W) C W^T        dL/dW = -V^T (I - V W) C
//
// Gradient descent in conjugate directions (Polak, Ribiere). Along a direction the loss is a
// polynomial of degree four of the length of the step, so the best step is known exactly.
class Autoencoder {
 public:
  Autoencoder() = default;
  Autoencoder(size_t k, size_t cols, uint64_t seed);
  void step(const Covariance& c, const Context& context);
  // Without tr(C) / 2, which does not depend on W and V.
  double loss(const Covariance& c, const Context& context) const;
  struct Gradients {
    Small w, v;  // k x cols: that of V is transposed, as V is
  };
  Gradients gradients(const Covariance& c, const Context& context) const;

  // As rows: W, and V transposed.
  Small w, v;
  // The last direction, and the gradients at which it was taken; empty at the start.
  Small to_w, to_v, last_w, last_v;
};

}  // namespace kith::pca
