// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums of whole rows. `width` is a multiple of kRowPad.

#include <cstddef>

namespace kith {

// change += copy - base.
void add_change(const float* copy, const float* base, float* change, size_t width);
// base += change.
void add_row(const float* change, float* base, size_t width);

}  // namespace kith
