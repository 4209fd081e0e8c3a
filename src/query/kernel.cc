// SPDX-License-Identifier: Apache-2.0
#include "query/kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "query/kernel.cc"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::query::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
constexpr size_t kSlice = 128;  // coordinates of a panel at a time
constexpr size_t kGroup = 16;   // rows at a time for one query: four sums in flight
using kith::HWY_NAMESPACE::f32;

#if HWY_TARGET != HWY_SCALAR
using F32x4 = hn::CappedTag<float, 4>;
inline constexpr F32x4 f32x4;
using V4 = hn::Vec<F32x4>;

// Coordinates k to k + 3 of 4 rows, a register per row, become a register per coordinate.
struct Turned {
  V4 c0, c1, c2, c3;
};
HWY_INLINE Turned turn(const float* r0, const float* r1, const float* r2, const float* r3) {
  const auto v0 = hn::Load(f32x4, r0), v1 = hn::Load(f32x4, r1);
  const auto v2 = hn::Load(f32x4, r2), v3 = hn::Load(f32x4, r3);
  const auto low01 = hn::InterleaveLower(f32x4, v0, v1);
  const auto low23 = hn::InterleaveLower(f32x4, v2, v3);
  const auto high01 = hn::InterleaveUpper(f32x4, v0, v1);
  const auto high23 = hn::InterleaveUpper(f32x4, v2, v3);
  return {hn::ConcatLowerLower(f32x4, low23, low01), hn::ConcatUpperUpper(f32x4, low23, low01),
          hn::ConcatLowerLower(f32x4, high23, high01), hn::ConcatUpperUpper(f32x4, high23, high01)};
}
#endif

// Copies 4 rows x 4 coordinates, starting at `row`, into a panel.
HWY_INLINE void pack_4x4(const float* HWY_RESTRICT row, size_t stride, float* HWY_RESTRICT panel) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t r = 0; r < 4; ++r) {
    for (size_t k = 0; k < 4; ++k) panel[k * kPanelRows + r] = row[r * stride + k];
  }
#else
  const Turned t = turn(row, row + stride, row + 2 * stride, row + 3 * stride);
  hn::Store(t.c0, f32x4, panel);
  hn::Store(t.c1, f32x4, panel + kPanelRows);
  hn::Store(t.c2, f32x4, panel + 2 * kPanelRows);
  hn::Store(t.c3, f32x4, panel + 3 * kPanelRows);
#endif
}

void pack_panels(ConstRows rows, size_t first, size_t count, size_t dim, float* panels) {
  const size_t depth = panel_depth(dim);
  for (size_t start = 0; start < count; start += kPanelRows, panels += kPanelRows * depth) {
    const size_t here = std::min(kPanelRows, count - start);
    if (here < kPanelRows) std::memset(panels, 0, kPanelRows * depth * sizeof(float));
    size_t r = 0;
    for (; r + 4 <= here; r += 4) {
      const float* row = rows.row(first + start + r);
      for (size_t k = 0; k < depth; k += 4) {
        pack_4x4(row + k, rows.stride, panels + k * kPanelRows + r);
      }
    }
    for (; r < here; ++r) {
      const float* row = rows.row(first + start + r);
      for (size_t k = 0; k < depth; ++k) panels[k * kPanelRows + r] = row[k];
    }
  }
}

