// SPDX-License-Identifier: Apache-2.0
#pragma once
// Singular value decompositions A = U diag(sigma) V^T: whole ones of small dense matrices, and the
// first triplets of anything that can be multiplied by a skinny block. By the theorem of Eckart and
// Young the first k triplets are the best approximation of rank k.
//
// Signs are fixed: the entry of each u that is largest in size is positive. Same bits for any
// number of threads.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"
#include "train/linear_operator.h"
#include "train/products.h"

namespace kith {

struct Svd {
  Matrix u;                   // rows x rank, orthonormal columns
  std::vector<double> sigma;  // falling, all above 0
  Matrix v;                   // cols x rank, likewise
  size_t rank() const { return sigma.size(); }
};

// All triplets, by a dense decomposition in double: n m^2 operations. Singular values at the level
// of rounding are left out.
Svd dense_svd(const Matrix& a);

struct SvdOptions {
  size_t rank;
  size_t oversample = 10;         // columns beyond the rank that are iterated on, then dropped
  int power = 4;                  // times that the block goes through A^T A
  uint64_t seed = 1;              // of the columns that do not come from `start`
  const Matrix* start = nullptr;  // cols x any: where the right vectors lie, if that is known
  size_t start_cols = 0;          // how many columns of it to take
};
// The first `rank` triplets, fewer if the matrix has a lower rank. Block power iteration with
// orthonormal blocks (Halko, Martinsson, Tropp 2011, algorithm 4.4), then the decomposition of what
// the matrix does within the block.
Svd randomised_svd(const LinearOperator& a, const SvdOptions& options, const Context& context);

// The first triplets one after the other: u = A v / |A v|, v = A^T u / |A^T u| until v stands
// still, then the same for A less what was found. Slow where two singular values are close; for
// teaching and tests.
struct PowerOptions {
  size_t rank = 1;
  int iterations = 2000;
  double tolerance = 1e-7;  // change of v
  uint64_t seed = 1;
};
Svd power_method(const LinearOperator& a, const PowerOptions& options, const Context& context);

// Columns that span those of y (as many as y has rank, to single precision) and are orthonormal.
Matrix orthonormal(const Matrix& y, const Context& context);

// The SVD of p q^T: from factors to triplets.
Svd svd_of_product(const Matrix& p, const Matrix& q, const Context& context);

// argmin over B of |A - B|_F^2 / 2 + tau |B|_*: every singular value less tau, those below gone.
Svd shrink(const Svd& a, double tau);
// The first k triplets.
Svd truncated(const Svd& a, size_t k);

// U diag(sigma)^(1/2) and V diag(sigma)^(1/2): of all factors with this product those with the
// least |P|^2 + |Q|^2, which is then twice the nuclear norm.
struct FactorPair {
  Matrix p, q;
};
FactorPair balanced(const Svd& a);

}  // namespace kith
