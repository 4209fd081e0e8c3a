// SPDX-License-Identifier: Apache-2.0
#pragma once
// How well a model gives rows back.

#include <cstdint>

#include "models/capabilities.h"

namespace kith {

// Sums over all cells of rows [first, first + count).
struct ErrorSums {
  double error = 0;     // squared difference of what the model gives back
  double baseline = 0;  // the same of the mean row
};
ErrorSums reconstruction_error(const Reconstructs& model, const MatrixRows& rows, uint64_t first,
                               size_t count);

}  // namespace kith
