// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where EM starts, and when it has come to its end.

#include <cstdint>
#include <vector>

#include "models/gmm/mixture.h"
#include "models/gmm/points.h"
#include "models/gmm/sweep.h"

namespace kith::gmm {

// Rows that starts are tried on: all, up to a number that tells so many components apart.
uint64_t sample_size(const Form& form, uint64_t rows, size_t count, size_t dims);

// How many starts, where that is not given: many where they take no time.
uint64_t usual_starts(const Form& form, uint64_t rows, size_t count, size_t dims);

// What a sweep says of a mixture: higher is better, and steps can be compared whatever the data:
// the mean log-density of a row in the frame; with k-means less the mean squared distance, as a
// share of the variance.
double score_of(const Form& form, double objective, uint64_t rows, size_t dims);

// The scores of the last sweeps. By Aitken's rule, gains that fall by a factor a from sweep to
// sweep will add up to gain a / (1 - a).
class Gains {
 public:
  void add(double score);
  bool over(double tolerance) const;
  void clear() { scores_.clear(); }
  std::vector<double>& scores() { return scores_; }  // the last three

 private:
  std::vector<double> scores_;
};

// k-means++ (Arthur and Vassilvitskii 2007): each next mean is a row drawn in proportion to the
// squared distance from those there are, the best of a few draws. Fewer if no more rows differ.
std::vector<double> seeds(const Sample& sample, size_t dims, size_t count, uint64_t seed,
                          const Context& context);

struct StartPlan {
  Form form;
  const Config& config;
  const Sample& sample;
  bool all;  // the sample is all there is
  size_t dims;
};
struct Tried {
  Mixture mixture;
  double score = 0;
  size_t differ = 0;  // rows that do, if they are fewer than components; there is no mixture then
};
// A start: seeds, k-means from there, and EM on the sample until little is left to gain.
Tried tried_start(const StartPlan& plan, size_t count, uint64_t seed, const Context& context);

// Whether a mixture is to be preferred. One that collapsed on a few rows has a likelihood that says
// nothing, so it comes behind all that did not.
inline bool is_better(const Mixture& a, double score, const Mixture& b, double other) {
  if ((a.raised == 0) != (b.raised == 0)) return a.raised == 0;
  return score > other;
}

}  // namespace kith::gmm
