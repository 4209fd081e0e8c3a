// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inner loops of search, one body for every instruction set. Plain memory in and out: no names,
// no threads, no allocation. Everybody else in query/ decides what to compare with what.

#include <cstddef>
#include <cstdint>

#include "core/matrix.h"

namespace kith::query {

// Rows are compared in panels of this many, turned so that a vector register holds one coordinate
// of several rows: panel[k * kPanelRows + r] is coordinate k of row r. Three registers at the
// widest, so that 4 queries x 3 registers keep the multiply-adders busy. A score is then a plain
// sum over k in one lane, whatever the size of the tile: the same bits in any company.
inline constexpr size_t kPanelRows = 48;
// Coordinates in a panel: `dim` rounded up, the rest are zeros.
inline constexpr size_t panel_depth(size_t dim) { return (dim + 3) / 4 * 4; }
inline constexpr size_t panel_floats(size_t dim) { return kPanelRows * panel_depth(dim); }

// Fills ceil(count / kPanelRows) panels from rows [first, first + count); missing rows are zeros.
// `panels` is aligned to 64 bytes.
void pack_panels(ConstRows rows, size_t first, size_t count, size_t dim, float* panels);

// scores.row(q)[r] = queries.row(q) . row r of the panels, for `panel_count` panels.
void score_panels(ConstRows queries, size_t query_count, const float* panels, size_t panel_count,
                  size_t dim, Rows scores);

// The same for one query and rows [first, first + count) as they stand, at the speed of memory.
// Room for `count` rounded up to kRowPad scores.
void score_rows(const float* query, ConstRows rows, size_t first, size_t count, size_t dim,
                float* scores);

// out[r] = 1 / |row r| over `width` floats (a multiple of kRowPad) for rows [0, count); infinity or
// 0 for a row whose squares do not fit a float.
void inverse_lengths(ConstRows rows, size_t count, size_t width, float* out);
// scores[i] *= inverse[i], or -infinity where that is 0; `count` is a multiple of kRowPad.
void scale_scores(const float* inverse, size_t count, float* scores);

// Writes the positions i with scores[i] > threshold to `out` in rising order; returns how many.
size_t positions_above(const float* scores, size_t count, float threshold, uint32_t* out);

// How the cosines of a candidate with the words of a question a : b = c : ? become its score.
struct Cosines {
  const float* a;
  const float* b;
  const float* c;
};
// out = (b - a + c) * scale. `count` is a multiple of kRowPad, all pointers aligned to 64 bytes.
void combine_add(Cosines cosines, float scale, size_t count, float* out);
// out = b' c' / (a' + epsilon) with x' = (1 + x) / 2, Levy and Goldberg (2014), equation 4.
void combine_mul(Cosines cosines, float epsilon, size_t count, float* out);

// 1 - a . b for `n` floats, n a multiple of kRowPad, at any address: the graph library packs its
// elements without alignment. The pointer is fetched once, so that a search pays no dispatch.
using Distance = float (*)(const float* a, const float* b, size_t n);
Distance distance_function();

}  // namespace kith::query
