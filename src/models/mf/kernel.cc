// SPDX-License-Identifier: Apache-2.0
#include "models/mf/kernel.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/mf/kernel.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/vec-inl.h"
#include "train/loss-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::mf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kith::HWY_NAMESPACE::axpy;
using kith::HWY_NAMESPACE::binary;
using kith::HWY_NAMESPACE::dot;
using kith::HWY_NAMESPACE::f32;
using kith::HWY_NAMESPACE::inverse_root;
using kith::HWY_NAMESPACE::Slope;
using kith::HWY_NAMESPACE::slope_of;
using kith::HWY_NAMESPACE::VF;

HWY_INLINE float rsqrt(float x) {
  const hn::CappedTag<float, 1> one;
  return hn::GetLane(hn::ApproximateReciprocalSqrt(hn::Set(one, x)));
}

// p += a q - c p and q += b p - d q, both from the values before.
HWY_INLINE void move_both(float* HWY_RESTRICT p, float* HWY_RESTRICT q, size_t width, float a,
                          float b, float keep_p, float keep_q) {
  const VF va = hn::Set(f32, a), vb = hn::Set(f32, b);
  const VF kp = hn::Set(f32, keep_p), kq = hn::Set(f32, keep_q);
  for (size_t i = 0; i < width; i += hn::Lanes(f32)) {
    const VF x = hn::Load(f32, p + i), y = hn::Load(f32, q + i);
    hn::Store(hn::MulAdd(va, y, hn::Mul(kp, x)), f32, p + i);
    hn::Store(hn::MulAdd(vb, x, hn::Mul(kq, y)), f32, q + i);
  }
}

// The rate of a row after it has met a gradient of this mean square.
HWY_INLINE float rate_of(const Rates& rates, float& energy, float mean_square) {
  if (!rates.adapt) return rates.lr;
  energy += mean_square;
  return rates.lr * rsqrt(energy);
}

HWY_INLINE void move_bias(const Rates& rates, float* extras, float e) {
  if (!rates.biases) return;
  const float rate = rate_of(rates, extras[kBiasEnergy], e * e);
  extras[kBias] += rate * (e - rates.bias_penalty * extras[kBias]);
}

HWY_INLINE void prefetch_row(const float* row, size_t width) {
  for (size_t i = 0; i < std::min<size_t>(width, 256); i += 16) hwy::Prefetch(row + i);
}

// kWidth: the padded width if it is known when this is compiled, which is a quarter faster; or 0.
template <NumberLoss kLoss, size_t kWidth = 0>
double steps(const Rates& rates, size_t dim, std::span<const Rating> ratings, Rows users,
             Rows items) {
  constexpr size_t kAhead = 6;
  const size_t width = kWidth > 0 ? kWidth : padded(dim);
  const float share = 1.0f / static_cast<float>(std::max<size_t>(1, dim));
  double loss = 0;
  for (size_t k = 0; k < ratings.size(); ++k) {
    if (k + kAhead < ratings.size()) {
      prefetch_row(users.row(ratings[k + kAhead].user), width + kRowPad);
      prefetch_row(items.row(ratings[k + kAhead].item), width + kRowPad);
    }
    const Rating& r = ratings[k];
    float* const p = users.row(r.user);
    float* const q = items.row(r.item);
    const float pq = dot(p, q, width), pp = p[width + kSquare], qq = q[width + kSquare];
    const Slope at = slope_of(kLoss, pq + p[width + kBias] + q[width + kBias], r.value);
    loss += at.loss;
    const float e = -at.slope, square = e * e * share;
    const float lu = rate_of(rates, p[width + kEnergy], square * qq);
    const float li = rate_of(rates, q[width + kEnergy], square * pp);
    const float a = lu * e, b = li * e, keep_p = 1 - lu * rates.penalty,
                keep_q = 1 - li * rates.penalty;
    move_both(p, q, width, a, b, keep_p, keep_q);
    // |keep p + a q|^2, and so for q.
    p[width + kSquare] = keep_p * (keep_p * pp + 2 * a * pq) + a * a * qq;
    q[width + kSquare] = keep_q * (keep_q * qq + 2 * b * pq) + b * b * pp;
    move_bias(rates, p + width, e);
    move_bias(rates, q + width, e);
  }
  return loss;
}

