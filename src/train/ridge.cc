// SPDX-License-Identifier: Apache-2.0
#include "train/ridge.h"

#include <cmath>

namespace kith {

RidgeFit::RidgeFit(size_t inputs, size_t outputs)
    : inputs_(inputs), outputs_(outputs), xx_(inputs * inputs), yx_(outputs * inputs) {}

void RidgeFit::add(std::span<const float> x, std::span<const float> y, double weight) {
  ++examples_;
  for (size_t i = 0; i < inputs_; ++i) {
    const double xi = weight * x[i];
    for (size_t j = 0; j <= i; ++j) xx_[i * inputs_ + j] += xi * x[j];
    for (size_t o = 0; o < outputs_; ++o) yx_[o * inputs_ + i] += xi * y[o];
  }
}

Matrix RidgeFit::solve(double penalty) const {
  const size_t n = inputs_;
  double trace = 0;
  for (size_t i = 0; i < n; ++i) trace += xx_[i * n + i];
  const double lambda = penalty * trace / static_cast<double>(n) + 1e-12;
  // Cholesky: xx + lambda I = L L'.
  std::vector<double> l = xx_;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = l[i * n + j] + (i == j ? lambda : 0);
      for (size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? std::sqrt(sum) : sum / l[j * n + j];
    }
  }
  Matrix out(outputs_, n);
  std::vector<double> z(n);
  for (size_t o = 0; o < outputs_; ++o) {
    for (size_t i = 0; i < n; ++i) {
      double sum = yx_[o * n + i];
      for (size_t k = 0; k < i; ++k) sum -= l[i * n + k] * z[k];
      z[i] = sum / l[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
      double sum = z[i];
      for (size_t k = i + 1; k < n; ++k) sum -= l[k * n + i] * z[k];
      z[i] = sum / l[i * n + i];
      out.row(o)[i] = static_cast<float>(z[i]);
    }
  }
  return out;
}

}  // namespace kith
