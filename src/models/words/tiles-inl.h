// SPDX-License-Identifier: Apache-2.0
// The small dense products of a window: scores, slopes and moves of up to six rows of the centre's
// side at once. Included once per SIMD target, by kernel.cc alone.

#if defined(KITH_WORDS_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_WORDS_TILES_INL_H_
#undef KITH_WORDS_TILES_INL_H_
#else
#define KITH_WORDS_TILES_INL_H_
#endif

#include <type_traits>

#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::words::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kith::HWY_NAMESPACE::f32;
using kith::HWY_NAMESPACE::logistic;
using kith::HWY_NAMESPACE::store_sums4;
using kith::HWY_NAMESPACE::VF;

// out[i * K + j] = <a[i], b[j]> for M contexts and K rows of the centre's side. M * K accumulators
// live in registers; each row is read once.
template <int M, int K>
HWY_INLINE void dots(float* const* a, float* const* b, size_t stride, float* HWY_RESTRICT out) {
  constexpr int kSums = (M * K + 3) / 4 * 4;
  VF sum[kSums];
  HWY_UNROLL(12)
  for (int s = 0; s < kSums; ++s) sum[s] = hn::Zero(f32);
  for (size_t k = 0; k < stride; k += hn::Lanes(f32)) {
    VF x[M];
    HWY_UNROLL(2)
    for (int i = 0; i < M; ++i) x[i] = hn::Load(f32, a[i] + k);
    HWY_UNROLL(6)
    for (int j = 0; j < K; ++j) {
      VF y = hn::Load(f32, b[j] + k);
      HWY_UNROLL(2)
      for (int i = 0; i < M; ++i) sum[i * K + j] = hn::MulAdd(x[i], y, sum[i * K + j]);
    }
  }
  HWY_UNROLL(3)
  for (int s = 0; s < kSums; s += 4) {
    store_sums4(sum[s], sum[s + 1], sum[s + 2], sum[s + 3], out + s);
  }
}

template <int K>
HWY_INLINE void all_dots(float* const* a, size_t m, float* const* b, size_t stride, float* out) {
  size_t i = 0;
  for (; i + 2 <= m; i += 2) dots<2, K>(a + i, b, stride, out + i * K);
  if (i < m) dots<1, K>(a + i, b, stride, out + i * K);
}

// Turns scores into slopes, in place. `weight` is +1 for the centre, minus its multiplicity for a
// noise word and 0 for padding, repeated over the contexts; the slope is weight * sigma(z) with
// z = -sign(weight) * score, which is label - sigma(score), and the loss |weight| * log(1 + e^z).
// Returns the summed loss.
HWY_INLINE float slopes_of(float* HWY_RESTRICT s, const float* HWY_RESTRICT weight, size_t n) {
  VF total = hn::Zero(f32);
  for (size_t i = 0; i < n; i += hn::Lanes(f32)) {
    const VF w = hn::Load(f32, weight + i);
    const VF sign = hn::CopySign(hn::Set(f32, -1.0f), hn::Neg(w));
    const auto [sigma, loss] = logistic(hn::Mul(sign, hn::Load(f32, s + i)));
    const VF scaled = hn::Mul(hn::Abs(w), loss);
    total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(f32, n - i), scaled));
    hn::Store(hn::Mul(w, sigma), f32, s + i);
  }
  return hn::GetLane(hn::SumOfLanes(f32, total));
}

