// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums of whole rows. `width` is a multiple of kRowPad.

#include <cstddef>

namespace kith {

// change += copy - base.
void add_change(const float* copy, const float* base, float* change, size_t width);
// The same for rows [x, h]: `width` parameters that AdaGrad moved and its sums of squares h, one
// for each or (`one`) one for all. `change` has those of h already; that of x counts by sqrt(h of
// the copy / h of base and change).
void add_earned_change(const float* copy, const float* base, float* change, size_t width, bool one);
// base += change.
void add_row(const float* change, float* base, size_t width);

// Of the kernels in use.
const char* instructions_in_use();

}  // namespace kith
