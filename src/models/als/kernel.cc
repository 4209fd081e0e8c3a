// SPDX-License-Identifier: Apache-2.0
#include "models/als/kernel.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/als/kernel.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/outer-inl.h"
#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::als::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kith::HWY_NAMESPACE::add_outer;
using kith::HWY_NAMESPACE::axpy;
using kith::HWY_NAMESPACE::dot;
using kith::HWY_NAMESPACE::f32;
using kith::HWY_NAMESPACE::store_sums4;
using kith::HWY_NAMESPACE::VF;

constexpr size_t kTileRows = 128;

// Coordinates from `dim` on are not ours: biases stand there, and padding.
HWY_INLINE void clear_tail(float* v, size_t dim) { std::fill(v + dim, v + padded(dim), 0.0f); }

// f(e, dot of x and row e) gives the weight with which row e is added to y, for rows four at a
// time. Coordinates of x from dim on are zero; those of y are garbage afterwards.
template <class F>
HWY_INLINE void pass(const Side& side, Sparse::Row ratings, const float* HWY_RESTRICT x,
                     float* HWY_RESTRICT y, const F& f) {
  constexpr size_t kAhead = 12;
  const size_t width = padded(side.dim), n = ratings.size(), step = hn::Lanes(f32);
  const float* rows[4];
  HWY_ALIGN float sums[4];
  for (size_t k = 0; k < n; k += 4) {
    const size_t here = std::min<size_t>(4, n - k);
    for (size_t e = 0; e < 4; ++e) {
      rows[e] = side.others.row(ratings.columns[k + std::min(e, here - 1)]);
      if (k + e + kAhead < n) {
        const float* const next = side.others.row(ratings.columns[k + e + kAhead]);
        for (size_t i = 0; i < std::min<size_t>(width, 128); i += 16) hwy::Prefetch(next + i);
      }
    }
    VF s0 = hn::Zero(f32), s1 = s0, s2 = s0, s3 = s0;
    for (size_t i = 0; i < width; i += step) {
      const VF v = hn::Load(f32, x + i);
      s0 = hn::MulAdd(v, hn::Load(f32, rows[0] + i), s0);
      s1 = hn::MulAdd(v, hn::Load(f32, rows[1] + i), s1);
      s2 = hn::MulAdd(v, hn::Load(f32, rows[2] + i), s2);
      s3 = hn::MulAdd(v, hn::Load(f32, rows[3] + i), s3);
    }
    store_sums4(s0, s1, s2, s3, sums);
    for (size_t e = 0; e < 4; ++e) sums[e] = e < here ? f(k + e, rows[e], sums[e]) : 0.0f;
    const VF w0 = hn::Set(f32, sums[0]), w1 = hn::Set(f32, sums[1]), w2 = hn::Set(f32, sums[2]),
             w3 = hn::Set(f32, sums[3]);
    for (size_t i = 0; i < width; i += step) {
      VF v = hn::Load(f32, y + i);
      v = hn::MulAdd(w0, hn::Load(f32, rows[0] + i), v);
      v = hn::MulAdd(w1, hn::Load(f32, rows[1] + i), v);
      v = hn::MulAdd(w2, hn::Load(f32, rows[2] + i), v);
      v = hn::MulAdd(w3, hn::Load(f32, rows[3] + i), v);
      hn::Store(v, f32, y + i);
    }
  }
}

HWY_INLINE float weight_of(const Side& side, float rating) { return side.implicit ? rating : 1.0f; }
HWY_INLINE float target_of(const Side& side, const float* row, const float* other, float rating) {
  return (side.implicit ? 1.0f : rating - side.mean) -
         (side.shifted ? row[side.theirs] * other[side.theirs] : 0.0f);
}

// A row as it meets the other side's: x, zero from dim on, its bias, and what meets their biases;
// nothing does in a direction.
struct Whole {
  const float* x;
  float bias, one;
};
Whole point(const Side& side, const float* row, const float* x, float b) {
  return {x, b, side.shifted ? row[side.theirs] : 0.0f};
}

