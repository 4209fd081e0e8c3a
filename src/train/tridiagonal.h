// SPDX-License-Identifier: Apache-2.0
#pragma once
// The first eigenvectors of a large symmetric matrix, in steps that can be stopped between: by
// reflections to a tridiagonal matrix, whose eigenvectors inverse iteration finds. Private to
// src/train.

#include <span>
#include <vector>

#include "train/symmetric.h"

namespace kith {

// All eigenvalues of the tridiagonal matrix, rising.
using TridiagonalValues = std::vector<double> (*)(std::span<const double> diagonal,
                                                  std::span<const double> beside);
// Signs are left as they come.
EigenPairs eigenpairs_by_reflections(Small a, size_t count, TridiagonalValues values,
                                     const Context& context);

}  // namespace kith