// 4 queries x 3 registers of rows: 12 sums in flight hide the latency of a multiply-add and fit the
// 16 registers of AVX2. Named one by one, since scalable vectors cannot stand in an array.
// `queries` and `panel` start at the first of `depth` coordinates; `more` goes on with the sums of
// earlier coordinates.
HWY_INLINE void tile_4(ConstRows queries, const float* HWY_RESTRICT panel, size_t depth,
                       Rows scores, bool more) {
  const size_t n = hn::Lanes(f32);
  const float* HWY_RESTRICT q0 = queries.row(0);
  const float* HWY_RESTRICT q1 = queries.row(1);
  const float* HWY_RESTRICT q2 = queries.row(2);
  const float* HWY_RESTRICT q3 = queries.row(3);
  auto s00 = hn::Zero(f32), s01 = s00, s02 = s00, s10 = s00, s11 = s00, s12 = s00;
  auto s20 = s00, s21 = s00, s22 = s00, s30 = s00, s31 = s00, s32 = s00;
  const auto load = [&](size_t row, auto& a, auto& b, auto& c) HWY_ATTR {
    const float* HWY_RESTRICT from = scores.row(row);
    a = hn::Load(f32, from);
    b = hn::Load(f32, from + n);
    c = hn::Load(f32, from + 2 * n);
  };
  if (more) {
    load(0, s00, s01, s02);
    load(1, s10, s11, s12);
    load(2, s20, s21, s22);
    load(3, s30, s31, s32);
  }
  for (size_t k = 0; k < depth; ++k, panel += kPanelRows) {
    const auto r0 = hn::Load(f32, panel);
    const auto r1 = hn::Load(f32, panel + n);
    const auto r2 = hn::Load(f32, panel + 2 * n);
    const auto x0 = hn::Set(f32, q0[k]);
    s00 = hn::MulAdd(x0, r0, s00);
    s01 = hn::MulAdd(x0, r1, s01);
    s02 = hn::MulAdd(x0, r2, s02);
    const auto x1 = hn::Set(f32, q1[k]);
    s10 = hn::MulAdd(x1, r0, s10);
    s11 = hn::MulAdd(x1, r1, s11);
    s12 = hn::MulAdd(x1, r2, s12);
    const auto x2 = hn::Set(f32, q2[k]);
    s20 = hn::MulAdd(x2, r0, s20);
    s21 = hn::MulAdd(x2, r1, s21);
    s22 = hn::MulAdd(x2, r2, s22);
    const auto x3 = hn::Set(f32, q3[k]);
    s30 = hn::MulAdd(x3, r0, s30);
    s31 = hn::MulAdd(x3, r1, s31);
    s32 = hn::MulAdd(x3, r2, s32);
  }
  const auto store = [&](size_t row, auto a, auto b, auto c) HWY_ATTR {
    float* HWY_RESTRICT to = scores.row(row);
    hn::Store(a, f32, to);
    hn::Store(b, f32, to + n);
    hn::Store(c, f32, to + 2 * n);
  };
  store(0, s00, s01, s02);
  store(1, s10, s11, s12);
  store(2, s20, s21, s22);
  store(3, s30, s31, s32);
}

// The queries that do not fill a group of four.
HWY_INLINE void tile_1(const float* HWY_RESTRICT query, const float* HWY_RESTRICT panel,
                       size_t depth, float* HWY_RESTRICT scores, bool more) {
  const size_t n = hn::Lanes(f32);
  auto s0 = hn::Zero(f32), s1 = s0, s2 = s0;
  if (more) {
    s0 = hn::Load(f32, scores);
    s1 = hn::Load(f32, scores + n);
    s2 = hn::Load(f32, scores + 2 * n);
  }
  for (size_t k = 0; k < depth; ++k, panel += kPanelRows) {
    const auto x = hn::Set(f32, query[k]);
    s0 = hn::MulAdd(x, hn::Load(f32, panel), s0);
    s1 = hn::MulAdd(x, hn::Load(f32, panel + n), s1);
    s2 = hn::MulAdd(x, hn::Load(f32, panel + 2 * n), s2);
  }
  hn::Store(s0, f32, scores);
  hn::Store(s1, f32, scores + n);
  hn::Store(s2, f32, scores + 2 * n);
}

// A slice of a panel outside, queries inside: the slice (24 KB) stays in the first cache.
void score_panels(ConstRows queries, size_t query_count, const float* panels, size_t panel_count,
                  size_t dim, Rows scores) {
  const size_t depth = panel_depth(dim);
  const size_t step = 3 * hn::Lanes(f32);  // divides kPanelRows: lanes are 1, 2, 4, 8 or 16
  for (size_t p = 0; p < panel_count; ++p) {
    for (size_t k = 0; k < depth; k += kSlice) {
      const float* slice = panels + (p * depth + k) * kPanelRows;
      const size_t here = std::min(kSlice, depth - k);
      for (size_t r = 0; r < kPanelRows; r += step) {
        const ConstRows from{queries.data + k, queries.stride};
        const Rows to{scores.data + p * kPanelRows + r, scores.stride};
        size_t q = 0;
        for (; q + 4 <= query_count; q += 4) {
          tile_4({from.row(q), from.stride}, slice + r, here, {to.row(q), to.stride}, k > 0);
        }
        for (; q < query_count; ++q) tile_1(from.row(q), slice + r, here, to.row(q), k > 0);
      }
    }
  }
}