// y += alpha G r, but for the coordinates from dim on, which are garbage afterwards.
HWY_INLINE void add_gram_product(const Side& side, const Whole& r, float alpha, float* y) {
  const float* const x = r.x;
  const size_t width = padded(side.dim), step = hn::Lanes(f32);
  size_t j = 0;
  for (; j + 4 <= side.dim; j += 4) {
    const VF a = hn::Set(f32, alpha * x[j]), b = hn::Set(f32, alpha * x[j + 1]),
             c = hn::Set(f32, alpha * x[j + 2]), d = hn::Set(f32, alpha * x[j + 3]);
    const float* const g = side.gram.row(j);
    const size_t s = side.gram.stride;
    for (size_t i = 0; i < width; i += step) {
      VF v = hn::Load(f32, y + i);
      v = hn::MulAdd(a, hn::Load(f32, g + i), v);
      v = hn::MulAdd(b, hn::Load(f32, g + s + i), v);
      v = hn::MulAdd(c, hn::Load(f32, g + 2 * s + i), v);
      v = hn::MulAdd(d, hn::Load(f32, g + 3 * s + i), v);
      hn::Store(v, f32, y + i);
    }
  }
  for (; j < side.dim; ++j) axpy(alpha * x[j], side.gram.row(j), y, width);
  if (side.biases) axpy(alpha * r.bias, side.gram.row(side.own), y, width);
  if (side.shifted) axpy(alpha * r.one, side.gram.row(side.theirs), y, width);
}

// Coordinate k of G r.
HWY_INLINE float gram_times(const Side& side, size_t k, const Whole& r) {
  const float* const g = side.gram.row(k);
  return dot(g, r.x, padded(side.dim)) + r.bias * g[side.own] + r.one * g[side.theirs];
}

// alpha r^T G r, with y = alpha G r as above: what the pairs that were not observed add.
HWY_INLINE float unobserved_error(const Side& side, const Whole& r, const float* y) {
  float sum = dot(r.x, y, padded(side.dim));
  if (side.biases) sum += side.unobserved * r.bias * gram_times(side, side.own, r);
  if (side.shifted) sum += side.unobserved * r.one * gram_times(side, side.theirs, r);
  return sum;
}

// What the penalties say of [x, b], but for what does not depend on it.
HWY_INLINE double penalties(const Side& side, const Task& task, const float* x, float b) {
  const size_t width = padded(side.dim);
  double out = task.penalty * dot(x, x, width) + task.bias_penalty * b * b;
  if (task.mean) {
    out -=
        2 * (task.penalty * dot(x, task.mean, width) + task.bias_penalty * b * task.mean[side.own]);
  }
  return out;
}

// r, rb = right side - A [x, b]; returns the objective there. Of `scratch` a row.
double residual(const Side& side, const Task& task, const float* x, float b, float* r, float& rb,
                float* scratch) {
  const size_t width = padded(side.dim);
  std::fill_n(r, width, 0.0f);
  float sum = 0;  // here and not in rb, which could be any float of r
  double objective = 0;
  pass(side, task.ratings, x, r, [&](size_t k, const float* other, float score) {
    const float rating = task.ratings.values[k];
    const float left = target_of(side, task.row, other, rating) - score - b * other[side.own];
    const float e = weight_of(side, rating) * left;
    objective += e * left;
    sum += e * other[side.own];
    return e;
  });
  if (side.implicit) {
    const Whole here = point(side, task.row, x, b);
    std::fill_n(scratch, width, 0.0f);
    add_gram_product(side, here, side.unobserved, scratch);
    objective += unobserved_error(side, here, scratch);
    axpy(-1, scratch, r, width);
    if (side.biases) sum -= side.unobserved * gram_times(side, side.own, here);
  }
  axpy(-task.penalty, x, r, width);
  if (task.mean) {
    axpy(task.penalty, task.mean, r, width);
    sum += task.bias_penalty * task.mean[side.own];
  }
  clear_tail(r, side.dim);
  rb = side.biases ? sum - task.bias_penalty * b : 0.0f;
  return objective + penalties(side, task, x, b);
}

