// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/skinny.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::HWY_NAMESPACE {

// `kVectors` registers of sums stay in registers while the rows pass by.
template <size_t kVectors>
HWY_INLINE void sum_strip(const WeightedRows& s, bool add, size_t at, float* HWY_RESTRICT y) {
  const size_t step = hn::Lanes(f32);
  auto sum0 = hn::Zero(f32), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  if (add) {
    sum0 = hn::Load(f32, y);
    if constexpr (kVectors > 1) sum1 = hn::Load(f32, y + step);
    if constexpr (kVectors > 2) {
      sum2 = hn::Load(f32, y + 2 * step);
      sum3 = hn::Load(f32, y + 3 * step);
    }
  }
  for (size_t j = 0; j < s.count; ++j) {
    const float* HWY_RESTRICT const x = s.x.row(s.columns ? s.columns[j] : j) + at;
    const auto w = hn::Set(f32, s.scale * s.values[j]);
    sum0 = hn::MulAdd(w, hn::Load(f32, x), sum0);
    if constexpr (kVectors > 1) sum1 = hn::MulAdd(w, hn::Load(f32, x + step), sum1);
    if constexpr (kVectors > 2) {
      sum2 = hn::MulAdd(w, hn::Load(f32, x + 2 * step), sum2);
      sum3 = hn::MulAdd(w, hn::Load(f32, x + 3 * step), sum3);
    }
  }
  hn::Store(sum0, f32, y);
  if constexpr (kVectors > 1) hn::Store(sum1, f32, y + step);
  if constexpr (kVectors > 2) {
    hn::Store(sum2, f32, y + 2 * step);
    hn::Store(sum3, f32, y + 3 * step);
  }
}

void sum_rows(const WeightedRows& s, bool add, float* HWY_RESTRICT y, size_t width) {
  const size_t step = hn::Lanes(f32);
  size_t at = 0;
  for (; at + 4 * step <= width; at += 4 * step) sum_strip<4>(s, add, at, y + at);
  for (; at + 2 * step <= width; at += 2 * step) sum_strip<2>(s, add, at, y + at);
  for (; at < width; at += step) sum_strip<1>(s, add, at, y + at);
}

void dot_rows(const float* HWY_RESTRICT u, ConstRows x, const uint32_t* HWY_RESTRICT columns,
              size_t count, size_t width, float* HWY_RESTRICT out) {
  const size_t step = hn::Lanes(f32);
  size_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const float *a = x.row(columns[j]), *b = x.row(columns[j + 1]);
    const float *c = x.row(columns[j + 2]), *e = x.row(columns[j + 3]);
    auto s0 = hn::Zero(f32), s1 = s0, s2 = s0, s3 = s0;
    for (size_t i = 0; i < width; i += step) {
      const auto v = hn::Load(f32, u + i);
      s0 = hn::MulAdd(v, hn::Load(f32, a + i), s0);
      s1 = hn::MulAdd(v, hn::Load(f32, b + i), s1);
      s2 = hn::MulAdd(v, hn::Load(f32, c + i), s2);
      s3 = hn::MulAdd(v, hn::Load(f32, e + i), s3);
    }
    store_sums4(s0, s1, s2, s3, out + j);
  }
  for (; j < count; ++j) {
    // The same order of sums as above, so that a product does not depend on its neighbours.
    const float* const a = x.row(columns[j]);
    auto s = hn::Zero(f32);
    for (size_t i = 0; i < width; i += step) {
      s = hn::MulAdd(hn::Load(f32, u + i), hn::Load(f32, a + i), s);
    }
    float sums[4];
    store_sums4(s, s, s, s, sums);
    out[j] = sums[0];
  }
}

#if HWY_TARGET == HWY_SCALAR
void add_products(ConstRows a, size_t a_cols, ConstRows b, size_t first, size_t count,
                  double* HWY_RESTRICT out) {
  for (size_t r = first; r < first + count; ++r) {
    for (size_t i = 0; i < a_cols; ++i) {
      const double w = a.row(r)[i];
      for (size_t j = 0; j < b.stride; ++j) out[i * b.stride + j] += w * b.row(r)[j];
    }
  }
}
#else
constexpr size_t kTileRows = 64;
constexpr size_t kTileCols = 4;  // of a

