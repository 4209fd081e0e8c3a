// SPDX-License-Identifier: Apache-2.0
#include "models/lda/priors.h"

#include "models/lda/gamma.h"
#include "models/lda/test_corpora.h"

namespace kith::lda {
namespace {

using namespace kith::lda::test;

CountBins bins_of(const std::vector<uint32_t>& counts) {
  CountBins out;
  for (const uint32_t n : counts) {
    for (uint32_t j = 0; j < n; ++j) out.step(j);
  }
  return out;
}

// Below 128 exactly; above it the middle of a range stands for it, and 1 / (a + j) is nearly
// straight there.
TEST(LdaPriors, SumsOverBinsAreSumsOfDigammas) {
  for (const double a : {1e-3, 0.05, 0.7, 20.0}) {
    const std::vector<uint32_t> few{0, 1, 1, 5, 128}, many{300, 1000, 77777, 5000000};
    double truth = 0;
    for (const uint32_t n : few) truth += digamma(n + a) - digamma(a);
    EXPECT_NEAR(bins_of(few).sum_of_digammas(a), truth, 1e-11 * truth) << a;
    truth = 0;
    for (const uint32_t n : many) truth += digamma(n + a) - digamma(a);
    EXPECT_NEAR(bins_of(many).sum_of_digammas(a), truth, 3e-4 * truth) << a;
  }
}

// From the true topics of the words, the priors are those that topics and words were drawn from. A
// Dirichlet of 4000 mixtures, seen through 60 draws each, is known to some hundredths.
TEST(LdaPriors, AreThoseOfTheGenerator) {
  Generated truth{
      .alpha = {0.1, 0.3, 0.8, 0.05}, .beta = 0.2, .words = 500, .documents = 4000, .length = 60};
  const Documents documents = truth.draw();
  PriorCounts counts(4);
  std::vector<std::vector<uint32_t>> by_word(500, std::vector<uint32_t>(4, 0));
  std::vector<uint64_t> totals(4, 0);
  for (size_t d = 0; d < documents.size(); ++d) {
    std::vector<uint32_t> here(4, 0);
    for (size_t i = 0; i < documents[d].size(); ++i) {
      const uint32_t k = truth.assigned[d][i];
      counts.by_topic[k].step(here[k]++);
      counts.lengths.step(static_cast<uint32_t>(i));
      counts.words.step(by_word[documents[d][i]][k]++);
      ++totals[k];
    }
  }
  Priors priors{{1, 1, 1, 1}, 1};
  for (int i = 0; i < 20; ++i) priors = learn_priors(priors, {true, true}, counts, totals, 500);
  for (size_t k = 0; k < 4; ++k) EXPECT_NEAR(priors.alpha[k], truth.alpha[k], 0.1 * truth.alpha[k]);
  EXPECT_NEAR(priors.beta, 0.2, 0.02);
  // The likelihood is at its top: a step to either side of any prior is down.
  const auto likelihood = [&](const Priors& p) {
    double out = 0;
    for (size_t d = 0; d < documents.size(); ++d) {
      std::vector<double> here(4, 0.0);
      for (const uint32_t k : truth.assigned[d]) ++here[k];
      for (size_t k = 0; k < 4; ++k) out += log_rising(p.alpha[k], here[k]);
      out -= log_rising(p.alpha_sum(), static_cast<double>(documents[d].size()));
    }
    for (const auto& row : by_word) {
      for (const uint32_t n : row) out += log_rising(p.beta, n);
    }
    for (const uint64_t n : totals) out -= log_rising(500 * p.beta, static_cast<double>(n));
    return out;
  };
  const double top = likelihood(priors);
  for (size_t k = 0; k < 5; ++k) {
    for (const double factor : {0.98, 1.02}) {
      Priors moved = priors;
      (k < 4 ? moved.alpha[k] : moved.beta) *= factor;
      EXPECT_LT(likelihood(moved), top) << k << " " << factor;
    }
  }
  // One that is given stays.
  const Priors given = learn_priors({{1, 1, 1, 1}, 0.3}, {false, false}, counts, totals, 500);
  EXPECT_EQ(given.alpha, (std::vector<double>{1, 1, 1, 1}));
  EXPECT_EQ(given.beta, 0.3);
}

}  // namespace
}  // namespace kith::lda
