// SPDX-License-Identifier: Apache-2.0
#pragma once
// When can a matrix be recovered exactly from some of its entries? The experiment: random n x n
// matrices of rank k, a share of their entries observed at random, completed by one of our models,
// and compared with the truth. 2 n k - k^2 numbers determine such a matrix, so with fewer entries
// nothing can succeed; how close to that bound a method comes is what the map shows. And it takes
// matrices that are spread over their entries: one with a spike cannot be seen in a few of them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/fields.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

enum class RecoveryMethod { kSvp, kNuclear };

struct RecoveryOptions {
  int size = 40;
  int ranks = 16;
  int shares = 20;
  int trials = 3;
  double spike = 0;
  RecoveryMethod method = RecoveryMethod::kSvp;
  int64_t seed = 1;

  static constexpr std::tuple fields{
      field("size", &RecoveryOptions::size, "rows and columns of the matrices").between(4, 500),
      field("ranks", &RecoveryOptions::ranks, "ranks 1 to this").between(1, 200),
      field("shares", &RecoveryOptions::shares,
            "how many shares of the entries to try, evenly spaced up to all of them")
          .between(2, 200),
      field("trials", &RecoveryOptions::trials, "matrices for each rank and share")
          .between(1, 1000),
      field(
          "spike", &RecoveryOptions::spike,
          "how much of each matrix is in one row and column: 0 spread evenly, 1 nothing elsewhere")
          .between(0, 1),
      field(
          "method", &RecoveryOptions::method,
          "svp: singular value projection; nuclear: the least nuclear norm, several times slower"),
      field("seed", &RecoveryOptions::seed, "seed of the random matrices").at_least(0),
  };
};

struct RecoveryMap {
  size_t n = 0;
  std::vector<size_t> ranks;    // rising
  std::vector<double> shares;   // rising
  std::vector<double> success;  // share of trials that succeeded, at rank * shares.size() + share
  std::vector<double> incoherence;  // by rank: the mean of its matrices (Candes and Tao 2010)
  double at(size_t rank, size_t share) const { return success[rank * shares.size() + share]; }
  // The share of entries that is as many numbers as the matrix has degrees of freedom.
  double bound(double rank) const {
    const auto size = static_cast<double>(n);
    return (2 * size * rank - rank * rank) / (size * size);
  }
};

// A trial succeeds if |M - A|_F < 0.001 |A|_F. The same map for a seed, whatever the number of
// threads. Error(kCancelled) if the context is.
RecoveryMap recovery_map(const RecoveryOptions& options, const Context& context,
                         const std::function<void(double share)>& progress = {});

// The map as an SVG picture.
std::string recovery_plot(const RecoveryMap& map, const RecoveryOptions& options);

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::RecoveryMethod> {
  static constexpr std::array<std::string_view, 2> names{"svp", "nuclear"};
};
