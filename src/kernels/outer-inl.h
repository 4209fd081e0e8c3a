// SPDX-License-Identifier: Apache-2.0
// Sums of outer products, the matrix of normal equations. Included once per SIMD target, by kernel
// files.

#if defined(KITH_KERNELS_OUTER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_KERNELS_OUTER_INL_H_
#undef KITH_KERNELS_OUTER_INL_H_
#else
#define KITH_KERNELS_OUTER_INL_H_
#endif

#include <algorithm>

#include "core/matrix.h"
#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::HWY_NAMESPACE {

// a += sum over the first `rows` rows t of the tile of weight t t^T: the lower triangle of the
// first n coordinates, and whatever stands in the same vectors. Four rows share each load and store
// of a.
HWY_INLINE void add_outer(ConstRows tile, size_t rows, size_t n, const float* weights, Rows a) {
  const size_t step = hn::Lanes(f32);
  for (size_t k = 0; k < rows; k += 4) {
    const float* t[4];
    float w[4];
    for (size_t e = 0; e < 4; ++e) {
      t[e] = tile.row(std::min(k + e, rows - 1));
      w[e] = k + e < rows ? weights[k + e] : 0.0f;
    }
    for (size_t i = 0; i < n; ++i) {
      const VF c0 = hn::Set(f32, w[0] * t[0][i]), c1 = hn::Set(f32, w[1] * t[1][i]),
               c2 = hn::Set(f32, w[2] * t[2][i]), c3 = hn::Set(f32, w[3] * t[3][i]);
      float* const to = a.row(i);
      for (size_t j = 0; j <= i; j += step) {
        VF v = hn::Load(f32, to + j);
        v = hn::MulAdd(c0, hn::Load(f32, t[0] + j), v);
        v = hn::MulAdd(c1, hn::Load(f32, t[1] + j), v);
        v = hn::MulAdd(c2, hn::Load(f32, t[2] + j), v);
        v = hn::MulAdd(c3, hn::Load(f32, t[3] + j), v);
        hn::Store(v, f32, to + j);
      }
    }
  }
}

}  // namespace kith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
