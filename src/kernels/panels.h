// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of tall blocks, a^T b, in the form that keeps sums in registers: both are cut into
// panels of kPanel columns, which stand row behind row. What is summed is at most a block long, in
// single precision; whoever adds blocks up does it in double.

#include <cstddef>

namespace kith {

inline constexpr size_t kPanel = 32;
inline constexpr size_t panels_of(size_t cols) { return (cols + kPanel - 1) / kPanel; }

// out[i * kPanel + j] = sum over r < depth of a[r * kPanel + i] b[r * kPanel + j]. All three are
// aligned to 64 bytes.
void panel_product(const float* a, const float* b, size_t depth, float* out);

// to[i * stride + j] += tile[i * kPanel + j] for i < rows, j < cols.
void add_tile(const float* tile, size_t rows, size_t cols, double* to, size_t stride);

}  // namespace kith
