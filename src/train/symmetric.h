// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small dense algebra in double around symmetric matrices. A block of vectors is a Small whose rows
// they are.

#include <cstddef>
#include <span>
#include <vector>

#include "train/products.h"

namespace kith {

// Eigenvalues, falling, and a vector of length 1 for each. Its entry that is largest in size is
// positive.
struct EigenPairs {
  std::vector<double> values;
  Small vectors;
};
// The `count` largest of a symmetric matrix, of which the lower half is read. With a context it
// stops soon with Error(kCancelled) once that is cancelled, however large the matrix.
EigenPairs largest_eigenpairs(const Small& a, size_t count, const Context* context = nullptr);

// a b, and a b^T.
Small product(const Small& a, const Small& b);
Small product_transposed(const Small& a, const Small& b);
// a^T b.
Small transposed_product(const Small& a, const Small& b);

// Rows that span those of `a`, and are orthonormal; as many, whatever the rank of a, at most its
// columns.
Small orthonormal_rows(const Small& a);

// Makes the entry of each row that is largest in size positive.
void fix_signs(Small& vectors);

}  // namespace kith
