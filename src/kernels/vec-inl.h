// SPDX-License-Identifier: Apache-2.0
// Vector primitives. Included once per SIMD target; only other *-inl.h files
// and kernel .cc files may include this.

#if defined(KITH_KERNELS_VEC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_KERNELS_VEC_INL_H_
#undef KITH_KERNELS_VEC_INL_H_
#else
#define KITH_KERNELS_VEC_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kith::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows are 64-byte aligned and zero-padded to kRowPad floats (core/matrix.h),
// so every loop here runs whole vectors: no tail, no masks. The capped tag keeps
// that true on targets with vectors wider than the padding.
using F32 = hn::CappedTag<float, 16>;
inline constexpr F32 f32;

// Returns sum a[i] * b[i]. `n` is the padded width.
HWY_INLINE float dot(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, size_t n) {
  const size_t step = hn::Lanes(f32);
  auto sum0 = hn::Zero(f32);
  auto sum1 = hn::Zero(f32);  // two chains hide the FMA latency
  size_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
    sum0 = hn::MulAdd(hn::Load(f32, a + i), hn::Load(f32, b + i), sum0);
    sum1 = hn::MulAdd(hn::Load(f32, a + i + step), hn::Load(f32, b + i + step), sum1);
  }
  for (; i < n; i += step) {
    sum0 = hn::MulAdd(hn::Load(f32, a + i), hn::Load(f32, b + i), sum0);
  }
  return hn::GetLane(hn::SumOfLanes(f32, hn::Add(sum0, sum1)));
}

// y += alpha * x.
HWY_INLINE void axpy(float alpha, const float* HWY_RESTRICT x, float* HWY_RESTRICT y, size_t n) {
  const auto va = hn::Set(f32, alpha);
  for (size_t i = 0; i < n; i += hn::Lanes(f32)) {
    hn::Store(hn::MulAdd(va, hn::Load(f32, x + i), hn::Load(f32, y + i)), f32, y + i);
  }
}

// grad += alpha * out and out += alpha * in, reading each row once.
HWY_INLINE void axpy_pair(float alpha, const float* HWY_RESTRICT in, float* HWY_RESTRICT out,
                          float* HWY_RESTRICT grad, size_t n) {
  const auto va = hn::Set(f32, alpha);
  for (size_t i = 0; i < n; i += hn::Lanes(f32)) {
    const auto o = hn::Load(f32, out + i);
    hn::Store(hn::MulAdd(va, o, hn::Load(f32, grad + i)), f32, grad + i);
    hn::Store(hn::MulAdd(va, hn::Load(f32, in + i), o), f32, out + i);
  }
}

}  // namespace kith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
