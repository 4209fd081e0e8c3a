// SPDX-License-Identifier: Apache-2.0
#include "train/covariance.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace kith {
namespace {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

std::optional<InverseFactor> inverse_factor(std::span<const double> s, size_t n) {
  const auto size = static_cast<Eigen::Index>(n);
  const Eigen::LLT<Dense> root(Eigen::Map<const Dense>(s.data(), size, size));
  if (root.info() != Eigen::Success) return std::nullopt;
  const Dense l = root.matrixL();
  InverseFactor out;
  for (size_t i = 0; i < n; ++i) {
    const double pivot = l(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i));
    if (!(pivot > 0) || !std::isfinite(pivot)) return std::nullopt;
    out.log_determinant += 2 * std::log(pivot);
  }
  out.lower.assign(n * n, 0);
  Eigen::Map<Dense> inverse(out.lower.data(), size, size);
  inverse.setIdentity();
  l.triangularView<Eigen::Lower>().solveInPlace(inverse);
  return out;
}

bool raise_eigenvalues(std::span<double> s, size_t n, double least) {
  const auto size = static_cast<Eigen::Index>(n);
  Eigen::Map<Dense> map(s.data(), size, size);
  Dense shifted = map;
  shifted.diagonal().array() -= least;
  // Positive definite: all of them are above it, and this is the cheap way to know.
  if (Eigen::LLT<Dense>(shifted).info() == Eigen::Success) return false;
  const Eigen::SelfAdjointEigenSolver<Dense> found(map);
  if (found.info() != Eigen::Success || found.eigenvalues()(0) >= least) return false;
  const Eigen::VectorXd raised = found.eigenvalues().cwiseMax(least);
  const Dense out = found.eigenvectors() * raised.asDiagonal() * found.eigenvectors().transpose();
  map = (out + out.transpose()) / 2;
  return true;
}

}  // namespace kith
