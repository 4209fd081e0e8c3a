// SPDX-License-Identifier: Apache-2.0
// The steps of optimiser.h on padded rows. Included once per SIMD target by kernel .cc files.

#if defined(KITH_TRAIN_OPTIMISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_TRAIN_OPTIMISE_INL_H_
#undef KITH_TRAIN_OPTIMISE_INL_H_
#else
#define KITH_TRAIN_OPTIMISE_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "kernels/vec-inl.h"
#include "train/optimiser.h"

HWY_BEFORE_NAMESPACE();
namespace kith::HWY_NAMESPACE {

// What adagrad-row divides lr by, after taking in one more gradient of this mean square.
HWY_INLINE float row_step(float* HWY_RESTRICT state, float mean_square, const Step& step) {
  *state += mean_square;
  return step.lr / (std::sqrt(*state) + step.delta);
}

// What adam's averages are multiplied by, which begin at 0 and would be too small for many steps:
// 1 / (1 - beta^t) and 1 / (1 - gamma^t). `powers` holds beta^t and gamma^t; 0 before the first
// step.
struct AdamScale {
  float mean, square;
};
HWY_INLINE AdamScale adam_scale(float* HWY_RESTRICT powers, const Step& step) {
  powers[0] = powers[0] == 0 ? step.beta : powers[0] * step.beta;
  powers[1] = powers[1] == 0 ? step.gamma : powers[1] * step.gamma;
  // A power that has run out must not count as none.
  powers[0] = std::max(powers[0], 1e-30f);
  powers[1] = std::max(powers[1], 1e-30f);
  return {1 / (1 - powers[0]), 1 / (1 - powers[1])};
}

// Moves x, of `width` floats, along the gradient coef * g + l2 * x. `state` has state_width()
// floats. `mean_square` is that of the gradient over the parameters that count; only adagrad-row
// asks for it.
template <Optimiser kind>
HWY_INLINE void optimise(float* HWY_RESTRICT x, float* HWY_RESTRICT state, size_t width,
                         const float* HWY_RESTRICT g, float coef, float mean_square,
                         const Step& step) {
  const auto c = hn::Set(f32, coef), l2 = hn::Set(f32, step.l2), lr = hn::Set(f32, step.lr);
  const auto gradient = [&](size_t i, VF at) {
    return hn::MulAdd(c, hn::Load(f32, g + i), hn::Mul(l2, at));
  };
  auto row_rate = hn::Zero(f32);
  if constexpr (kind == Optimiser::kRowAdaGrad) {
    row_rate = hn::Set(f32, row_step(state, mean_square, step));
  }
  AdamScale scale{1, 1};
  if constexpr (kind == Optimiser::kAdam) scale = adam_scale(state + 2 * width, step);
  for (size_t i = 0; i < width; i += hn::Lanes(f32)) {
    const auto at = hn::Load(f32, x + i);
    const auto grad = gradient(i, at);
    if constexpr (kind == Optimiser::kSgd) {
      hn::Store(hn::NegMulAdd(lr, grad, at), f32, x + i);
    } else if constexpr (kind == Optimiser::kRowAdaGrad) {
      hn::Store(hn::NegMulAdd(row_rate, grad, at), f32, x + i);
    } else if constexpr (kind == Optimiser::kMomentum || kind == Optimiser::kNesterov) {
      const auto beta = hn::Set(f32, step.beta);
      const auto v = hn::NegMulAdd(lr, grad, hn::Mul(beta, hn::Load(f32, state + i)));
      hn::Store(v, f32, state + i);
      if constexpr (kind == Optimiser::kMomentum) {
        hn::Store(hn::Add(at, v), f32, x + i);
      } else {
        hn::Store(hn::Add(at, hn::NegMulAdd(lr, grad, hn::Mul(beta, v))), f32, x + i);
      }
    } else if constexpr (kind == Optimiser::kAdaGrad) {
      const auto h = hn::MulAdd(grad, grad, hn::Load(f32, state + i));
      hn::Store(h, f32, state + i);
      const auto rate = hn::Div(lr, hn::Add(hn::Sqrt(h), hn::Set(f32, step.delta)));
      hn::Store(hn::NegMulAdd(rate, grad, at), f32, x + i);
    } else {
      const auto beta = hn::Set(f32, step.beta), gamma = hn::Set(f32, step.gamma);
      const auto rest = hn::Set(f32, 1 - step.beta), rest2 = hn::Set(f32, 1 - step.gamma);
      const auto m = hn::MulAdd(rest, grad, hn::Mul(beta, hn::Load(f32, state + i)));
      const auto h =
          hn::MulAdd(rest2, hn::Mul(grad, grad), hn::Mul(gamma, hn::Load(f32, state + width + i)));
      hn::Store(m, f32, state + i);
      hn::Store(h, f32, state + width + i);
      const auto root = hn::Sqrt(hn::Mul(hn::Set(f32, scale.square), h));
      const auto rate =
          hn::Div(hn::Mul(hn::Set(f32, scale.mean), lr), hn::Add(root, hn::Set(f32, step.delta)));
      hn::Store(hn::NegMulAdd(rate, m, at), f32, x + i);
    }
  }
}

}  // namespace kith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
