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

// How far a rating moves the two rows: p becomes keep_p p + a q, q becomes keep_q q + b p.
struct Move {
  float a, keep_p, b, keep_q;
};

HWY_INLINE void move_both(float* HWY_RESTRICT p, float* HWY_RESTRICT q, size_t width,
                          const Move& move) {
  const VF va = hn::Set(f32, move.a), vb = hn::Set(f32, move.b);
  const VF kp = hn::Set(f32, move.keep_p), kq = hn::Set(f32, move.keep_q);
  for (size_t i = 0; i < width; i += hn::Lanes(f32)) {
    const VF x = hn::Load(f32, p + i), y = hn::Load(f32, q + i);
    hn::Store(hn::MulAdd(va, y, hn::Mul(kp, x)), f32, p + i);
    hn::Store(hn::MulAdd(vb, x, hn::Mul(kq, y)), f32, q + i);
  }
}

// The same, with what is not kept of a row taken from what it is drawn to.
HWY_INLINE void move_drawn(float* HWY_RESTRICT p, float* HWY_RESTRICT q,
                           const float* HWY_RESTRICT mp, const float* HWY_RESTRICT mq, size_t width,
                           const Move& move) {
  const VF va = hn::Set(f32, move.a), vb = hn::Set(f32, move.b);
  const VF kp = hn::Set(f32, move.keep_p), kq = hn::Set(f32, move.keep_q);
  VF pp = hn::Zero(f32), qq = hn::Zero(f32);
  for (size_t i = 0; i < width; i += hn::Lanes(f32)) {
    const VF x = hn::Load(f32, p + i), y = hn::Load(f32, q + i);
    const VF mx = hn::Load(f32, mp + i), my = hn::Load(f32, mq + i);
    const VF x2 = hn::MulAdd(va, y, hn::MulAdd(kp, hn::Sub(x, mx), mx));
    const VF y2 = hn::MulAdd(vb, x, hn::MulAdd(kq, hn::Sub(y, my), my));
    hn::Store(x2, f32, p + i);
    hn::Store(y2, f32, q + i);
    pp = hn::MulAdd(x2, x2, pp);
    qq = hn::MulAdd(y2, y2, qq);
  }
  p[width + kSquare] = hn::GetLane(hn::SumOfLanes(f32, pp));
  q[width + kSquare] = hn::GetLane(hn::SumOfLanes(f32, qq));
}

// The rate of a row after it has met a gradient of this mean square.
HWY_INLINE float rate_of(const Rates& rates, float& energy, float mean_square) {
  if (!rates.adapt) return rates.lr;
  energy += mean_square;
  return rates.lr * rsqrt(energy);
}

// What a step of this rate keeps of the way from what a row is drawn to.
HWY_INLINE float kept(float rate, float hold) { return std::max(0.0f, 1 - rate * hold); }

HWY_INLINE void move_bias(const Rates& rates, float* extras, float e) {
  if (!rates.biases) return;
  const float rate = rate_of(rates, extras[kBiasEnergy], e * e), mean = extras[kDrawnBias];
  extras[kBias] = kept(rate, extras[kBiasHold]) * (extras[kBias] - mean) + mean + rate * e;
}