// Moves both sides at columns [k, k + lanes): a_i += step_i sum_j g_ij b_j and
// b_j += step_j sum_i g_ij a_i, all sums over old values. With several tiles of b the sum for a_i
// is carried in `partial`, and a_i moves with the last tile.
template <int K, bool kFirst, bool kLast>
HWY_INLINE void move_side(float* const* a, size_t m, float* const* b, const float* HWY_RESTRICT g,
                          const float* a_step, const float* b_step, float* HWY_RESTRICT partial,
                          size_t k) {
  const size_t lanes = hn::Lanes(f32);
  VF y[K], sum[K];
  HWY_UNROLL(6)
  for (int j = 0; j < K; ++j) {
    y[j] = hn::Load(f32, b[j] + k);
    sum[j] = hn::Zero(f32);
  }
  for (size_t i = 0; i < m; ++i) {
    const VF x = hn::Load(f32, a[i] + k);
    VF even = kFirst ? hn::Zero(f32) : hn::Load(f32, partial + i * lanes);
    VF odd = hn::Zero(f32);  // two chains
    HWY_UNROLL(6)
    for (int j = 0; j < K; ++j) {
      const VF slope = hn::Set(f32, g[i * K + j]);
      if (j % 2 == 0) {
        even = hn::MulAdd(slope, y[j], even);
      } else {
        odd = hn::MulAdd(slope, y[j], odd);
      }
      sum[j] = hn::MulAdd(slope, x, sum[j]);
    }
    const VF move = hn::Add(even, odd);
    if (kLast) {
      hn::Store(hn::MulAdd(hn::Set(f32, a_step[i]), move, x), f32, a[i] + k);
    } else {
      hn::Store(move, f32, partial + i * lanes);
    }
  }
  HWY_UNROLL(6)
  for (int j = 0; j < K; ++j) {
    hn::Store(hn::MulAdd(hn::Set(f32, b_step[j]), sum[j], y[j]), f32, b[j] + k);
  }
}

// mean = the mean of m rows.
HWY_INLINE void mean_of(float* const* a, size_t m, float* HWY_RESTRICT mean, size_t stride) {
  const VF inverse = hn::Set(f32, 1.0f / static_cast<float>(m));
  for (size_t k = 0; k < stride; k += hn::Lanes(f32)) {
    VF sum = hn::Load(f32, a[0] + k);
    for (size_t i = 1; i < m; ++i) sum = hn::Add(sum, hn::Load(f32, a[i] + k));
    hn::Store(hn::Mul(sum, inverse), f32, mean + k);
  }
}

// Each of n rows += now - before.
HWY_INLINE void add_move(const float* HWY_RESTRICT now, const float* HWY_RESTRICT before,
                         float* const* rows, size_t n, size_t stride) {
  for (size_t k = 0; k < stride; k += hn::Lanes(f32)) {
    const VF move = hn::Sub(hn::Load(f32, now + k), hn::Load(f32, before + k));
    for (size_t i = 0; i < n; ++i) {
      hn::Store(hn::Add(hn::Load(f32, rows[i] + k), move), f32, rows[i] + k);
    }
  }
}

// b_j += step_j g_j h and gradient (+)= sum_j g_j b_j, old values, for one row h.
template <int K>
HWY_INLINE void move_centres(const float* HWY_RESTRICT h, float* const* rows,
                             const float* HWY_RESTRICT g, const float* HWY_RESTRICT step,
                             float* HWY_RESTRICT gradient, bool first, size_t stride) {
  float* b[K];
  VF slope[K], scaled[K];
  HWY_UNROLL(6)
  for (int j = 0; j < K; ++j) {
    b[j] = rows[j];
    slope[j] = hn::Set(f32, g[j]);
    scaled[j] = hn::Set(f32, g[j] * step[j]);
  }
  for (size_t k = 0; k < stride; k += hn::Lanes(f32)) {
    const VF x = hn::Load(f32, h + k);
    VF even = first ? hn::Zero(f32) : hn::Load(f32, gradient + k);
    VF odd = hn::Zero(f32);
    HWY_UNROLL(6)
    for (int j = 0; j < K; ++j) {
      const VF y = hn::Load(f32, b[j] + k);
      if (j % 2 == 0) {
        even = hn::MulAdd(slope[j], y, even);
      } else {
        odd = hn::MulAdd(slope[j], y, odd);
      }
      hn::Store(hn::MulAdd(scaled[j], x, y), f32, b[j] + k);
    }
    hn::Store(hn::Add(even, odd), f32, gradient + k);
  }
}

// Calls f with the tile width as a constant: 6, or what is left over (2, 4 or 6).
template <class F>
HWY_INLINE void with_width(size_t width, const F& f) {
  if (width == 6) {
    f(std::integral_constant<int, 6>{});
  } else if (width == 4) {
    f(std::integral_constant<int, 4>{});
  } else {
    f(std::integral_constant<int, 2>{});
  }
}

}  // namespace kith::words::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
