// SPDX-License-Identifier: Apache-2.0
#include "models/glove/kernel.h"

#include <hwy/cache_control.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/glove/kernel.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::glove::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kith::HWY_NAMESPACE::dot;
using kith::HWY_NAMESPACE::exp_minus;
using kith::HWY_NAMESPACE::f32;
using kith::HWY_NAMESPACE::VF;

constexpr size_t kBatch = 16;  // cells whose weights are computed at once

// f(N) = e^(-alpha max(0, log x_max - log N))
HWY_INLINE void weights_of(const Steps& steps, std::span<const Entry> cells,
                           float* HWY_RESTRICT out) {
  for (size_t k = 0; k < kBatch; ++k) out[k] = k < cells.size() ? cells[k].value : 0;
  for (size_t k = 0; k < kBatch; k += hn::Lanes(f32)) {
    const VF below = hn::Sub(hn::Set(f32, steps.log_x_max), hn::Load(f32, out + k));
    const VF x = hn::Mul(hn::Set(f32, steps.alpha), hn::Max(below, hn::Zero(f32)));
    hn::Store(exp_minus(x), f32, out + k);
  }
}

HWY_INLINE void prefetch_row(const float* row, size_t width) {
  for (size_t i = 0; i < std::min<size_t>(width, 512); i += 16) hwy::Prefetch(row + i);
}

// x -= lr g / sqrt(h) with h += g^2.
HWY_INLINE void adapt(VF g, VF lr, float* HWY_RESTRICT x, float* HWY_RESTRICT h) {
  const VF square = hn::MulAdd(g, g, hn::Load(f32, h));
  hn::Store(square, f32, h);
  const VF rate = hn::Mul(lr, hn::ApproximateReciprocalSqrt(square));
  hn::Store(hn::NegMulAdd(g, rate, hn::Load(f32, x)), f32, x);
}

template <bool kAdapt>
HWY_INLINE void move_both(float e, float lr, float* HWY_RESTRICT x, float* HWY_RESTRICT y,
                          size_t width) {
  const VF ve = hn::Set(f32, e), vl = hn::Set(f32, lr);
  for (size_t i = 0; i < width; i += hn::Lanes(f32)) {
    const VF to_x = hn::Mul(ve, hn::Load(f32, y + i)), to_y = hn::Mul(ve, hn::Load(f32, x + i));
    if constexpr (kAdapt) {
      adapt(to_x, vl, x + i, x + width + i);
      adapt(to_y, vl, y + i, y + width + i);
    } else {
      hn::Store(hn::NegMulAdd(vl, to_x, hn::Load(f32, x + i)), f32, x + i);
      hn::Store(hn::NegMulAdd(vl, to_y, hn::Load(f32, y + i)), f32, y + i);
    }
  }
}

template <bool kAdapt, size_t kWidth = 0>
double steps_of(const Steps& steps, std::span<const Entry> cells, Rows words, Rows contexts) {
  constexpr size_t kAhead = 4;
  const size_t width = kWidth > 0 ? kWidth : parameters(steps.dim);
  HWY_ALIGN float weights[kBatch];
  double cost = 0;
  for (size_t k = 0; k < cells.size(); ++k) {
    if (k % kBatch == 0) weights_of(steps, cells.subspan(k), weights);
    if (k + kAhead < cells.size()) {
      prefetch_row(words.row(cells[k + kAhead].row), 2 * width);
      prefetch_row(contexts.row(cells[k + kAhead].column), 2 * width);
    }
    float* const x = words.row(cells[k].row);
    float* const y = contexts.row(cells[k].column);
    const float error = dot(x, y, width) - cells[k].value;
    const float e = weights[k % kBatch] * error;
    cost += 0.5f * e * error;
    move_both<kAdapt>(e, steps.lr, x, y, width);
    x[steps.dim + 1] = y[steps.dim] = steps.one;  // which are no parameters
  }
  return cost;
}

double train(const Steps& steps, std::span<const Entry> cells, Rows words, Rows contexts) {
  if (steps.optimiser != Optimiser::kAdaGrad) {
    return steps_of<false>(steps, cells, words, contexts);
  }
  switch (parameters(steps.dim)) {
    case 64:
      return steps_of<true, 64>(steps, cells, words, contexts);
    case 112:
      return steps_of<true, 112>(steps, cells, words, contexts);
    case 208:
      return steps_of<true, 208>(steps, cells, words, contexts);
    default:
      return steps_of<true>(steps, cells, words, contexts);
  }
}

double cost(const Steps& steps, std::span<const Entry> cells, ConstRows words, ConstRows contexts) {
  const size_t width = parameters(steps.dim);
  HWY_ALIGN float weights[kBatch];
  double out = 0;
  for (size_t k = 0; k < cells.size(); ++k) {
    if (k % kBatch == 0) weights_of(steps, cells.subspan(k), weights);
    const float error =
        dot(words.row(cells[k].row), contexts.row(cells[k].column), width) - cells[k].value;
    out += 0.5f * weights[k % kBatch] * error * error;
  }
  return out;
}

}  // namespace kith::glove::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::glove {

HWY_EXPORT(train);
HWY_EXPORT(cost);

double train_cells(const Steps& steps, std::span<const Entry> cells, Rows words, Rows contexts) {
  return HWY_DYNAMIC_DISPATCH(train)(steps, cells, words, contexts);
}
double cost_of_cells(const Steps& steps, std::span<const Entry> cells, ConstRows words,
                     ConstRows contexts) {
  return HWY_DYNAMIC_DISPATCH(cost)(steps, cells, words, contexts);
}

}  // namespace kith::glove
#endif  // HWY_ONCE