// The moves along e, with everything that stands behind the vectors brought up to date.
HWY_INLINE Move move_extras(const Rates& rates, float share, float e, float pq,
                            float* HWY_RESTRICT pe, float* HWY_RESTRICT qe) {
#if HWY_TARGET != HWY_SCALAR
  if (rates.adapt) {
    // Both rows at once, four numbers a vector: while wide vectors are about, a single number costs
    // as much as sixteen. A row has [square, bias, energy, energy of the bias] and [lambda, beta,
    // nothing, what the bias is drawn to].
    const hn::FixedTag<float, 4> quad;
    const auto p2 = hn::Load(quad, pe + kHold), q2 = hn::Load(quad, qe + kHold);
    const auto hold = hn::ConcatLowerLower(quad, q2, p2);
    const auto mean = hn::ConcatUpperUpper(quad, q2, p2);
    const auto p = hn::Load(quad, pe), q = hn::Load(quad, qe), one = hn::Set(quad, 1.0f);
    const auto own = hn::ConcatLowerLower(quad, q, p);    // |p|^2, b, |q|^2, c
    const auto other = hn::ConcatLowerLower(quad, p, q);  // |q|^2, c, |p|^2, b
    const auto gain = hn::OddEven(one, hn::Mul(hn::Set(quad, share), other));
    const auto energy = hn::MulAdd(hn::Set(quad, e * e), gain, hn::ConcatUpperUpper(quad, q, p));
    const auto rate = hn::Mul(hn::Set(quad, rates.lr), hn::ApproximateReciprocalSqrt(energy));
    const auto step = hn::Mul(hn::Set(quad, e), rate);
    const auto keep = hn::Max(hn::Zero(quad), hn::NegMulAdd(hold, rate, one));
    // |keep p + a q|^2 = keep (keep |p|^2 + 2 a p.q) + a^2 |q|^2
    const auto squares =
        hn::MulAdd(keep, hn::MulAdd(keep, own, hn::Mul(step, hn::Set(quad, 2 * pq))),
                   hn::Mul(hn::Mul(step, step), other));
    const auto biases =
        rates.biases ? hn::MulAdd(keep, hn::Sub(own, mean), hn::Add(mean, step)) : own;
    const auto low = hn::OddEven(biases, squares);
    hn::Store(hn::ConcatLowerLower(quad, energy, low), quad, pe);
    hn::Store(hn::ConcatUpperUpper(quad, energy, low), quad, qe);
    HWY_ALIGN float steps[4], keeps[4];
    hn::Store(step, quad, steps);
    hn::Store(keep, quad, keeps);
    return {steps[0], keeps[0], steps[2], keeps[2]};
  }
#endif
  const float pp = pe[kSquare], qq = qe[kSquare], square = e * e * share;
  const float lu = rate_of(rates, pe[kEnergy], square * qq);
  const float li = rate_of(rates, qe[kEnergy], square * pp);
  const Move m{lu * e, kept(lu, pe[kHold]), li * e, kept(li, qe[kHold])};
  pe[kSquare] = m.keep_p * (m.keep_p * pp + 2 * m.a * pq) + m.a * m.a * qq;
  qe[kSquare] = m.keep_q * (m.keep_q * qq + 2 * m.b * pq) + m.b * m.b * pp;
  move_bias(rates, pe, e);
  move_bias(rates, qe, e);
  return m;
}

HWY_INLINE void prefetch_row(const float* row, size_t width) {
  for (size_t i = 0; i < std::min<size_t>(width, 256); i += 16) hwy::Prefetch(row + i);
}

// kWidth: the padded width if it is known when this is compiled, which is a quarter faster; or 0.
template <Loss kLoss, bool kDrawn, size_t kWidth = 0>
double steps(const Rates& rates, size_t dim, std::span<const Entry> ratings, const Moving& rows) {
  constexpr size_t kAhead = 6;
  const Rows users = rows.users, items = rows.items;
  const size_t width = kWidth > 0 ? kWidth : padded(dim);
  const float share = 1.0f / static_cast<float>(std::max<size_t>(1, dim));
  double loss = 0;
  for (size_t k = 0; k < ratings.size(); ++k) {
    if (k + kAhead < ratings.size()) {
      prefetch_row(users.row(ratings[k + kAhead].row), width + kRowPad);
      prefetch_row(items.row(ratings[k + kAhead].column), width + kRowPad);
      if constexpr (kDrawn) {
        prefetch_row(rows.user_means.row(ratings[k + kAhead].row), width);
        prefetch_row(rows.item_means.row(ratings[k + kAhead].column), width);
      }
    }
    const Entry& r = ratings[k];
    float* const p = users.row(r.row);
    float* const q = items.row(r.column);
    const float pq = dot(p, q, width);
    const Slope at = slope_of(kLoss, pq + p[width + kBias] + q[width + kBias], r.value);
    loss += at.loss;
    const Move move = move_extras(rates, share, -at.slope, pq, p + width, q + width);
    if constexpr (kDrawn) {
      move_drawn(p, q, rows.user_means.row(r.row), rows.item_means.row(r.column), width, move);
    } else {
      move_both(p, q, width, move);
    }
  }
  return loss;
}

