// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "core/matrix.h"

namespace kith {

// min over W of sum weight |W x - y|^2 + lambda |W|^2, from examples as they come; with n of them
// and d inputs, n d min(n, d) products. Holds the examples.
class RidgeFit {
 public:
  RidgeFit(size_t inputs, size_t outputs) : inputs_(inputs), outputs_(outputs) {}
  void add(std::span<const float> x, std::span<const float> y, double weight);
  size_t size() const { return examples_; }
  // lambda = penalty * the mean square of an input times the weight of all examples. W is outputs x
  // inputs.
  Matrix solve(double penalty) const;

 private:
  size_t inputs_, outputs_, examples_ = 0;
  std::vector<double> x_, y_;  // a row of each per example, by the root of its weight
};

}  // namespace kith