// ad, adb = A [d, db]; returns the curvature in that direction.
float times_system(const Side& side, const Task& task, const float* d, float db, float* ad,
                   float& adb) {
  const size_t width = padded(side.dim);
  std::fill_n(ad, width, 0.0f);
  float sum = 0;
  pass(side, task.ratings, d, ad, [&](size_t k, const float* other, float score) {
    const float one = other[side.own];
    const float s = weight_of(side, task.ratings.values[k]) * (score + db * one);
    sum += s * one;
    return s;
  });
  if (side.implicit) {
    const Whole direction{d, db, 0};
    add_gram_product(side, direction, side.unobserved, ad);
    if (side.biases) sum += side.unobserved * gram_times(side, side.own, direction);
  }
  axpy(task.penalty, d, ad, width);
  clear_tail(ad, side.dim);
  adb = side.biases ? sum + task.bias_penalty * db : 0.0f;
  return dot(d, ad, width) + db * adb;
}

// Conjugate gradients on [p, b] from where the row is. r = right side - A x, d the direction.
// Returns the weighted squared error that is left. Each step lowers the whole objective by alpha
// |r|^2, so it needs no pass of its own.
double solve_one(const Side& side, const Task& task, Scratch& scratch) {
  const size_t dim = side.dim, width = padded(dim);
  float* const x = scratch.vectors.view().row(0);
  float* const r = scratch.vectors.view().row(1);
  float* const d = scratch.vectors.view().row(2);
  float* const ad = scratch.vectors.view().row(3);
  std::copy_n(task.row, dim, x);
  clear_tail(x, dim);
  float b = side.biases ? task.row[side.own] : 0.0f, rb, adb;
  double objective = residual(side, task, x, b, r, rb, ad);
  std::copy_n(r, width, d);
  float db = rb;
  float square = dot(r, r, width) + rb * rb;
  const float enough = 1e-12f * square;
  for (int step = 0; step < side.steps && square > enough && square > 1e-30f; ++step) {
    const float curvature = times_system(side, task, d, db, ad, adb);
    if (!(curvature > 0)) break;  // a direction that nothing speaks of
    const float alpha = square / curvature;
    objective -= alpha * square;
    axpy(alpha, d, x, width);
    axpy(-alpha, ad, r, width);
    b += alpha * db;
    rb -= alpha * adb;
    const float next = dot(r, r, width) + rb * rb;
    const float beta = next / square;
    square = next;
    const VF vb = hn::Set(f32, beta);
    for (size_t i = 0; i < width; i += hn::Lanes(f32)) {
      hn::Store(hn::MulAdd(vb, hn::Load(f32, d + i), hn::Load(f32, r + i)), f32, d + i);
    }
    db = rb + beta * db;
  }
  std::copy_n(x, dim, task.row);
  if (side.biases) task.row[side.own] = b;
  return objective - penalties(side, task, x, b);
}

double cg_rows(const Side& side, std::span<const Task> tasks, Scratch& scratch) {
  double error = 0;
  for (const Task& task : tasks) error += solve_one(side, task, scratch);
  return error;
}

