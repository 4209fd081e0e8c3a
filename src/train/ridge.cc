// SPDX-License-Identifier: Apache-2.0
#include "train/ridge.h"

#include <Eigen/Cholesky>
#include <cmath>

namespace kith {
namespace {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Dense> as_rows(const std::vector<double>& values, size_t rows) {
  return {values.data(), static_cast<Eigen::Index>(rows),
          static_cast<Eigen::Index>(values.size() / rows)};
}

}  // namespace

void RidgeFit::add(std::span<const float> x, std::span<const float> y, double weight) {
  ++examples_;
  const double root = std::sqrt(weight);
  for (const float v : x.first(inputs_)) x_.push_back(root * v);
  for (const float v : y.first(outputs_)) y_.push_back(root * v);
}

// W = Y'X (X'X + lambda I)^-1 = Y' (XX' + lambda I)^-1 X: whichever is smaller.
Matrix RidgeFit::solve(double penalty) const {
  const Eigen::Map<const Dense> x = as_rows(x_, examples_), y = as_rows(y_, examples_);
  const double lambda = penalty * x.squaredNorm() / static_cast<double>(inputs_) + 1e-12;
  const bool by_examples = x.rows() < x.cols();
  Dense gram = by_examples ? Dense(x * x.transpose()) : Dense(x.transpose() * x);
  gram.diagonal().array() += lambda;
  const Eigen::LLT<Dense> root(gram);
  const Dense w = by_examples ? Dense(root.solve(y).transpose() * x)
                              : Dense(root.solve(x.transpose() * y).transpose());
  Matrix out(outputs_, inputs_);
  for (size_t o = 0; o < outputs_; ++o) {
    for (size_t i = 0; i < inputs_; ++i) {
      out.row(o)[i] =
          static_cast<float>(w(static_cast<Eigen::Index>(o), static_cast<Eigen::Index>(i)));
    }
  }
  return out;
}

}  // namespace kith