double train_steps(Loss loss, const Rates& rates, size_t dim, std::span<const Rating> ratings,
                   Rows users, Rows items) {
  switch (loss) {
    case Loss::kAbsolute:
      return steps<NumberLoss::kAbsolute>(rates, dim, ratings, users, items);
    case Loss::kHuber:
      return steps<NumberLoss::kHuber>(rates, dim, ratings, users, items);
    case Loss::kTukey:
      return steps<NumberLoss::kTukey>(rates, dim, ratings, users, items);
    case Loss::kLogistic:
      return steps<NumberLoss::kLogistic>(rates, dim, ratings, users, items);
    case Loss::kHinge:
      return steps<NumberLoss::kHinge>(rates, dim, ratings, users, items);
    case Loss::kKl:
      return steps<NumberLoss::kKl>(rates, dim, ratings, users, items);
    case Loss::kAuto:
    case Loss::kSquared:
    case Loss::kBpr:
      break;
  }
  switch (padded(dim)) {
    case 16:
      return steps<NumberLoss::kSquared, 16>(rates, dim, ratings, users, items);
    case 32:
      return steps<NumberLoss::kSquared, 32>(rates, dim, ratings, users, items);
    case 64:
      return steps<NumberLoss::kSquared, 64>(rates, dim, ratings, users, items);
    case 128:
      return steps<NumberLoss::kSquared, 128>(rates, dim, ratings, users, items);
    default:
      return steps<NumberLoss::kSquared>(rates, dim, ratings, users, items);
  }
}

double train_rankings(const Rates& rates, size_t dim, std::span<const Rating> ratings,
                      std::span<const uint32_t> candidates, const Sparse& seen, Rng& rng,
                      Rows users, Rows items) {
  constexpr int kTries = 20;  // for an item that the user has not seen
  const size_t width = padded(dim);
  const float share = 1.0f / static_cast<float>(std::max<size_t>(1, dim));
  double loss = 0;
  for (const Rating& r : ratings) {
    const auto known = seen.row(r.user).columns;
    uint32_t other = 0;
    int tries = 0;
    do {
      other = candidates[rng.below(static_cast<uint32_t>(candidates.size()))];
    } while (std::ranges::binary_search(known, other) && ++tries < kTries);
    if (tries == kTries) continue;
    float* const p = users.row(r.user);
    float* const q = items.row(r.item);
    float* const n = items.row(other);
    // s = p . (q - n) + c_q - c_n; -log sigma(s)
    const Slope at =
        binary(dot(p, q, width) - dot(p, n, width) + q[width + kBias] - n[width + kBias], true);
    loss += at.loss;
    const float e = -at.slope, square = e * e * share;
    const float pp = dot(p, p, width);
    float apart = 0;  // |q - n|^2
    for (size_t i = 0; i < width; ++i) apart += (q[i] - n[i]) * (q[i] - n[i]);
    const float lu = rate_of(rates, p[width + kEnergy], square * apart);
    const float lq = rate_of(rates, q[width + kEnergy], square * pp);
    const float ln = rate_of(rates, n[width + kEnergy], square * pp);
    for (size_t i = 0; i < width; i += hn::Lanes(f32)) {
      const VF x = hn::Load(f32, p + i), y = hn::Load(f32, q + i), z = hn::Load(f32, n + i);
      const VF to_p =
          hn::MulSub(hn::Set(f32, e), hn::Sub(y, z), hn::Mul(hn::Set(f32, rates.penalty), x));
      hn::Store(hn::MulAdd(hn::Set(f32, lu), to_p, x), f32, p + i);
      hn::Store(
          hn::MulAdd(hn::Set(f32, lq * e), x, hn::Mul(hn::Set(f32, 1 - lq * rates.penalty), y)),
          f32, q + i);
      hn::Store(
          hn::MulAdd(hn::Set(f32, -ln * e), x, hn::Mul(hn::Set(f32, 1 - ln * rates.penalty), z)),
          f32, n + i);
    }
    move_bias(rates, q + width, e);
    move_bias(rates, n + width, -e);
  }
  return loss;
}

}  // namespace kith::mf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::mf {

HWY_EXPORT(train_steps);
HWY_EXPORT(train_rankings);

double train_block(Loss loss, const Rates& rates, size_t dim, std::span<const Rating> ratings,
                   Rows users, Rows items) {
  return HWY_DYNAMIC_DISPATCH(train_steps)(loss, rates, dim, ratings, users, items);
}
double train_pairs(const Rates& rates, size_t dim, std::span<const Rating> ratings,
                   std::span<const uint32_t> candidates, const Sparse& seen, Rng& rng, Rows users,
                   Rows items) {
  return HWY_DYNAMIC_DISPATCH(train_rankings)(rates, dim, ratings, candidates, seen, rng, users,
                                              items);
}

}  // namespace kith::mf
#endif  // HWY_ONCE