// In place: a = L L^T (lower), then b = a^-1 b. False if a is not positive definite. Rows of L are
// kept zero from their own column on while they are made, so that dots may run over whole vectors.
bool solve_system(Rows a, size_t n, float* b) {
  for (size_t i = 0; i < n; ++i) {
    float* const row = a.row(i);
    for (size_t j = 0; j <= i; ++j) {
      float sum = row[j];
      const float* const other = a.row(j);
      // Coordinates below j only: those of row j from j on are not final products.
      size_t k = 0;
      VF total = hn::Zero(f32);
      for (; k + hn::Lanes(f32) <= j; k += hn::Lanes(f32)) {
        total = hn::MulAdd(hn::Load(f32, row + k), hn::Load(f32, other + k), total);
      }
      sum -= hn::GetLane(hn::SumOfLanes(f32, total));
      for (; k < j; ++k) sum -= row[k] * other[k];
      if (j < i) {
        row[j] = sum / other[j];
      } else {
        if (!(sum > 0)) return false;
        row[j] = std::sqrt(sum);
      }
    }
  }
  for (size_t i = 0; i < n; ++i) {
    const float* const row = a.row(i);
    float sum = b[i];
    for (size_t k = 0; k < i; ++k) sum -= row[k] * b[k];
    b[i] = sum / row[i];
  }
  for (size_t i = n; i-- > 0;) {
    b[i] /= a.row(i)[i];
    const float x = b[i];
    const float* const row = a.row(i);
    for (size_t k = 0; k < i; ++k) b[k] -= row[k] * x;
  }
  return true;
}

// Some of a row's coordinates, and the bias with the last of them.
struct Block {
  size_t first, count;
  bool with_bias;
  size_t size() const { return count + with_bias; }
};

// What the rated rows say of a block, by their scores so far: a is the lower half of its system,
// g the right side.
void gather(const Side& side, const Task& task, const Block& block, Scratch& scratch,
            float* weights, float* g) {
  const size_t n = task.ratings.size(), m = block.size();
  const Rows a = scratch.system.view();
  for (size_t i = 0; i < m; ++i) std::fill_n(a.row(i), padded(m), 0.0f);
  std::fill_n(g, padded(m), 0.0f);
  for (size_t k = 0; k < n; k += kTileRows) {
    const size_t rows = std::min(kTileRows, n - k);
    for (size_t e = 0; e < rows; ++e) {
      const float* const other = side.others.row(task.ratings.columns[k + e]);
      const float rating = task.ratings.values[k + e];
      float* const t = scratch.tile.view().row(e);
      std::copy_n(other + block.first, block.count, t);
      if (block.with_bias) t[block.count] = other[side.own];
      std::fill(t + m, t + padded(m), 0.0f);
      weights[e] = weight_of(side, rating);
      const float error =
          weights[e] * (target_of(side, task.row, other, rating) - scratch.scores[k + e]);
      axpy(error, t, g, padded(m));
    }
    add_outer(std::as_const(scratch.tile).view(), rows, m, weights, a);
  }
}

// Newton steps on blocks of coordinates, exact for each block: scores of the rated rows are kept up
// to date. The bias, if there is one, goes with the last block.
void solve_one_by_blocks(const Side& side, const Task& task, Scratch& scratch) {
  const size_t dim = side.dim, n = task.ratings.size(), width = padded(dim);
  float* const x = scratch.vectors.view().row(0);
  float* const weights = scratch.vectors.view().row(1);
  float* const g = scratch.vectors.view().row(2);
  float* const whole = scratch.vectors.view().row(3);
  std::copy_n(task.row, dim, x);
  clear_tail(x, dim);
  float b = side.biases ? task.row[side.own] : 0.0f;
  scratch.scores.resize(n);
  for (size_t k = 0; k < n; ++k) {
    const float* const other = side.others.row(task.ratings.columns[k]);
    scratch.scores[k] = dot(x, other, width) + b * other[side.own];
  }
  const Rows a = scratch.system.view();
  for (size_t first = 0; first == 0 || first < dim; first += side.block) {
    const size_t count = std::min(side.block, dim - first);
    const bool with_bias = side.biases && first + count >= dim;
    const Block block{first, count, with_bias};
    gather(side, task, block, scratch, weights, g);
    if (side.implicit) {
      const Whole here = point(side, task.row, x, b);
      std::fill_n(whole, width, 0.0f);
      add_gram_product(side, here, side.unobserved, whole);
      for (size_t i = 0; i < count; ++i) g[i] -= whole[first + i];
      if (with_bias) g[count] -= side.unobserved * gram_times(side, side.own, here);
      const auto column = [&](size_t i) { return i < count ? first + i : side.own; };
      for (size_t i = 0; i < block.size(); ++i) {
        for (size_t j = 0; j <= i; ++j) {
          a.row(i)[j] += side.unobserved * side.gram.row(column(i))[column(j)];
        }
      }
    }
    for (size_t i = 0; i < count; ++i) {
      g[i] -= task.penalty * (x[first + i] - (task.mean ? task.mean[first + i] : 0.0f));
      a.row(i)[i] += task.penalty + 1e-6f * a.row(i)[i] + 1e-20f;
    }
    if (with_bias) {
      g[count] -= task.bias_penalty * (b - (task.mean ? task.mean[side.own] : 0.0f));
      a.row(count)[count] += task.bias_penalty + 1e-20f;
    }
    if (!solve_system(a, block.size(), g)) continue;
    for (size_t i = 0; i < count; ++i) x[first + i] += g[i];
    if (with_bias) b += g[count];
    if (first + count >= dim) break;
    std::fill(whole, whole + width, 0.0f);
    std::copy_n(g, count, whole + first);
    for (size_t k = 0; k < n; ++k) {
      scratch.scores[k] += dot(whole, side.others.row(task.ratings.columns[k]), width);
    }
  }
  std::copy_n(x, dim, task.row);
  if (side.biases) task.row[side.own] = b;
}

