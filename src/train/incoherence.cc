// SPDX-License-Identifier: Apache-2.0
#include "train/incoherence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "train/products.h"

namespace kith {
namespace {

// The largest |a_i . b_j - level * [i == j]| over all pairs of rows.
double largest(const Matrix& a, const Matrix& b, double level, const Context& context) {
  std::vector<double> tops(a.rows(), 0.0);
  for_each_range(context, a.rows(), b.rows() * a.cols(), [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      for (size_t j = 0; j < b.rows(); ++j) {
        double dot = i == j ? -level : 0;
        for (size_t k = 0; k < a.cols(); ++k) dot += double{a.row(i)[k]} * b.row(j)[k];
        tops[i] = std::max(tops[i], std::abs(dot));
      }
    }
  });
  return tops.empty() ? 0 : *std::ranges::max_element(tops);
}

}  // namespace

double incoherence(const Svd& a, const Context& context) {
  if (a.rank() == 0) return 0;
  const auto n = static_cast<double>(a.u.rows()), m = static_cast<double>(a.v.rows());
  const auto k = static_cast<double>(a.rank());
  return std::max({n * largest(a.u, a.u, k / n, context), m * largest(a.v, a.v, k / m, context),
                   std::sqrt(n * m) * largest(a.u, a.v, 0, context)}) /
         std::sqrt(k);
}

}  // namespace kith
