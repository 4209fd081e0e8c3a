// SPDX-License-Identifier: Apache-2.0
#pragma once
// What predictions leave of the ratings, P_Omega(X - mean - user . item): the sparse part of the
// matrices that completion decomposes. Kept by user and by item, so that products with it and with
// its transpose are both sums over a row.

#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"
#include "data/sparse.h"

namespace kith {

class Residual {
 public:
  explicit Residual(const Sparse& ratings);

  // Rows as in models/ratings/factors.h, biases included. Returns the sum of squares, the same bits
  // for any number of threads.
  double update(const Matrix& user, const Matrix& item, double mean, const Context& context);
  const Sparse& by_user() const { return by_user_; }  // of the last update
  const Sparse& by_item() const { return by_item_; }
  uint64_t size() const { return by_user_.size(); }

 private:
  Sparse by_user_, by_item_;
  std::vector<float> rating_by_user_, rating_by_item_;
};

// sum over the observed pairs of (a_i . b_j)^2, over the first `width` floats of the rows, a
// multiple of kRowPad.
double observed_square(const Sparse& pattern, const Matrix& a, const Matrix& b,
                       const Context& context);

}  // namespace kith
