// SPDX-License-Identifier: Apache-2.0
#include "models/bmf/posterior.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "train/ridge_row.h"

namespace kith::bmf {
namespace {

double uniform(Rng& rng) { return (static_cast<double>(rng.next() >> 11) + 0.5) * 0x1p-53; }

}  // namespace

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(uniform(rng)));
  return radius * std::cos(2 * std::numbers::pi * uniform(rng));
}

// Marsaglia and Tsang; shape >= 1/3 or so, which is all that is asked here.
double gamma(Rng& rng, double shape, double rate) {
  if (shape < 1) return gamma(rng, shape + 1, rate) * std::pow(uniform(rng), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(rng), v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(uniform(rng)) < x * x / 2 + d - d * v + d * std::log(v)) {
      return d * v / rate;
    }
  }
}

Hyper draw_hyper(const Matrix& rows, const Matrix& says, size_t dim,
                 const std::vector<uint64_t>& counts, Rng& rng) {
  Hyper out;
  const size_t n = dim + 1;
  double known = 0;
  for (const uint64_t c : counts) known += c > 0;
  for (size_t k = 0; k < n; ++k) {
    double sum = 0, squares = 0;
    for (size_t r = 0; r < rows.rows(); ++r) {
      if (counts[r] == 0) continue;
      const double x = rows.row(r)[k] - (says.rows() > 0 ? says.row(r)[k] : 0.0f);
      sum += x;
      squares += x * x;
    }
    const double mean = sum / (known + 1);
    const double spread = std::max(0.0, squares - (known + 1) * mean * mean);
    out.precision.push_back(gamma(rng, (known + 1) / 2, (spread + 1) / 2));
    out.mean.push_back(mean + normal(rng) / std::sqrt((known + 1) * out.precision.back()));
  }
  return out;
}

Hyper without_features(const Hyper& hyper, const Matrix& says,
                       const std::vector<uint64_t>& counts) {
  Hyper out = hyper;
  if (says.rows() == 0) return out;
  for (size_t k = 0; k < hyper.mean.size(); ++k) {
    double sum = 0, squares = 0, known = 0;
    for (size_t r = 0; r < says.rows(); ++r) {
      if (counts[r] == 0) continue;
      sum += says.row(r)[k];
      squares += double{says.row(r)[k]} * says.row(r)[k];
      ++known;
    }
    const double mean = sum / std::max(1.0, known);
    const double variance = std::max(0.0, squares / std::max(1.0, known) - mean * mean);
    out.mean[k] += mean;
    out.precision[k] = 1 / (1 / hyper.precision[k] + variance);
  }
  return out;
}

void solve(const Hyper& hyper, std::span<const float> says, double noise, Scratch& s, Rng* rng,
           float* row) {
  const size_t n = hyper.mean.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) s.a[i * n + j] = noise * s.system.row(i)[j];
    s.a[i * n + i] += hyper.precision[i];
    const double mean = hyper.mean[i] + (says.empty() ? 0.0f : says[i]);
    s.b[i] = hyper.precision[i] * mean + noise * s.right.row(0)[i];
  }
  if (!cholesky(s.a, n)) return;
  solve_lower(s.a, n, s.b);
  for (size_t i = 0; rng && i < n; ++i) s.b[i] += normal(*rng);
  solve_upper(s.a, n, s.b);
  for (size_t i = 0; i < n; ++i) row[i] = static_cast<float>(s.b[i]);
}

double squares_left(const Scratch& s, double squares, std::span<const float> row) {
  // sum (t - f . x)^2 = sum t^2 - 2 x . sum t f + x^T (sum f f^T) x
  double out = squares;
  for (size_t i = 0; i < row.size(); ++i) {
    out -= 2.0 * row[i] * s.right.row(0)[i];
    for (size_t j = 0; j < row.size(); ++j) {
      out += double{row[i]} * row[j] * s.system.row(std::max(i, j))[std::min(i, j)];
    }
  }
  return std::max(0.0, out);
}

// Column k of L^-1 has (A^-1)_kk for its square.
double spread_of(const Scratch& s, std::span<const double> squares) {
  const size_t n = squares.size();
  std::vector<double> column(n);
  double out = 0;
  for (size_t k = 0; k < n; ++k) {
    std::ranges::fill(column, 0.0);
    column[k] = 1;
    solve_lower(s.a, n, column);
    double sum = 0;
    for (const double x : column) sum += x * x;
    out += squares[k] * sum;
  }
  return out;
}

}  // namespace kith::bmf
