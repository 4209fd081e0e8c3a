// SPDX-License-Identifier: Apache-2.0
#include "train/symmetric.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "train/tridiagonal.h"

namespace kith {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const RowMajor> view(const Small& a) {
  return {a.values.data(), static_cast<Eigen::Index>(a.rows), static_cast<Eigen::Index>(a.cols)};
}
Eigen::Map<RowMajor> view(Small& a) {
  return {a.values.data(), static_cast<Eigen::Index>(a.rows), static_cast<Eigen::Index>(a.cols)};
}

// Below, Eigen's solver takes less than a tenth of a second: its work cannot be stopped.
constexpr size_t kAtOnce = 512;

std::vector<double> tridiagonal_values(std::span<const double> diagonal,
                                       std::span<const double> beside) {
  const auto vector = [](std::span<const double> v) {
    return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
  };
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(vector(diagonal), vector(beside), Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) {
    throw fault(ErrorKind::kDiverged, "the variances of the directions could not be found");
  }
  return {solver.eigenvalues().begin(), solver.eigenvalues().end()};
}

}  // namespace

EigenPairs largest_eigenpairs(const Small& a, size_t count, const Context* context) {
  if (context && a.rows > kAtOnce) {
    EigenPairs out = eigenpairs_by_reflections(a, count, tridiagonal_values, *context);
    fix_signs(out.vectors);
    return out;
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(view(a));
  if (solver.info() != Eigen::Success) {
    throw fault(ErrorKind::kDiverged, "the directions of the covariance could not be found");
  }
  EigenPairs out;
  out.vectors = Small(count, a.cols);
  for (size_t k = 0; k < count; ++k) {
    const auto from = static_cast<Eigen::Index>(a.cols - 1 - k);  // they rise
    out.values.push_back(solver.eigenvalues()[from]);
    view(out.vectors).row(static_cast<Eigen::Index>(k)) = solver.eigenvectors().col(from);
  }
  fix_signs(out.vectors);
  return out;
}

Small product(const Small& a, const Small& b) {
  Small out(a.rows, b.cols);
  view(out).noalias() = view(a) * view(b);
  return out;
}

Small product_transposed(const Small& a, const Small& b) {
  Small out(a.rows, b.rows);
  view(out).noalias() = view(a) * view(b).transpose();
  return out;
}

Small transposed_product(const Small& a, const Small& b) {
  Small out(a.cols, b.cols);
  view(out).noalias() = view(a).transpose() * view(b);
  return out;
}

Small orthonormal_rows(const Small& a) {
  const size_t rows = std::min(a.rows, a.cols);
  Small out(rows, a.cols);
  const Eigen::MatrixXd columns = view(a).topRows(static_cast<Eigen::Index>(rows)).transpose();
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns);
  view(out) = (qr.householderQ() * Eigen::MatrixXd::Identity(static_cast<Eigen::Index>(a.cols),
                                                             static_cast<Eigen::Index>(rows)))
                  .transpose();
  return out;
}

void fix_signs(Small& vectors) {
  for (size_t k = 0; k < vectors.rows; ++k) {
    const auto row = std::span(vectors.values).subspan(k * vectors.cols, vectors.cols);
    const auto largest = std::ranges::max_element(row, {}, [](double x) { return std::abs(x); });
    if (largest == row.end() || *largest >= 0) continue;
    for (double& x : row) x = -x;
  }
}

}  // namespace kith
