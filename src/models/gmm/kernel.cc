// SPDX-License-Identifier: Apache-2.0
#include "models/gmm/kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/gmm/kernel.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::gmm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
using V = hn::Vec<Tag<T>>;

// The sums of the lanes of four vectors.
HWY_INLINE void sums4(V<float> a, V<float> b, V<float> c, V<float> e, float* HWY_RESTRICT out) {
  kith::HWY_NAMESPACE::store_sums4(a, b, c, e, out);
}
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void sums4(V<double> a, V<double> b, V<double> c, V<double> e, double* out) {
  out[0] = hn::GetLane(a);
  out[1] = hn::GetLane(b);
  out[2] = hn::GetLane(c);
  out[3] = hn::GetLane(e);
}
#else
// Down to two lanes.
template <class D>
HWY_INLINE auto halved(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) > 2) {
    const hn::Half<D> half;
    return halved(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    return v;
  }
}
HWY_INLINE void sums4(V<double> a, V<double> b, V<double> c, V<double> e,
                      double* HWY_RESTRICT out) {
  const Tag<double> d;
  const hn::CappedTag<double, 2> pair;
  const auto ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const auto ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  hn::StoreU(halved(d, ab), pair, out);
  hn::StoreU(halved(d, ce), pair, out + 2);
}
#endif

// e^-x for x >= 0; next to nothing beyond 87, or 700.
HWY_INLINE V<float> falling(V<float> x) { return kith::HWY_NAMESPACE::exp_minus(x); }
// 2^n e^f with |f| <= log(2) / 2, and the series of e^f up to f^13: relative error below 3e-16.
HWY_INLINE V<double> falling(V<double> x) {
  const Tag<double> d;
  const hn::RebindToUnsigned<Tag<double>> bits;
  x = hn::Min(x, hn::Set(d, 700.0));
  const auto n = hn::Round(hn::Mul(x, hn::Set(d, -1.4426950408889634)));
  auto f = hn::Neg(hn::MulAdd(n, hn::Set(d, 0.69314718036912382), x));
  f = hn::NegMulAdd(n, hn::Set(d, 1.9082149292705877e-10), f);
  auto p = hn::Set(d, 1.0 / 6227020800);
  p = hn::MulAdd(p, f, hn::Set(d, 1.0 / 479001600));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0 / 39916800));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0 / 3628800));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0 / 362880));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0 / 40320));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0 / 5040));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0 / 720));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0 / 120));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0 / 24));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0 / 6));
  p = hn::MulAdd(p, f, hn::Set(d, 0.5));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0));
  // The lowest bits of n + 1.5 2^52 are those of the whole number n.
  const auto whole = hn::BitCast(bits, hn::Add(n, hn::Set(d, 6755399441055744.0)));
  const auto power = hn::ShiftLeft<52>(hn::Add(whole, hn::Set(bits, uint64_t{1023})));
  return hn::Mul(p, hn::BitCast(d, power));
}

// --- The E step ---

// The squares of y = factor * x for two vectors of rows, x standing with `stride` from one column
// to the next; y is kept if `out` is given.
template <class T, bool kKeep>
HWY_INLINE void whiten(const T* HWY_RESTRICT factor, size_t dims, const T* HWY_RESTRICT x,
                       size_t stride, T* HWY_RESTRICT out, size_t out_stride, V<T>& q0, V<T>& q1) {
  const Tag<T> d;
  const size_t step = hn::Lanes(d);
  for (size_t j = 0; j < dims; j += kPanel) {
    auto a0 = hn::Zero(d), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, e0 = a0, e1 = a0;
    const size_t end = HWY_MIN(j + kPanel, dims);
    for (size_t i = 0; i < end; ++i, factor += kPanel) {
      const auto x0 = hn::Load(d, x + i * stride), x1 = hn::Load(d, x + i * stride + step);
      const auto fa = hn::Set(d, factor[0]), fb = hn::Set(d, factor[1]);
      a0 = hn::MulAdd(fa, x0, a0);
      a1 = hn::MulAdd(fa, x1, a1);
      b0 = hn::MulAdd(fb, x0, b0);
      b1 = hn::MulAdd(fb, x1, b1);
      const auto fc = hn::Set(d, factor[2]), fe = hn::Set(d, factor[3]);
      c0 = hn::MulAdd(fc, x0, c0);
      c1 = hn::MulAdd(fc, x1, c1);
      e0 = hn::MulAdd(fe, x0, e0);
      e1 = hn::MulAdd(fe, x1, e1);
    }
    if constexpr (kKeep) {
      const auto keep = [&](size_t at, V<T> y0, V<T> y1) HWY_ATTR {
        if (at >= dims) return;
        hn::Store(y0, d, out + at * out_stride);
        hn::Store(y1, d, out + at * out_stride + step);
      };
      keep(j, a0, a1);
      keep(j + 1, b0, b1);
      keep(j + 2, c0, c1);
      keep(j + 3, e0, e1);
    } else {
      q0 = hn::MulAdd(a0, a0, q0);
      q1 = hn::MulAdd(a1, a1, q1);
      q0 = hn::MulAdd(b0, b0, q0);
      q1 = hn::MulAdd(b1, b1, q1);
      q0 = hn::MulAdd(c0, c0, q0);
      q1 = hn::MulAdd(c1, c1, q1);
      q0 = hn::MulAdd(e0, e0, q0);
      q1 = hn::MulAdd(e1, e1, q1);
    }
  }
}

