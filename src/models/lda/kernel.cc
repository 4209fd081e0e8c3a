// SPDX-License-Identifier: Apache-2.0
#include "models/lda/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/lda/kernel.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::lda::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kith::HWY_NAMESPACE::exp_minus;
using kith::HWY_NAMESPACE::f32;
using kith::HWY_NAMESPACE::VF;

// A topic in proportion to its weight: first the lane that it is in, by the lanes' sums, then the
// topic within the lane. So no sum over the weights before each topic is needed.
HWY_INLINE uint32_t draw_topic(const float* HWY_RESTRICT here, const float* HWY_RESTRICT word,
                               const float* HWY_RESTRICT inverse, float beta, size_t width, float u,
                               float* HWY_RESTRICT weights) {
  const size_t lanes = hn::Lanes(f32);
  const VF vb = hn::Set(f32, beta);
  VF sum = hn::Zero(f32);
  for (size_t k = 0; k < width; k += lanes) {
    const VF of_word = hn::Mul(hn::Add(hn::Load(f32, word + k), vb), hn::Load(f32, inverse + k));
    const VF w = hn::Mul(hn::Load(f32, here + k), of_word);
    hn::Store(w, f32, weights + k);
    sum = hn::Add(sum, w);
  }
  alignas(64) float by_lane[16];
  hn::Store(sum, f32, by_lane);
  float all = 0;
  for (size_t l = 0; l < lanes; ++l) all += by_lane[l];
  float left = u * all;
  size_t lane = 0;
  while (lane + 1 < lanes && left >= by_lane[lane]) left -= by_lane[lane++];
  size_t k = lane;
  while (k + lanes < width && left >= weights[k]) {
    left -= weights[k];
    k += lanes;
  }
  if (weights[k] > 0) return static_cast<uint32_t>(k);
  // Rounding led past the last one that has a weight.
  for (size_t i = 0; i < width; ++i) k = weights[i] > weights[k] ? i : k;
  return static_cast<uint32_t>(k);
}

void GibbsDocument(const uint32_t* words, size_t size, Topic* topics, GibbsCounts& c, Rng& rng) {
  float* const here = c.rows.view().row(GibbsCounts::kHere);
  float* const inverse = c.rows.view().row(GibbsCounts::kInverse);
  float* const weights = c.rows.view().row(GibbsCounts::kWeight);
  const float* const prior = c.rows.view().row(GibbsCounts::kPrior);
  const Rows table = c.words.view();
  const size_t width = c.words.stride();
  const auto put = [&](uint32_t k, float* row, int by) {
    c.here[k] += static_cast<uint32_t>(by);
    c.totals[k] += static_cast<uint64_t>(static_cast<int64_t>(by));
    row[k] += static_cast<float>(by);
    here[k] = static_cast<float>(c.here[k]) + prior[k];
    inverse[k] = static_cast<float>(1 / (static_cast<double>(c.totals[k]) + c.all_beta));
  };
  for (size_t i = 0; i < size; ++i) ++c.here[topics[i]];
  for (size_t k = 0; k < c.here.size(); ++k) here[k] = static_cast<float>(c.here[k]) + prior[k];
  for (size_t i = 0; i < size; ++i) {
    float* const row = table.row(words[i]);
    put(topics[i], row, -1);
    topics[i] =
        static_cast<Topic>(draw_topic(here, row, inverse, c.beta, width, rng.uniform(), weights));
    put(topics[i], row, 1);
  }
  for (size_t i = 0; i < size; ++i) c.here[topics[i]] = 0;
}

// psi(x) = psi(x + 4) - sum over j < 4 of 1 / (x + j), and, for y = x + 3.5 (Stirling's series
// about the middle, where its odd terms vanish),
//   e^psi(y + 1/2) = y + 1 / (24 y) - 37 / (5760 y^3) + ...,
// so that no logarithm is needed.
HWY_INLINE VF exp_psi(VF x) {
  const VF one = hn::Set(f32, 1.0f);
  // 1/x + 1/(x+3) + 1/(x+1) + 1/(x+2), by two divisions: x (x + 3) = s, (x + 1)(x + 2) = s + 2.
  const VF s = hn::Mul(x, hn::Add(x, hn::Set(f32, 3.0f)));
  const VF twice = hn::MulAdd(hn::Set(f32, 2.0f), x, hn::Set(f32, 3.0f));
  const VF safe = hn::Max(s, hn::Set(f32, 1e-30f));
  const VF falls =
      hn::Mul(twice, hn::Add(hn::Div(one, safe), hn::Div(one, hn::Add(s, hn::Set(f32, 2.0f)))));
  const VF y = hn::Add(x, hn::Set(f32, 3.5f));
  const VF r = hn::Div(one, y), r2 = hn::Mul(r, r);
  VF series = hn::MulAdd(r2, hn::Set(f32, 0.00353767f), hn::Set(f32, -0.00642361f));
  series = hn::MulAdd(r2, series, hn::Set(f32, 1.0f / 24));
  const VF grown = hn::MulAdd(r, series, y);
  const VF out = hn::Mul(grown, exp_minus(falls));
  return hn::IfThenElseZero(hn::Lt(falls, hn::Set(f32, 80.0f)), out);
}

void ExpDigamma(const float* x, float* out, size_t n) {
  for (size_t k = 0; k < n; k += hn::Lanes(f32)) {
    hn::Store(exp_psi(hn::Load(f32, x + k)), f32, out + k);
  }
}

void ExpDigammaScaled(const float* x, const float* scale, float* out, size_t n) {
  for (size_t k = 0; k < n; k += hn::Lanes(f32)) {
    const VF e = exp_psi(hn::Load(f32, x + k));
    hn::Store(hn::Mul(hn::Load(f32, scale + k), e), f32, out + k);
  }
}

}  // namespace kith::lda::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::lda {

HWY_EXPORT(GibbsDocument);
HWY_EXPORT(ExpDigamma);
HWY_EXPORT(ExpDigammaScaled);

void gibbs_document(std::span<const uint32_t> words, Topic* topics, GibbsCounts& counts, Rng& rng) {
  HWY_DYNAMIC_DISPATCH(GibbsDocument)(words.data(), words.size(), topics, counts, rng);
}
void exp_digamma(const float* x, float* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(ExpDigamma)(x, out, n);
}
void exp_digamma_scaled(const float* x, const float* scale, float* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(ExpDigammaScaled)(x, scale, out, n);
}

}  // namespace kith::lda
#endif  // HWY_ONCE