template <bool kDrawn>
double steps_of(Loss loss, const Rates& rates, size_t dim, std::span<const Entry> ratings,
                const Moving& rows) {
  switch (loss) {
    case Loss::kAbsolute:
      return steps<Loss::kAbsolute, kDrawn>(rates, dim, ratings, rows);
    case Loss::kHuber:
      return steps<Loss::kHuber, kDrawn>(rates, dim, ratings, rows);
    case Loss::kTukey:
      return steps<Loss::kTukey, kDrawn>(rates, dim, ratings, rows);
    case Loss::kLogistic:
      return steps<Loss::kLogistic, kDrawn>(rates, dim, ratings, rows);
    case Loss::kHinge:
      return steps<Loss::kHinge, kDrawn>(rates, dim, ratings, rows);
    case Loss::kKl:
      return steps<Loss::kKl, kDrawn>(rates, dim, ratings, rows);
    default:
      break;
  }
  switch (padded(dim)) {
    case 16:
      return steps<Loss::kSquared, kDrawn, 16>(rates, dim, ratings, rows);
    case 32:
      return steps<Loss::kSquared, kDrawn, 32>(rates, dim, ratings, rows);
    case 64:
      return steps<Loss::kSquared, kDrawn, 64>(rates, dim, ratings, rows);
    case 128:
      return steps<Loss::kSquared, kDrawn, 128>(rates, dim, ratings, rows);
    default:
      return steps<Loss::kSquared, kDrawn>(rates, dim, ratings, rows);
  }
}

double train_steps(Loss loss, const Rates& rates, size_t dim, std::span<const Entry> ratings,
                   const Moving& rows) {
  return rows.drawn() ? steps_of<true>(loss, rates, dim, ratings, rows)
                      : steps_of<false>(loss, rates, dim, ratings, rows);
}

double train_rankings(const Rates& rates, size_t dim, std::span<const Entry> ratings,
                      std::span<const uint32_t> candidates, const Sparse& seen, Rng& rng,
                      const Moving& rows) {
  constexpr int kTries = 20;  // for an item that the user has not seen
  const size_t width = padded(dim);
  const float share = 1.0f / static_cast<float>(std::max<size_t>(1, dim));
  double loss = 0;
  for (const Entry& r : ratings) {
    const auto known = seen.row(r.row).columns;
    uint32_t other = 0;
    int tries = 0;
    do {
      other = candidates[rng.below(static_cast<uint32_t>(candidates.size()))];
    } while (std::ranges::binary_search(known, other) && ++tries < kTries);
    if (tries == kTries) continue;
    float* const p = rows.users.row(r.row);
    float* const q = rows.items.row(r.column);
    float* const n = rows.items.row(other);
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
    const float kp = kept(lu, p[width + kHold]), kq = kept(lq, q[width + kHold]);
    const float kn = kept(ln, n[width + kHold]);
    for (size_t i = 0; i < width; i += hn::Lanes(f32)) {
      const VF x = hn::Load(f32, p + i), y = hn::Load(f32, q + i), z = hn::Load(f32, n + i);
      const VF keep = hn::Mul(hn::Set(f32, kp), x);
      hn::Store(hn::MulAdd(hn::Set(f32, lu * e), hn::Sub(y, z), keep), f32, p + i);
      hn::Store(hn::MulAdd(hn::Set(f32, lq * e), x, hn::Mul(hn::Set(f32, kq), y)), f32, q + i);
      hn::Store(hn::MulAdd(hn::Set(f32, -ln * e), x, hn::Mul(hn::Set(f32, kn), z)), f32, n + i);
    }
    if (rows.drawn()) {
      axpy(1 - kp, rows.user_means.row(r.row), p, width);
      axpy(1 - kq, rows.item_means.row(r.column), q, width);
      axpy(1 - kn, rows.item_means.row(other), n, width);
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

double train_block(Loss loss, const Rates& rates, size_t dim, std::span<const Entry> ratings,
                   const Moving& rows) {
  return HWY_DYNAMIC_DISPATCH(train_steps)(loss, rates, dim, ratings, rows);
}
double train_pairs(const Rates& rates, size_t dim, std::span<const Entry> ratings,
                   std::span<const uint32_t> candidates, const Sparse& seen, Rng& rng,
                   const Moving& rows) {
  return HWY_DYNAMIC_DISPATCH(train_rankings)(rates, dim, ratings, candidates, seen, rng, rows);
}

}  // namespace kith::mf
#endif  // HWY_ONCE
