// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables of floats in one byte for several of them (product quantisation: Jegou, Douze, Schmid
// 2011). The columns are cut into parts; each part of a row is one of at most 256 centroids, and a
// byte says which. Stored as two tensors:
//
//   NAME.codes       U8   rows x parts
//   NAME.centroids   F32  centroids x columns; part p is columns [p w, (p + 1) w)
//
// with w = columns / parts, rounded up. Where lengths of rows stand apart, NAME.codes are of rows
// of length 1, and NAME.norm.codes and NAME.norm.centroids of a table of one column.
//
// Who finds the centroids is not known here: see train/quantise.h.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/archive.h"

namespace kith {

inline constexpr size_t kMostCentroids = 256;
// So many values may stand behind a byte; without a limit a small file could become a huge table.
inline constexpr size_t kWidestPart = 64;

// The columns of each part, all but the last.
inline size_t width_of_parts(size_t cols, size_t parts) { return (cols + parts - 1) / parts; }

// A row from its codes.
void decode_row(std::span<const uint8_t> codes, const Matrix& centroids, std::span<float> out);

// Adds an entry without data for each table of a file that stands there in codes, so that all see
// it as what it is. Error(kInput) for shapes that do not fit.
void announce_quantised(std::map<std::string, Tensor>& tensors, const std::string& where);

// Such a table. Error(kInput) for a code beyond the centroids.
Matrix decode_quantised(const Archive& in, const std::string& name);

}  // namespace kith
