// SPDX-License-Identifier: Apache-2.0
#include "models/pca/solvers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "core/rng.h"

namespace kith::pca {
namespace {

double inner(const Small& a, const Small& b) {
  double out = 0;
  for (size_t i = 0; i < a.values.size(); ++i) out += a.values[i] * b.values[i];
  return out;
}

double inner(std::span<const double> a, std::span<const double> b) {
  double out = 0;
  for (size_t i = 0; i < a.size(); ++i) out += a[i] * b[i];
  return out;
}

// to += share * more.
void add(Small& to, double share, const Small& more) {
  for (size_t i = 0; i < to.values.size(); ++i) to.values[i] += share * more.values[i];
}

Small scaled(const Small& a, double by) {
  Small out = a;
  for (double& x : out.values) x *= by;
  return out;
}

std::span<const double> row(const Small& a, size_t k) {
  return std::span(a.values).subspan(k * a.cols, a.cols);
}

// One below the other.
Small stacked(const Small& a, const Small& b) {
  Small out(a.rows + b.rows, a.cols);
  std::ranges::copy(b.values, std::ranges::copy(a.values, out.values.begin()).out);
  return out;
}
Small part(const Small& a, size_t first, size_t rows) {
  Small out(rows, a.cols);
  const auto from = std::span(a.values).subspan(first * a.cols, rows * a.cols);
  std::ranges::copy(from, out.values.begin());
  return out;
}

// Half the derivatives of what the loss is along a direction, a cubic in the length of the step.
using Cubic = std::array<double, 4>;
double at(const Cubic& c, double t) { return c[0] + t * (c[1] + t * (c[2] + t * c[3])); }

// The first length at which the slope is no longer down. The loss grows without bound in the end,
// unless the direction leads nowhere.
double first_minimum(const Cubic& slope) {
  if (!(slope[0] < 0)) return 0;
  double low = 0, high = 1;
  for (int k = 0; at(slope, high) < 0; ++k, high *= 2) {
    if (k == 200) return 0;
    low = high;
  }
  while (at(slope, high / 2) > 0 && high / 2 > low) high /= 2;
  for (int k = 0; k < 100; ++k) {
    const double middle = low + (high - low) / 2;
    (at(slope, middle) < 0 ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

// One covariance product serves both.
struct Pair {
  Small w, v;
};
Pair times(const Covariance& c, const Small& w, const Small& v, const Context& context) {
  const Small both = c.times(stacked(w, v), context);
  return {part(both, 0, w.rows), part(both, w.rows, v.rows)};
}

Autoencoder::Gradients gradients_of(const Small& w, const Small& v, const Pair& of_c) {
  Autoencoder::Gradients out{scaled(of_c.v, -1), scaled(of_c.w, -1)};
  add(out.v, 1, product(product_transposed(of_c.w, w), v));  // (W C W^T) V^T
  add(out.w, 1, product(product_transposed(v, v), of_c.w));  // (V^T V) W C
  return out;
}

Small symmetric_sum(const Small& a, const Small& b) {  // a b^T + b a^T
  Small out = product_transposed(a, b);
  add(out, 1, product_transposed(b, a));
  return out;
}

}  // namespace

Small random_block(size_t rows, size_t cols, uint64_t seed) {
  Small out(rows, cols);
  for (size_t r = 0; r < rows; ++r) {
    Rng rng(seed, r);
    for (size_t c = 0; c < cols; ++c) out.at(r, c) = 2 * double{rng.uniform()} - 1;
  }
  return out;
}

BlockStep block_step(const Covariance& c, const Small& basis, size_t count,
                     const Context& context) {
  const Small image = c.times(basis, context);
  const EigenPairs turned = largest_eigenpairs(product_transposed(basis, image), basis.rows);
  BlockStep out;
  out.found.vectors = part(product(turned.vectors, basis), 0, count);
  out.found.values.assign(turned.values.begin(),
                          turned.values.begin() + static_cast<std::ptrdiff_t>(count));
  for (double& x : out.found.values) x = std::max(0.0, x);
  fix_signs(out.found.vectors);
  out.next = orthonormal_rows(product(turned.vectors, image));
  return out;
}

EigenPairs within(const Covariance& c, const Small& basis, size_t count, const Context& context) {
  return block_step(c, basis, count, context).found;
}

Direction next_direction(const Covariance& c, const EigenPairs& found, std::vector<double> start,
                         const PowerOptions& options, const Context& context) {
  const size_t known = found.values.size();
  Small v(1, c.cols());
  v.values = std::move(start);
  // Orthogonal to those that were found, twice for the sake of rounding, and of length 1.
  const auto clean = [&](Small& x) {
    for (int again = 0; again < 2; ++again) {
      for (size_t k = 0; k < known; ++k) {
        const double along = inner(row(found.vectors, k), x.values);
        for (size_t i = 0; i < x.cols; ++i) x.values[i] -= along * found.vectors.at(k, i);
      }
    }
    const double length = std::sqrt(inner(x, x));
    if (length > 0) x = scaled(x, 1 / length);
    return length;
  };
  clean(v);
  Direction out;
  for (out.iterations = 1;; ++out.iterations) {
    context.check();
    Small image = c.times(v, context);
    const double value = inner(image, v);
    const bool last = out.iterations >= options.iterations ||
                      (out.iterations > 1 && value - out.value <= options.least_gain);
    out.value = std::max(0.0, value);
    // Nothing is left: any direction is as good as another.
    if (clean(image) <= 0 || last) break;
    v = std::move(image);
  }
  out.vector = std::move(v.values);
  return out;
}

// Lengths such that V W x is as long as x about.
Autoencoder::Autoencoder(size_t k, size_t cols, uint64_t seed)
    : w(random_block(k, cols, mix64(seed))), v(random_block(k, cols, mix64(seed + 1))) {
  const double length = std::sqrt(3.0 / static_cast<double>(cols));
  w = scaled(w, length);
  v = scaled(v, length);
}

double Autoencoder::loss(const Covariance& c, const Context& context) const {
  const Small wc = c.times(w, context);
  return inner(product_transposed(v, v), product_transposed(wc, w)) / 2 - inner(v, wc);
}

Autoencoder::Gradients Autoencoder::gradients(const Covariance& c, const Context& context) const {
  return gradients_of(w, v, times(c, w, v, context));
}

void Autoencoder::step(const Covariance& c, const Context& context) {
  const Pair of_c = times(c, w, v, context);
  Gradients g = gradients_of(w, v, of_c);
  Small next_w = scaled(g.w, -1), next_v = scaled(g.v, -1);
  if (!last_w.values.empty()) {
    const double before = inner(last_w, last_w) + inner(last_v, last_v);
    const double now = inner(g.w, g.w) + inner(g.v, g.v);
    const double both = inner(g.w, last_w) + inner(g.v, last_v);
    const double keep = before > 0 ? std::max(0.0, (now - both) / before) : 0;
    add(next_w, keep, to_w);
    add(next_v, keep, to_v);
    if (inner(next_w, g.w) + inner(next_v, g.v) >= 0) {  // not downhill: begin again
      next_w = scaled(g.w, -1);
      next_v = scaled(g.v, -1);
    }
  }
  // L(t) = (tr C - 2 f(t) + <B(t), A(t)>) / 2 with f = tr(V W C), A = W C W^T, B = V^T V.
  const Small rc = c.times(next_w, context);
  const Small a0 = product_transposed(of_c.w, w), a1 = symmetric_sum(rc, w),
              a2 = product_transposed(rc, next_w);
  const Small b0 = product_transposed(v, v), b1 = symmetric_sum(v, next_v),
              b2 = product_transposed(next_v, next_v);
  const double f1 = inner(next_v, of_c.w) + inner(v, rc), f2 = inner(next_v, rc);
  const Cubic slope{(inner(b0, a1) + inner(b1, a0)) / 2 - f1,
                    inner(b0, a2) + inner(b1, a1) + inner(b2, a0) - 2 * f2,
                    1.5 * (inner(b1, a2) + inner(b2, a1)), 2 * inner(b2, a2)};
  const double t = first_minimum(slope);
  add(w, t, next_w);
  add(v, t, next_v);
  to_w = std::move(next_w);
  to_v = std::move(next_v);
  last_w = std::move(g.w);
  last_v = std::move(g.v);
}

}  // namespace kith::pca