// out = |factor (x - mean)|^2 of the rows of a block.
template <class T>
HWY_NOINLINE void whitened_squares(const T* HWY_RESTRICT factor, const T* HWY_RESTRICT mean,
                                   Block<T>& b, size_t width, T* HWY_RESTRICT out) {
  const Tag<T> d;
  const size_t step = hn::Lanes(d), dims = b.dims_;
  T* HWY_RESTRICT const centred = b.centred_.data();  // dims x two vectors
  for (size_t n = 0; n < width; n += 2 * step) {
    for (size_t i = 0; i < dims; ++i) {
      const T* const x = b.x_.data() + i * b.rows_ + n;
      const auto m = hn::Set(d, mean[i]);
      hn::Store(hn::Sub(hn::Load(d, x), m), d, centred + i * 2 * step);
      hn::Store(hn::Sub(hn::Load(d, x + step), m), d, centred + i * 2 * step + step);
    }
    auto q0 = hn::Zero(d), q1 = q0;
    whiten<T, false>(factor, dims, centred, 2 * step, nullptr, 0, q0, q1);
    hn::Store(q0, d, out + n);
    hn::Store(q1, d, out + n + step);
  }
}

// out = sum over columns of ((x - mean) scale)^2; no scale is 1.
template <class T>
HWY_NOINLINE void scaled_squares(const T* HWY_RESTRICT x, const T* HWY_RESTRICT mean,
                                 const T* HWY_RESTRICT scale, const Block<T>& b, size_t width,
                                 T* HWY_RESTRICT out) {
  const Tag<T> d;
  const size_t step = hn::Lanes(d);
  for (size_t n = 0; n < width; n += 2 * step) {
    auto q0 = hn::Zero(d), q1 = q0;
    for (size_t i = 0; i < b.dims_; ++i) {
      const T* const at = x + i * b.rows_ + n;
      const auto m = hn::Set(d, mean[i]), s = hn::Set(d, scale ? scale[i] : T{1});
      const auto y0 = hn::Mul(hn::Sub(hn::Load(d, at), m), s);
      const auto y1 = hn::Mul(hn::Sub(hn::Load(d, at + step), m), s);
      q0 = hn::MulAdd(y0, y0, q0);
      q1 = hn::MulAdd(y1, y1, q1);
    }
    hn::Store(q0, d, out + n);
    hn::Store(q1, d, out + n + step);
  }
}

template <class T>
HWY_INLINE size_t width_of(const Block<T>& b) {
  const size_t pair = 2 * hn::Lanes(Tag<T>());
  return (b.count_ + pair - 1) / pair * pair;
}

