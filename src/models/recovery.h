// SPDX-License-Identifier: Apache-2.0
#pragma once
// When can a matrix be recovered exactly from some of its entries? The experiment: random n x n
// matrices of rank k, a share of their entries observed at random, completed by one of our models,
// and compared with the truth. 2 n k - k^2 numbers determine such a matrix, so with fewer entries
// nothing can succeed; how close to that bound a method comes is what the map shows.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "core/job.h"

namespace kith {

enum class RecoveryMethod { kSvp, kNuclear };

struct RecoverySettings {
  size_t n = 40;
  size_t max_rank = 16;
  size_t shares = 20;  // columns of the map, evenly from 1 / shares to 1
  size_t trials = 3;   // matrices for each cell
  RecoveryMethod method = RecoveryMethod::kSvp;
};

struct RecoveryMap {
  size_t n = 0;
  std::vector<size_t> ranks;    // rising
  std::vector<double> shares;   // rising
  std::vector<double> success;  // share of trials that succeeded, at rank * shares.size() + share
  double at(size_t rank, size_t share) const { return success[rank * shares.size() + share]; }
  // The share of entries that is as many numbers as the matrix has degrees of freedom.
  double bound(double rank) const {
    const auto size = static_cast<double>(n);
    return (2 * size * rank - rank * rank) / (size * size);
  }
};

// A trial succeeds if |M - A|_F < 0.001 |A|_F. The same map for a seed, whatever the number of
// threads. Calls job.on_progress with cells done; returns what is done when the job is cancelled.
RecoveryMap recovery_map(const RecoverySettings& settings, Job& job);

}  // namespace kith

template <>
struct kith::EnumNames<kith::RecoveryMethod> {
  static constexpr std::array<std::string_view, 2> names{"svp", "nuclear"};
};
