// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small symmetric matrices in double, n x n by rows, as mixtures and samplers need them.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace kith {

// With S = L L^T: the lower triangle L^-1, and log |S|. Nothing if S is not positive definite.
struct InverseFactor {
  std::vector<double> lower;  // n x n
  double log_determinant = 0;
};
std::optional<InverseFactor> inverse_factor(std::span<const double> s, size_t n);

// Of all symmetric matrices without an eigenvalue below `least`, S becomes the one with the highest
// likelihood for data whose second moments S are: each lower eigenvalue is raised to it. Returns
// whether any was.
bool raise_eigenvalues(std::span<double> s, size_t n, double least);

}  // namespace kith
