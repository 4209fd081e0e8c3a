// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: rows drawn from a mixture that is known.

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/matrix.h"
#include "core/rng.h"

namespace kith::gmm {

inline double normal(Rng& rng) {
  const double u = (static_cast<double>(rng.next() >> 11) + 0.5) * 0x1p-53;
  const double v = (static_cast<double>(rng.next() >> 11) + 0.5) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

// x = mean + root z with z ~ N(0, 1).
struct Normal {
  double weight;
  std::vector<double> mean, root;  // dims; dims x dims
};

inline Matrix drawn_from(const std::vector<Normal>& mixture, size_t rows, uint64_t seed = 1) {
  const size_t dims = mixture.front().mean.size();
  Matrix out(rows, dims);
  std::vector<double> z(dims);
  for (size_t r = 0; r < rows; ++r) {
    Rng rng(seed, r);
    double left = rng.uniform();
    size_t k = 0;
    for (; k + 1 < mixture.size() && left >= mixture[k].weight; ++k) left -= mixture[k].weight;
    for (double& x : z) x = normal(rng);
    for (size_t i = 0; i < dims; ++i) {
      double x = mixture[k].mean[i];
      for (size_t j = 0; j < dims; ++j) x += mixture[k].root[i * dims + j] * z[j];
      out.row(r)[i] = static_cast<float>(x);
    }
  }
  return out;
}

// Three groups of a plane that differ in everything, well apart.
inline std::vector<Normal> three_groups() {
  return {{0.5, {0, 0}, {1, 0, 0.5, 0.5}},
          {0.3, {8, 1}, {0.3, 0, -0.4, 1}},
          {0.2, {2, 9}, {2, 0, 0, 0.25}}};
}

// Groups that overlap, so that EM has some way to go: many columns, a mean and a spread each.
inline std::vector<Normal> overlapping(size_t count, size_t dims, uint64_t seed = 7) {
  std::vector<Normal> out;
  for (size_t k = 0; k < count; ++k) {
    Rng rng(seed, k);
    Normal n{1.0 / static_cast<double>(count), {}, std::vector<double>(dims * dims, 0)};
    for (size_t i = 0; i < dims; ++i) {
      n.mean.push_back(1.5 * normal(rng));
      for (size_t j = 0; j < i; ++j) n.root[i * dims + j] = 0.3 * normal(rng);
      n.root[i * dims + i] = 0.5 + rng.uniform();
    }
    out.push_back(std::move(n));
  }
  return out;
}

}  // namespace kith::gmm