// 4 columns of a, as doubles, by two registers of columns of b: eight sums in flight, which are
// loaded and stored once for all rows of the tile.
HWY_INLINE void add_tile(const double* HWY_RESTRICT a, ConstRows b, size_t first, size_t count,
                         size_t at, double* HWY_RESTRICT out, size_t cols) {
  const hn::CappedTag<double, 8> f64;
  const hn::Rebind<float, decltype(f64)> narrow;
  const size_t step = hn::Lanes(f64);
  auto s00 = hn::Zero(f64), s01 = s00, s10 = s00, s11 = s00;
  auto s20 = s00, s21 = s00, s30 = s00, s31 = s00;
  for (size_t r = 0; r < count; ++r, a += kTileCols) {
    const float* const row = b.row(first + r) + at;
    const auto b0 = hn::PromoteTo(f64, hn::Load(narrow, row));
    const auto b1 = hn::PromoteTo(f64, hn::Load(narrow, row + step));
    const auto a0 = hn::Set(f64, a[0]), a1 = hn::Set(f64, a[1]);
    s00 = hn::MulAdd(a0, b0, s00);
    s01 = hn::MulAdd(a0, b1, s01);
    s10 = hn::MulAdd(a1, b0, s10);
    s11 = hn::MulAdd(a1, b1, s11);
    const auto a2 = hn::Set(f64, a[2]), a3 = hn::Set(f64, a[3]);
    s20 = hn::MulAdd(a2, b0, s20);
    s21 = hn::MulAdd(a2, b1, s21);
    s30 = hn::MulAdd(a3, b0, s30);
    s31 = hn::MulAdd(a3, b1, s31);
  }
  const auto add = [&](size_t i, auto low, auto high) HWY_ATTR {
    if (i >= cols) return;
    double* const o = out + i * b.stride + at;
    hn::StoreU(hn::Add(hn::LoadU(f64, o), low), f64, o);
    hn::StoreU(hn::Add(hn::LoadU(f64, o + step), high), f64, o + step);
  };
  add(0, s00, s01);
  add(1, s10, s11);
  add(2, s20, s21);
  add(3, s30, s31);
}

void add_products(ConstRows a, size_t a_cols, ConstRows b, size_t first, size_t count,
                  double* HWY_RESTRICT out) {
  const size_t step = 2 * hn::Lanes(hn::CappedTag<double, 8>());
  HWY_ALIGN double tile[kTileRows * kTileCols];
  for (size_t r = 0; r < count; r += kTileRows) {
    const size_t rows = HWY_MIN(kTileRows, count - r);
    for (size_t i = 0; i < a_cols; i += kTileCols) {  // rows are padded, so four can be read
      for (size_t k = 0; k < rows; ++k) {
        const float* const row = a.row(first + r + k) + i;
        for (size_t c = 0; c < kTileCols; ++c) tile[k * kTileCols + c] = row[c];
      }
      for (size_t j = 0; j < b.stride; j += step) {
        add_tile(tile, b, first + r, rows, j, out + i * b.stride, a_cols - i);
      }
    }
  }
}
#endif

}  // namespace kith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith {

HWY_EXPORT(sum_rows);
HWY_EXPORT(dot_rows);
HWY_EXPORT(add_products);

void sum_rows(const WeightedRows& sum, bool add, float* y, size_t width) {
  HWY_DYNAMIC_DISPATCH(sum_rows)(sum, add, y, width);
}
void dot_rows(const float* u, ConstRows x, const uint32_t* columns, size_t count, size_t width,
              float* out) {
  HWY_DYNAMIC_DISPATCH(dot_rows)(u, x, columns, count, width, out);
}
void add_products(ConstRows a, size_t a_cols, ConstRows b, size_t first, size_t count,
                  double* out) {
  HWY_DYNAMIC_DISPATCH(add_products)(a, a_cols, b, first, count, out);
}

}  // namespace kith
#endif
