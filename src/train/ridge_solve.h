// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/matrix.h"
#include "core/parallel.h"
#include "train/linear_operator.h"

namespace kith {

// Brings x nearer to the solution of (A^T A + diag(penalty)) x = right, one column of `right` as
// well as all: `steps` steps of conjugate gradients from where x is, preconditioned by `diagonal`,
// that of A^T A. Fewer steps if nothing is left. The same bits for any number of threads.
void solve_ridge(const LinearOperator& a, std::span<const float> diagonal,
                 std::span<const float> penalty, const Matrix& right, int steps,
                 const Context& context, Matrix& x);

}  // namespace kith