template <class T>
void distances_of(const Components<T>& c, Block<T>& b) {
  const Tag<T> d;
  const size_t step = hn::Lanes(d), width = width_of(b), dims = b.dims_;
  if (c.metric == Metric::kShared) {
    auto none = hn::Zero(d), other = none;
    for (size_t n = 0; n < width; n += 2 * step) {
      whiten<T, true>(c.factor.data(), dims, b.x_.data() + n, b.rows_, b.white_.data() + n, b.rows_,
                      none, other);
    }
  }
  for (size_t k = 0; k < c.count; ++k) {
    T* HWY_RESTRICT const out = b.r_.data() + k * b.rows_;
    const T* const mean = c.mean.data() + k * dims;
    switch (c.metric) {
      case Metric::kWhitened:
        whitened_squares(c.factor.data() + k * (c.factor.size() / c.count), mean, b, width, out);
        break;
      case Metric::kShared:
        scaled_squares<T>(b.white_.data(), c.white.data() + k * dims, nullptr, b, width, out);
        break;
      case Metric::kScaled:
        scaled_squares<T>(b.x_.data(), mean, c.scale.data() + k * dims, b, width, out);
        break;
      case Metric::kPlain:
        scaled_squares<T>(b.x_.data(), mean, nullptr, b, width, out);
        continue;
    }
    const auto half = hn::Set(d, T{-0.5}), base = hn::Set(d, c.base[k]);
    for (size_t n = 0; n < width; n += step) {
      hn::Store(hn::MulAdd(half, hn::Load(d, out + n), base), d, out + n);
    }
  }
}

// r = e^joint / sum, without overflow: everything relative to the largest.
template <class T>
void share_out(size_t count, Block<T>& b) {
  const Tag<T> d;
  const size_t step = hn::Lanes(d), width = width_of(b);
  for (size_t n = 0; n < width; n += step) {
    T* HWY_RESTRICT const r = b.r_.data() + n;
    auto top = hn::Load(d, r);
    for (size_t k = 1; k < count; ++k) top = hn::Max(top, hn::Load(d, r + k * b.rows_));
    auto total = hn::Zero(d);
    for (size_t k = 0; k < count; ++k) {
      const auto e = falling(hn::Sub(top, hn::Load(d, r + k * b.rows_)));
      total = hn::Add(total, e);
      hn::Store(e, d, r + k * b.rows_);
    }
    const auto inverse = hn::Div(hn::Set(d, T{1}), total);
    for (size_t k = 0; k < count; ++k) {
      hn::Store(hn::Mul(inverse, hn::Load(d, r + k * b.rows_)), d, r + k * b.rows_);
    }
    hn::Store(top, d, b.top_.data() + n);
    hn::Store(total, d, b.total_.data() + n);
  }
  for (size_t n = 0; n < b.count_; ++n) {
    b.density_[n] = double{b.top_[n]} + std::log(double{b.total_[n]});
  }
}

// The nearest takes all; the first of those that are equally near.
template <class T>
void take_nearest(size_t count, Block<T>& b) {
  const Tag<T> d;
  const size_t step = hn::Lanes(d), width = width_of(b);
  for (size_t n = 0; n < width; n += step) {
    T* HWY_RESTRICT const r = b.r_.data() + n;
    auto least = hn::Load(d, r), which = hn::Zero(d);
    for (size_t k = 1; k < count; ++k) {
      const auto q = hn::Load(d, r + k * b.rows_);
      const auto nearer = hn::Lt(q, least);
      least = hn::IfThenElse(nearer, q, least);
      which = hn::IfThenElse(nearer, hn::Set(d, static_cast<T>(k)), which);
    }
    for (size_t k = 0; k < count; ++k) {
      const auto is = hn::Eq(which, hn::Set(d, static_cast<T>(k)));
      hn::Store(hn::IfThenElseZero(is, hn::Set(d, T{1})), d, r + k * b.rows_);
    }
    hn::Store(least, d, b.top_.data() + n);
  }
  for (size_t n = 0; n < b.count_; ++n) b.density_[n] = double{b.top_[n]};
}

// --- The M step ---

// Below this a responsibility adds nothing that a sum of ones would keep.
template <class T>
inline constexpr T kLeast = sizeof(T) == 4 ? T{1e-8} : T{1e-17};

