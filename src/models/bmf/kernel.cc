// SPDX-License-Identifier: Apache-2.0
#include "models/bmf/kernel.h"

#include <algorithm>
#include <array>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/bmf/kernel.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/outer-inl.h"
#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::bmf::HWY_NAMESPACE {
using kith::HWY_NAMESPACE::add_outer;
using kith::HWY_NAMESPACE::axpy;

constexpr size_t kTileRows = 64;

double build_equations(ConstRows others, size_t dim, Sparse::Row ratings, Scratch& scratch) {
  const size_t n = dim + 1, width = padded(n);
  std::array<float, kTileRows> weights;
  const Rows a = scratch.system.view();
  float* const g = scratch.right.view().row(0);
  for (size_t i = 0; i < n; ++i) std::fill_n(a.row(i), width, 0.0f);
  std::fill_n(g, width, 0.0f);
  double squares = 0;
  for (size_t k = 0; k < ratings.size(); k += kTileRows) {
    const size_t rows = std::min(kTileRows, ratings.size() - k);
    for (size_t e = 0; e < rows; ++e) {
      const float* const other = others.row(ratings.columns[k + e]);
      float* const f = scratch.tile.view().row(e);
      std::copy_n(other, dim, f);
      f[dim] = 1;
      const float t = ratings.values[k + e] - other[dim], w = other[dim + 1];
      weights[e] = w;
      squares += w * t * t;
      axpy(w * t, f, g, width);
    }
    add_outer(std::as_const(scratch.tile).view(), rows, n, weights.data(), a);
  }
  return squares;
}

}  // namespace kith::bmf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::bmf {

HWY_EXPORT(build_equations);

Scratch::Scratch(size_t dim)
    : tile(64, dim + 1),
      system(dim + 1, dim + 1),
      right(1, dim + 1),
      a((dim + 1) * (dim + 1)),
      b(dim + 1) {}

double normal_equations(ConstRows others, size_t dim, Sparse::Row ratings, Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(build_equations)(others, dim, ratings, scratch);
}

}  // namespace kith::bmf
#endif  // HWY_ONCE
