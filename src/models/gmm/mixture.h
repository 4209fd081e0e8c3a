// SPDX-License-Identifier: Apache-2.0
#pragma once
// A mixture of normal distributions,
//
//   p(x) = sum_k w_k N(x; m_k, S_k)
//
// and the closed form of its M step. All of it in the frame of the data: every column without its
// mean and, by its deviation, about as wide as the others; so a share of the data's variance is a
// number, and a column around a million is none.

#include <cstdint>
#include <string>
#include <vector>

#include "models/gmm/config.h"
#include "models/gmm/kernel.h"
#include "models/parts.h"

namespace kith::gmm {

// What a mixture may be.
struct Form {
  Covariance covariance = Covariance::kFull;
  bool hard = false;  // k-means: spherical, and all of one variance
  double least = 0;   // that no variance in any direction is below
  // Of the density that a mixture has, be it made by hard assignments or not.
  Form soft() const { return {covariance, false, least}; }
};

struct Mixture {
  uint64_t count = 0, dims = 0;
  std::vector<double> weights;      // sum to 1
  std::vector<double> means;        // count x dims
  std::vector<double> covariances;  // size_of() numbers
  uint64_t raised = 0;              // components of which a variance had to be raised

  bool empty() const { return count == 0; }
  // Its tensors, under names that begin so; only where a run goes on.
  void visit(Parts& parts, const std::string& name);
};

// Numbers that covariances of a form are: 1 each, dims each, dims x dims each, or that once.
size_t covariance_numbers(Covariance covariance, size_t count, size_t dims);
// Free parameters, as BIC and AIC count them.
uint64_t free_parameters(const Form& form, size_t count, size_t dims);

// One component with the mean and the variances of the data, that of full ones diagonal.
Mixture of_one(const Form& form, size_t dims);
// These means, with the weights and the one variance of a hard assignment to them.
Mixture around(const Form& form, size_t dims, std::vector<double> means, const Sums& sums,
               uint64_t rows);

// The same mixture, its components by their weights.
Mixture largest_first(const Form& form, const Mixture& mixture);

template <class T>
Components<T> components_of(const Form& form, const Mixture& mixture);

// The mixture that explains best what a sweep with `components` found of `rows` rows. `before` is
// what a component stays that is responsible for nothing.
template <class T>
Mixture maximised(const Form& form, const Mixture& before, const Components<T>& components,
                  const Sums& sums, uint64_t rows);

}  // namespace kith::gmm
