// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of a large matrix with a skinny one, a row at a time: what the singular value
// decompositions in train/ are made of. Rows of the skinny one are contiguous and padded
// (core/matrix.h), so inner loops run along them. No threads, no allocation.

#include <cstddef>
#include <cstdint>

#include "core/matrix.h"

namespace kith {

// y (+)= sum over j < count of scale * values[j] * x.row(columns[j]), `width` floats, a multiple of
// kRowPad. columns == nullptr stands for 0, 1, 2...
struct WeightedRows {
  ConstRows x;
  const uint32_t* columns;
  const float* values;
  size_t count;
  float scale;
};
void sum_rows(const WeightedRows& sum, bool add, float* y, size_t width);

// out[j] = u . x.row(columns[j]) for j < count, over `width` floats.
void dot_rows(const float* u, ConstRows x, const uint32_t* columns, size_t count, size_t width,
              float* out);

// out[i * b.stride + j] += sum over rows r in [first, first + count) of a_ri b_rj, for i < a_cols
// and all (padded) columns j of b, in double.
void add_products(ConstRows a, size_t a_cols, ConstRows b, size_t first, size_t count, double* out);

}  // namespace kith