double squared_error(const Side& side, const float* row, Sparse::Row ratings, Scratch& scratch) {
  float* const x = scratch.vectors.view().row(0);
  std::copy_n(row, side.dim, x);
  clear_tail(x, side.dim);
  const float b = side.biases ? row[side.own] : 0.0f;
  double sum = 0;
  for (size_t k = 0; k < ratings.size(); ++k) {
    const float* const other = side.others.row(ratings.columns[k]);
    const float rating = ratings.values[k];
    const double e =
        target_of(side, row, other, rating) - dot(x, other, padded(side.dim)) - b * other[side.own];
    sum += weight_of(side, rating) * e * e;
  }
  if (side.implicit) {
    const Whole here = point(side, row, x, b);
    float* const product = scratch.vectors.view().row(1);
    std::fill_n(product, padded(side.dim), 0.0f);
    add_gram_product(side, here, side.unobserved, product);
    sum += unobserved_error(side, here, product);
  }
  return sum;
}

double block_rows(const Side& side, std::span<const Task> tasks, Scratch& scratch) {
  double error = 0;
  for (const Task& task : tasks) {
    solve_one_by_blocks(side, task, scratch);
    error += squared_error(side, task.row, task.ratings, scratch);
  }
  return error;
}

void sum_gram(ConstRows rows, size_t begin, size_t end, size_t n, Rows out) {
  static constexpr auto kOnes = [] {
    std::array<float, kTileRows> ones{};
    ones.fill(1.0f);
    return ones;
  }();
  for (size_t k = begin; k < end; k += kTileRows) {
    add_outer({rows.row(k), rows.stride}, std::min(kTileRows, end - k), n, kOnes.data(), out);
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) out.row(j)[i] = out.row(i)[j];
    clear_tail(out.row(i), n);
  }
}

}  // namespace kith::als::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::als {

HWY_EXPORT(cg_rows);
HWY_EXPORT(block_rows);
HWY_EXPORT(sum_gram);

Scratch::Scratch(size_t dim, size_t block)
    : vectors(4, std::max<size_t>(dim + 2, 128)),
      tile(128, std::min(dim, block) + 1),
      system(std::min(dim, block) + 1, std::min(dim, block) + 1) {}

double solve_cg(const Side& side, std::span<const Task> tasks, Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(cg_rows)(side, tasks, scratch);
}
double solve_blocks(const Side& side, std::span<const Task> tasks, Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(block_rows)(side, tasks, scratch);
}
void add_gram(ConstRows rows, size_t begin, size_t end, size_t n, Rows out) {
  HWY_DYNAMIC_DISPATCH(sum_gram)(rows, begin, end, n, out);
}

}  // namespace kith::als
#endif  // HWY_ONCE
