// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "core/matrix.h"

namespace kith {

// min over W of sum weight |W x - y|^2 + lambda |W|^2, from examples as they come. Holds two dense
// matrices, whatever the number of examples.
class RidgeFit {
 public:
  RidgeFit(size_t inputs, size_t outputs);
  void add(std::span<const float> x, std::span<const float> y, double weight);
  size_t size() const { return examples_; }
  // lambda = penalty * the mean square of an input times the weight of all examples. W is outputs x
  // inputs.
  Matrix solve(double penalty) const;

 private:
  size_t inputs_, outputs_, examples_ = 0;
  std::vector<double> xx_, yx_;  // inputs x inputs, outputs x inputs
};

}  // namespace kith
