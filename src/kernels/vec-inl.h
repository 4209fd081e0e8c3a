// SPDX-License-Identifier: Apache-2.0
// Vector primitives. Included once per SIMD target; only other *-inl.h files and kernel .cc files
// may include this.

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

// Rows are 64-byte aligned and zero-padded to kRowPad floats (core/matrix.h), so every loop here
// runs whole vectors: no tail, no masks. The capped tag keeps that true on targets with vectors
// wider than the padding.
using F32 = hn::CappedTag<float, 16>;
using VF = hn::Vec<F32>;
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

#if HWY_TARGET != HWY_SCALAR
// Adds up the 128-bit blocks of a vector.
template <class D>
HWY_INLINE auto sum_blocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) > 4) {
    const hn::Half<D> half;
    return sum_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    return v;
  }
}
#endif

// Writes the four sums of lanes of a, b, c, e to out[0..3] (16-byte aligned or not). Transposing
// while adding takes 9 operations for four sums and leaves one store, where four separate sums of
// lanes would take four times as much.
HWY_INLINE void store_sums4(VF a, VF b, VF c, VF e, float* HWY_RESTRICT out) {
#if HWY_TARGET == HWY_SCALAR
  out[0] = hn::GetLane(a);
  out[1] = hn::GetLane(b);
  out[2] = hn::GetLane(c);
  out[3] = hn::GetLane(e);
#else
  const hn::Repartition<uint64_t, F32> wide;
  const auto ab = hn::Add(hn::InterleaveLower(f32, a, b), hn::InterleaveUpper(f32, a, b));
  const auto ce = hn::Add(hn::InterleaveLower(f32, c, e), hn::InterleaveUpper(f32, c, e));
  const auto x = hn::BitCast(wide, ab), y = hn::BitCast(wide, ce);
  const auto sums = hn::Add(hn::BitCast(f32, hn::InterleaveLower(wide, x, y)),
                            hn::BitCast(f32, hn::InterleaveUpper(wide, x, y)));
  const hn::CappedTag<float, 4> quad;
  hn::StoreU(sum_blocks(f32, sums), quad, out);
#endif
}

// e^-x for x >= 0; 0 beyond 87. Relative error below 2e-7: 2^n 2^f with a polynomial of degree 5
// on |f| <= 1/2 (fitted at Chebyshev nodes).
HWY_INLINE VF exp_minus(VF x) {
  const hn::RebindToSigned<F32> i32;
  const auto t = hn::Mul(hn::Min(x, hn::Set(f32, 87.0f)), hn::Set(f32, -1.44269504f));
  const auto n = hn::Round(t);
  const auto f = hn::Sub(t, n);
  auto p = hn::Set(f32, 0.00134004322f);
  p = hn::MulAdd(p, f, hn::Set(f32, 0.0096760371f));
  p = hn::MulAdd(p, f, hn::Set(f32, 0.0555032721f));
  p = hn::MulAdd(p, f, hn::Set(f32, 0.240221074f));
  p = hn::MulAdd(p, f, hn::Set(f32, 0.693147207f));
  p = hn::MulAdd(p, f, hn::Set(f32, 1.00000008f));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(i32, n), hn::Set(i32, 127)));
  return hn::Mul(p, hn::BitCast(f32, exponent));
}

// 1 / x for x in [1, 2], to rounding or nearly.
HWY_INLINE VF reciprocal(VF x) {
#if HWY_ARCH_X86
  // The estimate has 12 bits or more; one Newton step doubles them for less than a division.
  const auto r = hn::ApproximateReciprocal(x);
  return hn::Mul(r, hn::NegMulAdd(x, r, hn::Set(f32, 2.0f)));
#else
  return hn::Div(hn::Set(f32, 1.0f), x);
#endif
}

// 1 / sqrt(x) for positive finite x, to rounding or nearly.
HWY_INLINE VF inverse_root(VF x) {
#if HWY_ARCH_X86
  const auto r = hn::ApproximateReciprocalSqrt(x);
  const auto half = hn::Mul(x, hn::Mul(r, hn::Set(f32, 0.5f)));
  return hn::Mul(r, hn::NegMulAdd(half, r, hn::Set(f32, 1.5f)));
#else
  return hn::Div(hn::Set(f32, 1.0f), hn::Sqrt(x));
#endif
}

// sigma(z) = 1 / (1 + e^-z) and the loss -log sigma(-z) = log(1 + e^z) share their exponential.
// Both are right to 1e-6 for all finite z; NaN gives NaN.
struct Logistic {
  VF sigma, loss;
};
HWY_INLINE Logistic logistic(VF z) {
  const auto e = exp_minus(hn::Abs(z));
  const auto r = reciprocal(hn::Add(e, hn::Set(f32, 1.0f)));
  const auto positive = hn::Ge(z, hn::Zero(f32));
  // log(1 + e) = e P(e) for e in [0, 1], absolute error below 2e-7.
  auto p = hn::Set(f32, -0.00857467619f);
  p = hn::MulAdd(p, e, hn::Set(f32, 0.0442141923f));
  p = hn::MulAdd(p, e, hn::Set(f32, -0.107853679f));
  p = hn::MulAdd(p, e, hn::Set(f32, 0.17757024f));
  p = hn::MulAdd(p, e, hn::Set(f32, -0.244996117f));
  p = hn::MulAdd(p, e, hn::Set(f32, 0.332761766f));
  p = hn::MulAdd(p, e, hn::Set(f32, -0.499974494f));
  p = hn::MulAdd(p, e, hn::Set(f32, 0.99999981f));
  const auto nan = hn::Mul(z, hn::Zero(f32));  // 0, or NaN for NaN and infinity: never swallowed
  return {hn::Add(nan, hn::Mul(r, hn::IfThenElse(positive, hn::Set(f32, 1.0f), e))),
          hn::Add(hn::IfThenElse(positive, z, nan), hn::Mul(e, p))};
}

}  // namespace kith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
