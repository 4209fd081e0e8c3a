// SPDX-License-Identifier: Apache-2.0
// Losses of a score against a number, with their slopes. Included once per SIMD target, by kernel
// files.

#if defined(KITH_TRAIN_LOSS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_TRAIN_LOSS_INL_H_
#undef KITH_TRAIN_LOSS_INL_H_
#else
#define KITH_TRAIN_LOSS_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "kernels/vec-inl.h"
#include "train/loss.h"

HWY_BEFORE_NAMESPACE();
namespace kith::HWY_NAMESPACE {

struct Slope {
  float loss, slope;
};

// -log sigma(z) for the true value, -log sigma(-z) for noise, and its slope.
HWY_INLINE Slope binary(float z, bool truth) {
  const auto l = logistic(hn::Set(f32, z));
  const float sigma = hn::GetLane(l.sigma), softplus = hn::GetLane(l.loss);
  return truth ? Slope{softplus - z, sigma - 1} : Slope{softplus, sigma};
}

// Loss and slope of a score s where y was wanted (classes: y = 0 or 1). Errors are in units of
// their usual size, so that the bends of huber and tukey mean what they should.
HWY_INLINE Slope slope_of(Loss loss, float s, float y) {
  const float e = s - y;
  switch (loss) {
    case Loss::kAbsolute:
      return {std::abs(e), e > 0 ? 1.0f : e < 0 ? -1.0f : 0.0f};
    case Loss::kHuber: {
      constexpr float kBend = 1.345f;  // 95 % efficient on normal errors
      const float a = std::abs(e);
      return a <= kBend ? Slope{e * e / 2, e}
                        : Slope{kBend * (a - kBend / 2), std::copysign(kBend, e)};
    }
    case Loss::kTukey: {
      constexpr float kCut = 4.685f;  // likewise
      const float t = 1 - e * e / (kCut * kCut);
      if (t <= 0) return {kCut * kCut / 6, 0};
      return {kCut * kCut / 6 * (1 - t * t * t), e * t * t};
    }
    case Loss::kLogistic:
      return binary(s, y > 0.5f);
    case Loss::kHinge: {
      const float sign = y > 0.5f ? 1.0f : -1.0f;
      const float gap = 1 - sign * s;
      return gap > 0 ? Slope{gap, -sign} : Slope{0, 0};
    }
    case Loss::kKl: {
      // y log(y / s) - y + s, of a score that must be positive: below kLeast it is continued
      // straight.
      constexpr float kLeast = 0.05f;
      const float at = std::max(s, kLeast), slope = 1 - y / at;
      const float loss_there = (y > 0 ? y * std::log(y / at) : 0.0f) - y + at;
      return {loss_there + slope * (s - at), slope};
    }
    default:
      break;
  }
  return {e * e / 2, e};
}

}  // namespace kith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
