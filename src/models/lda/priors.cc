// SPDX-License-Identifier: Apache-2.0
#include "models/lda/priors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/lda/gamma.h"

namespace kith::lda {
namespace {

constexpr int kSteps = 50;         // at most; a chain takes them again and again
constexpr double kSettled = 1e-5;  // relative change of every number
constexpr double kLeast = 1e-7, kMost = 1e6;

double held(double x) { return std::clamp(x, kLeast, kMost); }

std::vector<double> learn_alpha(std::vector<double> alpha, const PriorCounts& counts) {
  for (int s = 0; s < kSteps; ++s) {
    const double sum = std::accumulate(alpha.begin(), alpha.end(), 0.0);
    const double lengths = counts.lengths.sum_of_digammas(sum);
    double moved = 0;
    for (size_t k = 0; k < alpha.size(); ++k) {
      const double next = held(alpha[k] * counts.by_topic[k].sum_of_digammas(alpha[k]) / lengths);
      moved = std::max(moved, std::abs(next - alpha[k]) / alpha[k]);
      alpha[k] = next;
    }
    if (moved < kSettled) break;
  }
  return alpha;
}

double learn_beta(double beta, const PriorCounts& counts, std::span<const uint64_t> totals,
                  uint64_t words) {
  const auto size = static_cast<double>(words);
  for (int s = 0; s < kSteps; ++s) {
    double topics = 0;
    for (const uint64_t n : totals) {
      topics += digamma(static_cast<double>(n) + size * beta) - digamma(size * beta);
    }
    const double next = held(beta * counts.words.sum_of_digammas(beta) / (size * topics));
    const double moved = std::abs(next - beta) / beta;
    beta = next;
    if (moved < kSettled) break;
  }
  return beta;
}

}  // namespace

double Priors::alpha_sum() const { return std::accumulate(alpha.begin(), alpha.end(), 0.0); }

void CountBins::add(const CountBins& other) {
  for (size_t b = 0; b < kBins; ++b) above_[b] += other.above_[b];
}

double CountBins::sum_of_digammas(double a) const {
  double out = 0;
  for (size_t j = 0; j < 128 && above_[j] > 0; ++j) out += above_[j] / (a + static_cast<double>(j));
  for (size_t b = 128; b < kBins; ++b) {
    if (above_[b] == 0) continue;
    const double width = std::ldexp(1.0, static_cast<int>((b - 128) / 16) + 3);
    const double first = static_cast<double>(16 + (b - 128) % 16) * width;
    out += above_[b] / (a + first + (width - 1) / 2);
  }
  return out;
}

void PriorCounts::add(const PriorCounts& other) {
  for (size_t k = 0; k < by_topic.size(); ++k) by_topic[k].add(other.by_topic[k]);
  lengths.add(other.lengths);
  words.add(other.words);
}

Priors learn_priors(const Priors& from, WhichPriors which, const PriorCounts& counts,
                    std::span<const uint64_t> totals, uint64_t words) {
  Priors out = from;
  if (which.alpha && from.alpha.size() > 1) out.alpha = learn_alpha(from.alpha, counts);
  if (which.beta && words > 1) out.beta = learn_beta(from.beta, counts, totals, words);
  return out;
}

}  // namespace kith::lda
