// SPDX-License-Identifier: Apache-2.0
#pragma once
// The E step and the sums of the M step for a block of rows. A block stands column by column, so
// that a vector holds the same column of neighbouring rows: no padding of short rows, and the
// responsibilities of a component are vectors as well.
//
// With full covariances a row costs K d^2 / 2 multiply-adds in each of the two steps: the E step
// multiplies what is left of the row without the mean by the inverse Cholesky factor, whose other
// half is zero, and the M step makes one half of a symmetric matrix. Rows for which a component is
// hardly responsible are left out of its M step.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/line_vector.h"

namespace kith::gmm {

// How the square of a row's distance from a mean is measured.
enum class Metric {
  kScaled,    // by a scale for each column of each component: spherical, diagonal
  kWhitened,  // by a triangular factor of each component: full
  kShared,    // by the same factor for all: tied
  kPlain,     // as it is, and the nearest component takes the whole row: k-means
};

// Four rows of a triangular factor stand side by side; what is above the diagonal within them is 0.
inline constexpr size_t kPanel = 4;
size_t packed_factor_size(size_t dims);
// `lower`: dims x dims, by rows.
template <class T>
void pack_factor(const double* lower, size_t dims, T* out);

// Components as the kernel takes them.
template <class T>
struct Components {
  Metric metric = Metric::kScaled;
  size_t count = 0, dims = 0;
  LineVector<T> mean;    // count x dims
  LineVector<T> scale;   // kScaled: count x dims
  LineVector<T> factor;  // kWhitened: one for each component; kShared: one
  LineVector<T> white;   // kShared: the factor times each mean, count x dims
  LineVector<T> base;    // log weight - log |covariance| / 2 - dims log(2 pi) / 2

  size_t second_size() const;  // of Sums::second
};

// Of the rows so far, around the means that the components had.
struct Sums {
  double objective = 0;        // log-likelihood; k-means: squared distances
  std::vector<double> weight;  // of each component: sum of r
  std::vector<double> first;   // count x dims: sum of r (x - mean)
  // Sum of r (x - mean)(x - mean)^T: kWhitened: the lower triangle, by rows, of each component;
  // kShared: one for all; kScaled: the diagonal; kPlain: none.
  std::vector<double> second;

  template <class T>
  void clear(const Components<T>& components);
  void add(const Sums& other);
};

// One worker's rows and what is made of them.
template <class T>
class Block {
 public:
  explicit Block(const Components<T>& components);
  size_t rows() const { return rows_; }  // at most
  static uint64_t bytes(size_t dims, size_t components);

  // Rows of `dims` numbers, `stride` from one to the next; at most rows() of them.
  void take(const T* rows, size_t stride, size_t count);
  // Responsibilities, and of each row the log-density, or for k-means the squared distance.
  void expect(const Components<T>& components);
  // What expect() found, for all rows.
  void accumulate(const Components<T>& components, Sums& sums);

  size_t count() const { return count_; }
  T responsibility(size_t component, size_t row) const { return r_[component * rows_ + row]; }
  double density(size_t row) const { return density_[row]; }
  // Of each component with its weight: log(weight density). After distances(), before expect() has
  // made responsibilities of them.
  void distances(const Components<T>& components);
  T joint(size_t component, size_t row) const { return r_[component * rows_ + row]; }
  T x(size_t column, size_t row) const { return x_[column * rows_ + row]; }

  // Read by the kernel.
  size_t dims_, rows_, count_ = 0;
  LineVector<T> x_;                     // dims x rows
  LineVector<T> r_;                     // components x rows
  LineVector<T> centred_, weighted_;    // dims, padded to kPanel, x rows
  LineVector<T> white_;                 // kShared: dims x rows
  LineVector<double> density_;          // rows
  LineVector<T> top_, total_, chosen_;  // rows
  std::vector<uint32_t> index_;         // rows
};

}  // namespace kith::gmm