// One query reads every row once, so it turns them in registers instead of through a panel. The sum
// still runs over k in one lane: the bits are those of score_panels.
void score_rows(const float* HWY_RESTRICT query, ConstRows rows, size_t first, size_t count,
                size_t dim, float* HWY_RESTRICT scores) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t r = 0; r < count; ++r) {
    auto sum = hn::Zero(f32);
    const float* row = rows.row(first + r);
    for (size_t k = 0; k < panel_depth(dim); ++k) {
      sum = hn::MulAdd(hn::Set(f32, query[k]), hn::Load(f32, row + k), sum);
    }
    hn::Store(sum, f32, scores + r);
  }
#else
  const float* p[kGroup];
  for (size_t r = 0; r < count; r += kGroup) {
    for (size_t i = 0; i < kGroup; ++i) p[i] = rows.row(first + std::min(r + i, count - 1));
    const float* const ahead = rows.row(first + r + kGroup);
    auto s0 = hn::Zero(f32x4), s1 = s0, s2 = s0, s3 = s0;
    for (size_t k = 0; k < panel_depth(dim); k += 4) {
      // Sixteen streams at once defeat the hardware's prefetcher. The next rows are 4 cache lines
      // for each step; past the last row this asks for memory that nobody reads, which is allowed.
      for (size_t line = 0; line < 4; ++line) hwy::Prefetch(ahead + k * kGroup + line * kRowPad);
      const auto x0 = hn::Set(f32x4, query[k]), x1 = hn::Set(f32x4, query[k + 1]);
      const auto x2 = hn::Set(f32x4, query[k + 2]), x3 = hn::Set(f32x4, query[k + 3]);
      const auto add = [&](size_t i, V4 sum) HWY_ATTR {
        const Turned t = turn(p[i] + k, p[i + 1] + k, p[i + 2] + k, p[i + 3] + k);
        sum = hn::MulAdd(x1, t.c1, hn::MulAdd(x0, t.c0, sum));
        return hn::MulAdd(x3, t.c3, hn::MulAdd(x2, t.c2, sum));
      };
      s0 = add(0, s0);
      s1 = add(4, s1);
      s2 = add(8, s2);
      s3 = add(12, s3);
    }
    hn::Store(s0, f32x4, scores + r);
    hn::Store(s1, f32x4, scores + r + 4);
    hn::Store(s2, f32x4, scores + r + 8);
    hn::Store(s3, f32x4, scores + r + 12);
  }
#endif
}

void inverse_lengths(ConstRows rows, size_t count, size_t width, float* HWY_RESTRICT out) {
  for (size_t r = 0; r < count; ++r) {
    const float* const row = rows.row(r);
    out[r] = 1.0f / std::sqrt(kith::HWY_NAMESPACE::dot(row, row, width));
  }
}

void scale_scores(const float* HWY_RESTRICT inverse, size_t count, float* HWY_RESTRICT scores) {
  const auto none = hn::Set(f32, -std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < count; i += hn::Lanes(f32)) {
    const auto by = hn::Load(f32, inverse + i);
    const auto scaled = hn::Mul(hn::Load(f32, scores + i), by);
    hn::Store(hn::IfThenElse(hn::Gt(by, hn::Zero(f32)), scaled, none), f32, scores + i);
  }
}

