// SPDX-License-Identifier: Apache-2.0
#include "kernels/panels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panels.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::HWY_NAMESPACE {

// Four rows of the result, `kVectors` registers wide: eight to sixteen sums, so that neither the
// latency of a sum nor the loads decide. A register more for each vector of b, one for a.
template <size_t kVectors>
HWY_INLINE void four_rows(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, size_t depth,
                          float* HWY_RESTRICT out) {
  const size_t step = hn::Lanes(f32);
  VF s0[kVectors], s1[kVectors], s2[kVectors], s3[kVectors];
  for (size_t v = 0; v < kVectors; ++v) s0[v] = s1[v] = s2[v] = s3[v] = hn::Zero(f32);
  for (size_t r = 0; r < depth; ++r, a += kPanel, b += kPanel) {
    VF x[kVectors];
    for (size_t v = 0; v < kVectors; ++v) x[v] = hn::Load(f32, b + v * step);
    const auto a0 = hn::Set(f32, a[0]), a1 = hn::Set(f32, a[1]);
    const auto a2 = hn::Set(f32, a[2]), a3 = hn::Set(f32, a[3]);
    for (size_t v = 0; v < kVectors; ++v) {
      s0[v] = hn::MulAdd(a0, x[v], s0[v]);
      s1[v] = hn::MulAdd(a1, x[v], s1[v]);
      s2[v] = hn::MulAdd(a2, x[v], s2[v]);
      s3[v] = hn::MulAdd(a3, x[v], s3[v]);
    }
  }
  for (size_t v = 0; v < kVectors; ++v) {
    hn::Store(s0[v], f32, out + v * step);
    hn::Store(s1[v], f32, out + kPanel + v * step);
    hn::Store(s2[v], f32, out + 2 * kPanel + v * step);
    hn::Store(s3[v], f32, out + 3 * kPanel + v * step);
  }
}

void PanelProduct(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, size_t depth,
                  float* HWY_RESTRICT out) {
  constexpr size_t kVectors = 2;
  const size_t width = kVectors * hn::Lanes(f32);
  for (size_t j = 0; j < kPanel; j += width) {
    for (size_t i = 0; i < kPanel; i += 4) {
      four_rows<kVectors>(a + i, b + j, depth, out + i * kPanel + j);
    }
  }
}

void AddTile(const float* HWY_RESTRICT tile, size_t rows, size_t cols, double* HWY_RESTRICT to,
             size_t stride) {
  for (size_t i = 0; i < rows; ++i) {
    const float* HWY_RESTRICT const from = tile + i * kPanel;
    double* HWY_RESTRICT const sum = to + i * stride;
    for (size_t j = 0; j < cols; ++j) sum[j] += from[j];
  }
}

}  // namespace kith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith {

HWY_EXPORT(PanelProduct);
HWY_EXPORT(AddTile);

void panel_product(const float* a, const float* b, size_t depth, float* out) {
  HWY_DYNAMIC_DISPATCH(PanelProduct)(a, b, depth, out);
}
void add_tile(const float* tile, size_t rows, size_t cols, double* to, size_t stride) {
  HWY_DYNAMIC_DISPATCH(AddTile)(tile, rows, cols, to, stride);
}

}  // namespace kith
#endif
