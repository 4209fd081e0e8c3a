// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pointwise mutual information of counts: what a pair of words has in common beyond chance.
//
//   P_ij = log(N_ij N / (N_i c_j)) - log shift,   c_j = N_.j^s sum_k N_.k / sum_k N_.k^s
//
// with N_i the sum of a row and s the smoothing (Levy, Goldberg, Dagan 2015). Cells that were not
// counted stay 0; with `positive` so do those that are not above 0.

#include "data/sparse.h"

namespace kith::pmi {

struct PmiOptions {
  bool positive = true;
  double shift = 1;
  double smoothing = 0.75;
};
Sparse pmi_of(const Sparse& counts, const PmiOptions& options);

}  // namespace kith::pmi