// x - mean and r (x - mean) of the rows for which a component is responsible; returns how many
// there are, padded by rows of zeros to a whole number of vectors.
template <class T>
HWY_NOINLINE size_t gather(const T* HWY_RESTRICT mean, const T* HWY_RESTRICT r, Block<T>& b) {
  const Tag<T> d;
  const size_t step = hn::Lanes(d);
  size_t found = 0;
  for (size_t n = 0; n < b.count_; ++n) {
    b.index_[found] = static_cast<uint32_t>(n);
    found += r[n] > kLeast<T>;
  }
  if (found == 0) return 0;
  const bool all = found == b.count_;
  const size_t width = (found + step - 1) / step * step;
  T* HWY_RESTRICT const chosen = b.chosen_.data();
  for (size_t n = 0; n < found; ++n) chosen[n] = r[b.index_[n]];
  std::fill(chosen + found, chosen + width, T{0});
  for (size_t i = 0; i < b.dims_; ++i) {
    const T* HWY_RESTRICT const x = b.x_.data() + i * b.rows_;
    T* HWY_RESTRICT const centred = b.centred_.data() + i * b.rows_;
    T* HWY_RESTRICT const weighted = b.weighted_.data() + i * b.rows_;
    const T m = mean[i];
    if (all) {
      const auto mv = hn::Set(d, m);
      for (size_t n = 0; n < width; n += step) {
        hn::Store(hn::Sub(hn::Load(d, x + n), mv), d, centred + n);
      }
    } else {
      for (size_t n = 0; n < found; ++n) centred[n] = x[b.index_[n]] - m;
      std::fill(centred + found, centred + width, T{0});
    }
    for (size_t n = 0; n < width; n += step) {
      hn::Store(hn::Mul(hn::Load(d, centred + n), hn::Load(d, chosen + n)), d, weighted + n);
    }
  }
  return width;
}

// out[at] += the sums of weight, then of four columns at a time.
template <class T>
HWY_INLINE void add_first(const Block<T>& b, size_t width, double& weight,
                          double* HWY_RESTRICT out) {
  const Tag<T> d;
  const size_t step = hn::Lanes(d);
  alignas(64) T sums[4];
  auto w = hn::Zero(d);
  for (size_t n = 0; n < width; n += step) w = hn::Add(w, hn::Load(d, b.chosen_.data() + n));
  sums4(w, w, w, w, sums);
  weight += double{sums[0]};
  for (size_t i = 0; i < b.dims_; i += kPanel) {
    const T* const x = b.weighted_.data() + i * b.rows_;
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (size_t n = 0; n < width; n += step) {
      s0 = hn::Add(s0, hn::Load(d, x + n));
      s1 = hn::Add(s1, hn::Load(d, x + b.rows_ + n));
      s2 = hn::Add(s2, hn::Load(d, x + 2 * b.rows_ + n));
      s3 = hn::Add(s3, hn::Load(d, x + 3 * b.rows_ + n));
    }
    sums4(s0, s1, s2, s3, sums);
    for (size_t e = 0; e < HWY_MIN(kPanel, b.dims_ - i); ++e) out[i + e] += double{sums[e]};
  }
}

template <class T>
HWY_INLINE void add_diagonal(const Block<T>& b, size_t width, double* HWY_RESTRICT out) {
  const Tag<T> d;
  const size_t step = hn::Lanes(d), rows = b.rows_;
  alignas(64) T sums[4];
  for (size_t i = 0; i < b.dims_; i += kPanel) {
    const T* const w = b.weighted_.data() + i * rows;
    const T* const x = b.centred_.data() + i * rows;
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (size_t n = 0; n < width; n += step) {
      s0 = hn::MulAdd(hn::Load(d, w + n), hn::Load(d, x + n), s0);
      s1 = hn::MulAdd(hn::Load(d, w + rows + n), hn::Load(d, x + rows + n), s1);
      s2 = hn::MulAdd(hn::Load(d, w + 2 * rows + n), hn::Load(d, x + 2 * rows + n), s2);
      s3 = hn::MulAdd(hn::Load(d, w + 3 * rows + n), hn::Load(d, x + 3 * rows + n), s3);
    }
    sums4(s0, s1, s2, s3, sums);
    for (size_t e = 0; e < HWY_MIN(kPanel, b.dims_ - i); ++e) out[i + e] += double{sums[e]};
  }
}

