// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gamma function's logarithm, and its derivative, for positive numbers.

#include <cmath>

namespace kith::lda {

// d log Gamma(x) / dx, to 1e-12 of it or nearly: psi(x) = psi(x + 1) - 1 / x up to 10, then
// Stirling's series.
inline double digamma(double x) {
  double out = 0;
  for (; x < 10; ++x) out -= 1 / x;
  const double f = 1 / (x * x);
  return out + std::log(x) - 0.5 / x -
         f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f / 132))));
}

// std::lgamma is not to be called from several threads.
inline double log_gamma(double x) {
  double product = 1, out = 0;
  for (; x < 10; ++x) product *= x;
  out -= std::log(product);
  const double f = 1 / (x * x);
  return out + (x - 0.5) * std::log(x) - x + 0.91893853320467274178 +
         (1.0 / 12 - f * (1.0 / 360 - f * (1.0 / 1260 - f / 1680))) / x;
}

// log x (x + 1) ... (x + n - 1).
inline double log_rising(double x, double n) { return log_gamma(x + n) - log_gamma(x); }

// The logarithm of a product of many factors between 1e-8 and 1e9, with few logarithms.
class LogProduct {
 public:
  void multiply(double factor) {
    product_ *= factor;
    if (++factors_ < 32) return;
    log_ += std::log(product_);
    product_ = 1;
    factors_ = 0;
  }
  double log() const { return log_ + std::log(product_); }

 private:
  double log_ = 0, product_ = 1;
  int factors_ = 0;
};

}  // namespace kith::lda
