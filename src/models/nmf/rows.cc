// SPDX-License-Identifier: Apache-2.0
#include "models/nmf/rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/skinny.h"

namespace kith::nmf {
namespace {

constexpr size_t kTile = 128;      // ratings gathered at a time
constexpr double kTiny = 1e-12;    // below this a prediction or a divisor is nothing
constexpr int kNewton = 20;        // steps at most for one coordinate of kl
constexpr double kSettled = 1e-9;  // of a coordinate, relative to itself

// The row problem of the squared error as a quadratic: with x = [p, b],
// sum (t_i - x . z_i)^2 = x^T A x - 2 right . x + square, z = [q, 1], t = r - mean - c.
struct Quadratic {
  size_t n;
  std::span<const double> a;  // n x n
  std::span<const double> right;
  double square;

  double value(std::span<const double> x) const {
    double sum = square;
    for (size_t i = 0; i < n; ++i) sum += x[i] * (times(i, x) - 2 * right[i]);
    return std::max(0.0, sum);
  }
  double times(size_t i, std::span<const double> x) const {
    double sum = 0;
    for (size_t j = 0; j < n; ++j) sum += a[i * n + j] * x[j];
    return sum;
  }
};

Quadratic quadratic_of(const Others& o, Sparse::Row ratings, Scratch& s) {
  const size_t d = o.dim, n = d + (o.biases ? 1 : 0), theirs = o.own == d ? d + 1 : d;
  if (s.tile.cols() != d + 2) s.tile = Matrix(kTile, d + 2);
  const size_t width = s.tile.stride();
  std::vector<double>& sums = s.weights;  // (d + 2) x width: products of all columns of the tile
  sums.assign((d + 2) * width, 0.0);
  for (size_t begin = 0; begin < ratings.size(); begin += kTile) {
    const size_t count = std::min(kTile, ratings.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      const auto q = o.rows.row(ratings.columns[begin + i]);
      const auto z = s.tile.row(i);
      std::copy_n(q.begin(), d, z.begin());
      z[d] = 1;
      z[d + 1] =
          static_cast<float>(ratings.values[begin + i] - o.mean - (o.biases ? q[theirs] : 0));
    }
    const Matrix& tile = s.tile;
    add_products(tile.view(), d + 2, tile.view(), 0, count, sums.data());
  }
  s.system.resize(n * n);
  s.right.resize(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      s.system[i * n + j] = o.zero ? o.gram.at(i, j) : sums[i * width + j];
    }
    s.right[i] = sums[i * width + d + 1];
  }
  return {n, s.system, s.right, sums[(d + 1) * width + d + 1]};
}

// x_k <- max(0, x_k - slope / curvature): each coordinate to its own minimum (Cichocki, Phan 2009).
void hals_sweep(const Quadratic& f, const Others& o, const Penalties& penalty,
                std::span<double> x) {
  for (size_t k = 0; k < f.n; ++k) {
    const bool bias = k == o.dim;
    const double l2 = bias ? penalty.bias : penalty.l2, l1 = bias ? 0 : penalty.l1;
    const double curvature = f.a[k * f.n + k] + l2;
    if (curvature <= kTiny) continue;
    const double slope = f.times(k, x) - f.right[k] + l2 * x[k] + l1;
    const double next = x[k] - slope / curvature;
    x[k] = bias ? next : std::max(0.0, next);
  }
}

// p_k <- p_k c_k / ((A p)_k + l2 p_k + l1) with c = right - A_b b (Lee, Seung 2001). Where the bias
// makes c negative, it moves to the divisor: the same bound with a linear term of the other sign.
void multiplicative_sweep(const Quadratic& f, const Others& o, const Penalties& penalty,
                          std::span<double> x, std::vector<double>& slopes) {
  const size_t d = o.dim;
  slopes.resize(d);
  const double b = o.biases ? x[d] : 0;
  for (size_t k = 0; k < d; ++k) {
    double divisor = penalty.l2 * x[k] + penalty.l1;
    for (size_t j = 0; j < d; ++j) divisor += f.a[k * f.n + j] * x[j];
    const double c = f.right[k] - (o.biases ? f.a[k * f.n + d] * b : 0);
    slopes[k] = std::max(0.0, c) / std::max(divisor + std::max(0.0, -c), kTiny);
  }
  for (size_t k = 0; k < d; ++k) x[k] *= slopes[k];
  if (!o.biases) return;
  const double curvature = f.a[d * f.n + d] + penalty.bias;
  if (curvature > kTiny) {
    x[d] = (f.right[d] - f.times(d, x) + f.a[d * f.n + d] * x[d]) / curvature;
  }
}

double update_squared(const Others& o, const Penalties& penalty, Sparse::Row ratings, int sweeps,
                      std::span<float> row, Scratch& s) {
  const Quadratic f = quadratic_of(o, ratings, s);
  std::vector<double>& x = s.slopes;
  x.assign(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(f.n));
  if (o.biases) x[o.dim] = row[o.own];
  std::vector<double> factors;
  for (int i = 0; i < sweeps; ++i) {
    if (o.method == Method::kHals) {
      hals_sweep(f, o, penalty, x);
    } else {
      multiplicative_sweep(f, o, penalty, x, factors);
    }
  }
  for (size_t k = 0; k < o.dim; ++k) row[k] = static_cast<float>(x[k]);
  if (o.biases) row[o.own] = static_cast<float>(x[o.dim]);
  return f.value(x);
}

// --- kl ---

// Predictions of the rated, not quite 0.
void predict(const Others& o, Sparse::Row ratings, std::span<const float> row, Scratch& s) {
  s.products.resize(ratings.size());
  dot_rows(row.data(), o.rows.view(), ratings.columns.data(), ratings.size(), o.rows.stride(),
           s.products.data());
  for (float& y : s.products) y = std::max(y, static_cast<float>(kTiny));
}

// sum over O of q_k: what the loss grows by with p_k, but for the logarithms.
void weigh(const Others& o, Sparse::Row ratings, Scratch& s) {
  if (o.zero) {
    s.weights = o.sums;
    return;
  }
  s.weights.assign(o.dim, 0.0);
  for (const uint32_t i : ratings.columns) {
    const auto q = o.rows.row(i);
    for (size_t k = 0; k < o.dim; ++k) s.weights[k] += q[k];
  }
}

double kl_of(const Others& o, Sparse::Row ratings, std::span<const float> row, Scratch& s) {
  predict(o, ratings, row, s);
  double sum = 0;
  for (size_t k = 0; k < o.dim; ++k) sum += s.weights[k] * row[k];  // sum over O of y
  for (size_t i = 0; i < ratings.size(); ++i) {
    const double r = ratings.values[i];
    if (r > 0) sum += r * std::log(r / s.products[i]) - r;
  }
  return sum;
}

// The bound of Lee and Seung is a_k p_k + l2 p_k^2 / 2 - n_k log p_k with a_k = weight + l1 and
// n_k = p_k sum (r / y) q_k; its minimum is the positive root of l2 p^2 + a p - n = 0.
void kl_multiplicative(const Others& o, const Penalties& penalty, Sparse::Row ratings,
                       std::span<float> row, Scratch& s) {
  predict(o, ratings, row, s);
  s.ratios.resize(ratings.size());
  for (size_t i = 0; i < ratings.size(); ++i) s.ratios[i] = ratings.values[i] / s.products[i];
  if (s.tile.cols() != o.rows.cols()) s.tile = Matrix(kTile, o.rows.cols());
  const Rows out = s.tile.view();
  sum_rows({o.rows.view(), ratings.columns.data(), s.ratios.data(), ratings.size(), 1}, false,
           out.row(0), s.tile.stride());
  for (size_t k = 0; k < o.dim; ++k) {
    const double n = double{row[k]} * out.row(0)[k], a = s.weights[k] + penalty.l1;
    const double root = a + std::sqrt(a * a + 4 * penalty.l2 * n);
    row[k] = static_cast<float>(2 * n / std::max(root, kTiny));
  }
}

// Each coordinate to its own minimum. The slope g(x) = a + l2 x - sum r q / (y + (x - p) q) rises
// and is concave, so Newton's steps come from below without passing the root, after at most one
// that falls short of it; 0 is the minimum if the slope is positive there.
void kl_coordinates(const Others& o, const Penalties& penalty, Sparse::Row ratings,
                    std::span<float> row, Scratch& s) {
  predict(o, ratings, row, s);
  std::vector<double>& y = s.right;
  y.assign(s.products.begin(), s.products.end());
  for (size_t k = 0; k < o.dim; ++k) {
    const double before = row[k], a = s.weights[k] + penalty.l1;
    double x = before;
    for (int step = 0; step < kNewton; ++step) {
      double slope = a + penalty.l2 * x, curvature = penalty.l2;
      for (size_t i = 0; i < ratings.size(); ++i) {
        const double q = o.rows.row(ratings.columns[i])[k];
        const double ratio = q / std::max(kTiny, y[i] + (x - before) * q);
        slope -= ratings.values[i] * ratio;
        curvature += ratings.values[i] * ratio * ratio;
      }
      const double next =
          curvature > 0 ? std::max(0.0, x - slope / curvature) : (slope > 0 ? 0.0 : x);
      const bool settled = std::abs(next - x) <= kSettled * std::max(next, kTiny);
      x = next;
      if (settled) break;
    }
    row[k] = static_cast<float>(x);
    for (size_t i = 0; i < ratings.size(); ++i) {
      y[i] += (row[k] - before) * o.rows.row(ratings.columns[i])[k];
    }
  }
}

double update_kl(const Others& o, const Penalties& penalty, Sparse::Row ratings, int sweeps,
                 std::span<float> row, Scratch& s) {
  weigh(o, ratings, s);
  for (int i = 0; i < sweeps; ++i) {
    if (o.method == Method::kHals) {
      kl_coordinates(o, penalty, ratings, row, s);
    } else {
      kl_multiplicative(o, penalty, ratings, row, s);
    }
  }
  return kl_of(o, ratings, row, s);
}

}  // namespace

double update_row(const Others& others, const Penalties& penalties, Sparse::Row ratings, int sweeps,
                  std::span<float> row, Scratch& scratch) {
  return others.loss == Loss::kSquared
             ? update_squared(others, penalties, ratings, sweeps, row, scratch)
             : update_kl(others, penalties, ratings, sweeps, row, scratch);
}

}  // namespace kith::nmf