// out, a lower triangle by rows, += weighted centred^T: four columns of the one by two of the other
// at a time.
template <class T>
HWY_NOINLINE void add_triangle(const Block<T>& b, size_t width, double* HWY_RESTRICT out) {
  const Tag<T> d;
  const size_t step = hn::Lanes(d), rows = b.rows_, dims = b.dims_;
  alignas(64) T sums[8];
  for (size_t i = 0; i < dims; i += kPanel) {
    const T* HWY_RESTRICT const w = b.weighted_.data() + i * rows;
    for (size_t j = 0; j < HWY_MIN(i + kPanel, dims); j += 2) {
      const T* HWY_RESTRICT const x = b.centred_.data() + j * rows;
      auto a0 = hn::Zero(d), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, e0 = a0, e1 = a0;
      for (size_t n = 0; n < width; n += step) {
        const auto x0 = hn::Load(d, x + n), x1 = hn::Load(d, x + rows + n);
        const auto wa = hn::Load(d, w + n), wb = hn::Load(d, w + rows + n);
        a0 = hn::MulAdd(wa, x0, a0);
        a1 = hn::MulAdd(wa, x1, a1);
        b0 = hn::MulAdd(wb, x0, b0);
        b1 = hn::MulAdd(wb, x1, b1);
        const auto wc = hn::Load(d, w + 2 * rows + n), we = hn::Load(d, w + 3 * rows + n);
        c0 = hn::MulAdd(wc, x0, c0);
        c1 = hn::MulAdd(wc, x1, c1);
        e0 = hn::MulAdd(we, x0, e0);
        e1 = hn::MulAdd(we, x1, e1);
      }
      sums4(a0, b0, c0, e0, sums);
      sums4(a1, b1, c1, e1, sums + 4);
      for (size_t e = 0; e < HWY_MIN(kPanel, dims - i); ++e) {
        double* const to = out + (i + e) * (i + e + 1) / 2;
        if (j <= i + e) to[j] += double{sums[e]};
        if (j + 1 <= i + e) to[j + 1] += double{sums[4 + e]};
      }
    }
  }
}

template <class T>
void accumulate_all(const Components<T>& c, Block<T>& b, Sums& sums) {
  const size_t dims = b.dims_, triangle = dims * (dims + 1) / 2;
  for (size_t n = 0; n < b.count_; ++n) sums.objective += b.density_[n];
  for (size_t k = 0; k < c.count; ++k) {
    const size_t width = gather<T>(c.mean.data() + k * dims, b.r_.data() + k * b.rows_, b);
    if (width == 0) continue;
    add_first(b, width, sums.weight[k], sums.first.data() + k * dims);
    switch (c.metric) {
      case Metric::kWhitened:
        add_triangle(b, width, sums.second.data() + k * triangle);
        break;
      case Metric::kShared:
        add_triangle(b, width, sums.second.data());
        break;
      case Metric::kScaled:
        add_diagonal(b, width, sums.second.data() + k * dims);
        break;
      case Metric::kPlain:
        break;
    }
  }
}

// --- What is dispatched ---

void DistancesF32(const Components<float>& c, Block<float>& b) { distances_of(c, b); }
void DistancesF64(const Components<double>& c, Block<double>& b) { distances_of(c, b); }
void ExpectF32(const Components<float>& c, Block<float>& b) {
  distances_of(c, b);
  c.metric == Metric::kPlain ? take_nearest(c.count, b) : share_out(c.count, b);
}
void ExpectF64(const Components<double>& c, Block<double>& b) {
  distances_of(c, b);
  c.metric == Metric::kPlain ? take_nearest(c.count, b) : share_out(c.count, b);
}
void AccumulateF32(const Components<float>& c, Block<float>& b, Sums& sums) {
  accumulate_all(c, b, sums);
}
void AccumulateF64(const Components<double>& c, Block<double>& b, Sums& sums) {
  accumulate_all(c, b, sums);
}

}  // namespace kith::gmm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::gmm {

HWY_EXPORT(DistancesF32);
HWY_EXPORT(DistancesF64);
HWY_EXPORT(ExpectF32);
HWY_EXPORT(ExpectF64);
HWY_EXPORT(AccumulateF32);
HWY_EXPORT(AccumulateF64);

namespace {

constexpr size_t kMostRows = 512, kLeastRows = 64;  // of a block
constexpr size_t kBytes = size_t{64} << 10;         // of its rows, about
constexpr size_t kTile = 64;  // rows that are turned at a time, and what every vector divides

size_t rows_for(size_t dims, size_t size) {
  size_t rows = kMostRows;
  while (rows > kLeastRows && rows * dims * size > kBytes) rows /= 2;
  return rows;
}

size_t padded_dims(size_t dims) { return (dims + kPanel - 1) / kPanel * kPanel; }

}  // namespace

