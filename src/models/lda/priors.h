// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Dirichlet priors that make counts most likely (Minka 2000, "Estimating a Dirichlet
// distribution", equation 55): fixed-point steps of
//
//   alpha_k <- alpha_k sum_d [psi(c_dk + alpha_k) - psi(alpha_k)]
//                    / sum_d [psi(c_d + A) - psi(A)],   A = sum alpha
//
// and of the same for a symmetric beta. psi(n + a) - psi(a) = sum over j < n of 1 / (a + j), so all
// that a step needs is, for each j, how many counts are above j.

#include <cstdint>
#include <span>
#include <vector>

namespace kith::lda {

struct Priors {
  std::vector<double> alpha;
  double beta = 0;
  double alpha_sum() const;
};

// How many counts are above j: exact below 128, then by ranges of j, 16 for each doubling, within
// which 1 / (a + j) hardly changes.
class CountBins {
 public:
  CountBins() : above_(kBins, 0) {}
  // One more count is above j: to be called for j = 0, 1, ... n - 1 for a count of n.
  void step(uint32_t j) { ++above_[bin(j)]; }
  void add(const CountBins& other);
  // The sum over counts n of psi(n + a) - psi(a).
  double sum_of_digammas(double a) const;
  static constexpr size_t kBins = 128 + 25 * 16;

 private:
  static size_t bin(uint32_t j) {
    if (j < 128) return j;
    const int top = 31 - __builtin_clz(j);
    return 128 + static_cast<size_t>(top - 7) * 16 + ((j >> (top - 4)) & 15);
  }
  std::vector<uint32_t> above_;
};

// What the steps need of a state: of each topic its counts in documents, those of lengths of
// documents, and of words in topics. Of several workers, to be added up.
struct PriorCounts {
  explicit PriorCounts(size_t topics) : by_topic(topics) {}
  void add(const PriorCounts& other);
  std::vector<CountBins> by_topic;
  CountBins lengths, words;
};

// Steps from `from`; a prior that is not to be learned stays. `totals`: c_k. `words`: V.
struct WhichPriors {
  bool alpha, beta;
};
Priors learn_priors(const Priors& from, WhichPriors which, const PriorCounts& counts,
                    std::span<const uint64_t> totals, uint64_t words);

}  // namespace kith::lda
