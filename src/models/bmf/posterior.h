// SPDX-License-Identifier: Apache-2.0
#pragma once
// The conditional distributions of the Gibbs sampler, each given everything else. Of a row x = [p,
// b] whose ratings have precisions alpha w w_k, w its own weight and w_k that of the row it meets:
//
//   x ~ N(A^-1 r, A^-1),  A = diag(lambda) + alpha w sum w_k f f^T,  r = lambda mu + alpha w sum
//   w_k t f
//   w ~ Gamma((nu + n) / 2, (nu + alpha sum w_k e^2) / 2)
//
// with f = [q, 1], t what is left of a rating, e what x leaves of it, and sums over n ratings.

#include <span>
#include <vector>

#include "core/rng.h"
#include "models/bmf/kernel.h"

namespace kith::bmf {

// Means and precisions of the coordinates [p, b] of one side.
struct Hyper {
  std::vector<double> precision, mean;  // dim + 1
};

double normal(Rng& rng);
double gamma(Rng& rng, double shape, double rate);

// Of coordinates that have been drawn: precision ~ Gamma, mean ~ N, with the vague priors of libFM
// (1 observation's worth). Rows without ratings do not count. `says`: what else is known says of
// the rows (prior.h), which is taken off them; it may be empty.
Hyper draw_hyper(const Matrix& rows, const Matrix& says, size_t dim,
                 const std::vector<uint64_t>& counts, Rng& rng);

// The same of a row that nothing else is known of, where something is known of the others.
Hyper without_features(const Hyper& hyper, const Matrix& says, const std::vector<uint64_t>& counts);

// A row from its normal equations in `s`; `noise` is alpha w. Without `rng` its mean. `says` may be
// empty.
void solve(const Hyper& hyper, std::span<const float> says, double noise, Scratch& s, Rng* rng,
           float* row);

// What a row x leaves of the ratings behind the normal equations: sum w_k (t - f . x)^2, where
// `squares` is sum w_k t^2.
double squares_left(const Scratch& s, double squares, std::span<const float> row);

// How much the row that was just solved leaves open of a score f . x, for f of these mean squares:
// sum over k of f_k^2 (A^-1)_kk.
double spread_of(const Scratch& s, std::span<const double> squares);

}  // namespace kith::bmf
