// SPDX-License-Identifier: Apache-2.0
#pragma once
// The textbook in double precision: what the kernel must agree with. Sources: the notes on the
// skip-gram batches (positive batch: one centre with its contexts; negative batch: a fake centre
// with the same contexts) and on word2vec's gradients.

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace kith::words::reference {

using Vec = std::vector<double>;

inline double dot(const Vec& a, const Vec& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline double sigma(double x) { return 1 / (1 + std::exp(-x)); }
inline void axpy(double alpha, const Vec& x, Vec& y) {
  for (size_t i = 0; i < x.size(); ++i) y[i] += alpha * x[i];
}
inline Vec random_vec(size_t n, std::mt19937& rng, double scale = 0.4) {
  std::normal_distribution<double> normal(0, scale);
  Vec v(n);
  for (double& x : v) x = normal(rng);
  return v;
}

// -log p of a pair that is true (label 1) or fake (label 0).
inline double pair_loss(const Vec& x, const Vec& y, double label) {
  const double p = sigma(dot(x, y));
  return -(label * std::log(p) + (1 - label) * std::log(1 - p));
}
// Its gradient in x; the one in y is the same with the roles exchanged.
inline Vec pair_gradient(const Vec& x, const Vec& y, double label) {
  Vec g(x.size(), 0.0);
  axpy(sigma(dot(x, y)) - label, y, g);
  return g;
}

// The central difference of f at x.
inline Vec numeric_gradient(const std::function<double(const Vec&)>& f, const Vec& x) {
  constexpr double h = 1e-5;  // the error is of order h^2 = 1e-10
  Vec g(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    Vec up = x, down = x;
    up[i] += h;
    down[i] -= h;
    g[i] = (f(up) - f(down)) / (2 * h);
  }
  return g;
}

}  // namespace kith::words::reference
