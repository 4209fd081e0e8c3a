// SPDX-License-Identifier: Apache-2.0
#pragma once
// The covariance of rows as what it does to a block of vectors: held as a matrix, or never formed
// and applied in a pass over the rows. Same bits for any number of threads.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "data/matrix/matrix.h"
#include "train/products.h"

namespace kith::pca {

// What is done to a number before anything is learned from it: (x - shift) / unit.
struct Change {
  std::vector<double> shift, unit;  // by column
};

class Covariance {
 public:
  virtual ~Covariance() = default;
  virtual size_t cols() const = 0;
  // q C for a block q of row vectors.
  virtual Small times(const Small& q, const Context& context) const = 0;
};

inline constexpr size_t kMostHeld = 4096;  // columns whose covariance is held as a matrix
inline constexpr size_t kOversample = 10;  // directions of a block beyond those wanted
inline constexpr size_t kBlockRows =
    4096;  // that are in memory at a time, or fewer if they are long
size_t block_rows(size_t cols);

// Sums x x^T over rows [first, last) of dense rows to the lower half of `gram`, cols x cols. Blocks
// of block_rows() that begin at a multiple of it give the same sums however they are asked for.
void add_gram(const MatrixRows& rows, const Change& change, uint64_t first, uint64_t last,
              std::span<double> gram, const Context& context);
// The same of all rows of a sparse matrix: those of S, then less n m m^T, so that nothing but S is
// ever looked at.
void add_sparse_gram(const MatrixRows& rows, const Change& change, std::span<double> gram,
                     const Context& context);
// Makes it whole, over `divisor`.
Small covariance_of(std::span<const double> gram, size_t cols, double divisor);

std::unique_ptr<Covariance> held(Small c);
// In passes. `rows` must live as long.
std::unique_ptr<Covariance> streamed(const MatrixRows& rows, Change change, double divisor);

}  // namespace kith::pca