size_t packed_factor_size(size_t dims) {
  size_t out = 0;
  for (size_t j = 0; j < dims; j += kPanel) out += kPanel * std::min(j + kPanel, dims);
  return out;
}

template <class T>
void pack_factor(const double* lower, size_t dims, T* out) {
  for (size_t j = 0; j < dims; j += kPanel) {
    for (size_t i = 0; i < std::min(j + kPanel, dims); ++i) {
      for (size_t e = j; e < j + kPanel; ++e) {
        *out++ = e < dims && i <= e ? static_cast<T>(lower[e * dims + i]) : T{0};
      }
    }
  }
}

template <class T>
size_t Components<T>::second_size() const {
  const size_t triangle = dims * (dims + 1) / 2;
  switch (metric) {
    case Metric::kWhitened:
      return count * triangle;
    case Metric::kShared:
      return triangle;
    case Metric::kScaled:
      return count * dims;
    case Metric::kPlain:
      break;
  }
  return 0;
}

template <class T>
void Sums::clear(const Components<T>& components) {
  objective = 0;
  weight.assign(components.count, 0);
  first.assign(components.count * components.dims, 0);
  second.assign(components.second_size(), 0);
}

void Sums::add(const Sums& other) {
  objective += other.objective;
  const auto add_all = [](std::vector<double>& to, const std::vector<double>& from) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add_all(weight, other.weight);
  add_all(first, other.first);
  add_all(second, other.second);
}

template <class T>
Block<T>::Block(const Components<T>& c)
    : dims_(c.dims),
      rows_(rows_for(c.dims, sizeof(T))),
      x_(dims_ * rows_, T{0}),
      r_(c.count * rows_, T{0}),
      centred_(padded_dims(dims_) * rows_, T{0}),
      weighted_(padded_dims(dims_) * rows_, T{0}),
      white_(c.metric == Metric::kShared ? dims_ * rows_ : 0, T{0}),
      density_(rows_, 0),
      top_(rows_, T{0}),
      total_(rows_, T{0}),
      chosen_(rows_, T{0}),
      index_(rows_, 0) {}

template <class T>
uint64_t Block<T>::bytes(size_t dims, size_t components) {
  const uint64_t rows = rows_for(dims, sizeof(T));
  return rows * (sizeof(T) * (2 * dims + 2 * padded_dims(dims) + components + 3) + 12);
}

template <class T>
void Block<T>::take(const T* rows, size_t stride, size_t count) {
  count_ = count;
  const size_t end = (count + kTile - 1) / kTile * kTile;
  for (size_t first = 0; first < end; first += kTile) {
    const size_t here = std::min(kTile, count - std::min(count, first));
    for (size_t i = 0; i < dims_; ++i) {
      T* const to = x_.data() + i * rows_ + first;
      for (size_t n = 0; n < here; ++n) to[n] = rows[(first + n) * stride + i];
      std::fill(to + here, to + kTile, T{0});
    }
  }
}

template <>
void Block<float>::distances(const Components<float>& c) {
  HWY_DYNAMIC_DISPATCH(DistancesF32)(c, *this);
}
template <>
void Block<double>::distances(const Components<double>& c) {
  HWY_DYNAMIC_DISPATCH(DistancesF64)(c, *this);
}
template <>
void Block<float>::expect(const Components<float>& c) {
  HWY_DYNAMIC_DISPATCH(ExpectF32)(c, *this);
}
template <>
void Block<double>::expect(const Components<double>& c) {
  HWY_DYNAMIC_DISPATCH(ExpectF64)(c, *this);
}
template <>
void Block<float>::accumulate(const Components<float>& c, Sums& sums) {
  HWY_DYNAMIC_DISPATCH(AccumulateF32)(c, *this, sums);
}
template <>
void Block<double>::accumulate(const Components<double>& c, Sums& sums) {
  HWY_DYNAMIC_DISPATCH(AccumulateF64)(c, *this, sums);
}

template void pack_factor(const double*, size_t, float*);
template void pack_factor(const double*, size_t, double*);
template struct Components<float>;
template struct Components<double>;
template void Sums::clear(const Components<float>&);
template void Sums::clear(const Components<double>&);
template class Block<float>;
template class Block<double>;

}  // namespace kith::gmm
#endif