size_t positions_above(const float* HWY_RESTRICT scores, size_t count, float threshold,
                       uint32_t* HWY_RESTRICT out) {
  const size_t n = hn::Lanes(f32);
  const auto limit = hn::Set(f32, threshold);
  size_t found = 0, i = 0;
  for (; i + n <= count; i += n) {
    // Nearly always false once the best are known, so finding out which lane may be slow.
    if (hn::AllFalse(f32, hn::Gt(hn::Load(f32, scores + i), limit))) continue;
    for (size_t lane = i; lane < i + n; ++lane) {
      if (scores[lane] > threshold) out[found++] = static_cast<uint32_t>(lane);
    }
  }
  for (; i < count; ++i) {
    if (scores[i] > threshold) out[found++] = static_cast<uint32_t>(i);
  }
  return found;
}

void combine_add(Cosines in, float scale, size_t count, float* HWY_RESTRICT out) {
  const auto by = hn::Set(f32, scale);
  for (size_t i = 0; i < count; i += hn::Lanes(f32)) {
    const auto offset = hn::Sub(hn::Load(f32, in.b + i), hn::Load(f32, in.a + i));
    hn::Store(hn::Mul(hn::Add(offset, hn::Load(f32, in.c + i)), by), f32, out + i);
  }
}

void combine_mul(Cosines in, float epsilon, size_t count, float* HWY_RESTRICT out) {
  const auto half = hn::Set(f32, 0.5f);
  const auto eps = hn::Set(f32, epsilon);
  const auto shifted = [&](const float* p)
                           HWY_ATTR { return hn::MulAdd(half, hn::Load(f32, p), half); };
  for (size_t i = 0; i < count; i += hn::Lanes(f32)) {
    const auto top = hn::Mul(shifted(in.b + i), shifted(in.c + i));
    hn::Store(hn::Div(top, hn::Add(shifted(in.a + i), eps)), f32, out + i);
  }
}

float distance_of(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, size_t n) {
  const size_t step = hn::Lanes(f32);
  auto sum = hn::Zero(f32);
  for (size_t i = 0; i < n; i += step) {
    sum = hn::MulAdd(hn::LoadU(f32, a + i), hn::LoadU(f32, b + i), sum);
  }
  return 1.0f - hn::GetLane(hn::SumOfLanes(f32, sum));
}
Distance chosen_distance() { return &distance_of; }

}  // namespace kith::query::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::query {

HWY_EXPORT(pack_panels);
HWY_EXPORT(score_panels);
HWY_EXPORT(score_rows);
HWY_EXPORT(inverse_lengths);
HWY_EXPORT(scale_scores);
HWY_EXPORT(positions_above);
HWY_EXPORT(combine_add);
HWY_EXPORT(combine_mul);
HWY_EXPORT(chosen_distance);

void pack_panels(ConstRows rows, size_t first, size_t count, size_t dim, float* panels) {
  HWY_DYNAMIC_DISPATCH(pack_panels)(rows, first, count, dim, panels);
}
void score_panels(ConstRows queries, size_t query_count, const float* panels, size_t panel_count,
                  size_t dim, Rows scores) {
  HWY_DYNAMIC_DISPATCH(score_panels)(queries, query_count, panels, panel_count, dim, scores);
}
void score_rows(const float* query, ConstRows rows, size_t first, size_t count, size_t dim,
                float* scores) {
  HWY_DYNAMIC_DISPATCH(score_rows)(query, rows, first, count, dim, scores);
}
void inverse_lengths(ConstRows rows, size_t count, size_t width, float* out) {
  HWY_DYNAMIC_DISPATCH(inverse_lengths)(rows, count, width, out);
}
void scale_scores(const float* inverse, size_t count, float* scores) {
  HWY_DYNAMIC_DISPATCH(scale_scores)(inverse, count, scores);
}
size_t positions_above(const float* scores, size_t count, float threshold, uint32_t* out) {
  return HWY_DYNAMIC_DISPATCH(positions_above)(scores, count, threshold, out);
}
void combine_add(Cosines cosines, float scale, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(combine_add)(cosines, scale, count, out);
}
void combine_mul(Cosines cosines, float epsilon, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(combine_mul)(cosines, epsilon, count, out);
}
Distance distance_function() { return HWY_DYNAMIC_DISPATCH(chosen_distance)(); }

}  // namespace kith::query
#endif  // HWY_ONCE
