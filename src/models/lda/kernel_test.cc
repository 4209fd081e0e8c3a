// SPDX-License-Identifier: Apache-2.0
#include "models/lda/kernel.h"

#include "kernels/test_targets.h"
#include "models/lda/gamma.h"
#include "models/lda/test_corpora.h"

namespace kith::lda {
namespace {

using namespace kith::lda::test;

class LdaKernel : public EveryTarget {};

TEST_P(LdaKernel, ExpDigammaIsRight) {
  for (const size_t size : {1, 15, 16, 17, 50}) {
    Matrix x(1, size), out(1, size), scale(1, size);
    for (size_t k = 0; k < size; ++k) {
      x.row(0)[k] = static_cast<float>(0.02 * std::pow(1.4, static_cast<double>(k)));
      scale.row(0)[k] = 0.5f + static_cast<float>(k);
    }
    exp_digamma(x.view().row(0), out.view().row(0), x.stride());
    for (size_t k = 0; k < size; ++k) {
      const double truth = std::exp(digamma(x.row(0)[k]));
      EXPECT_NEAR(out.row(0)[k], truth, 1e-5 * truth) << x.row(0)[k];
    }
    for (size_t k = size; k < x.stride(); ++k) EXPECT_EQ(out.view().row(0)[k], 0) << "padding";
    Matrix scaled(1, size);
    exp_digamma_scaled(x.view().row(0), scale.view().row(0), scaled.view().row(0), x.stride());
    for (size_t k = 0; k < size; ++k) {
      EXPECT_FLOAT_EQ(scaled.row(0)[k], out.row(0)[k] * scale.row(0)[k]);
    }
  }
}

// The document has one word, whose weights do not change but for itself.
TEST_P(LdaKernel, TopicsAreDrawnByTheirWeights) {
  for (const size_t topics : {1, 2, 15, 16, 17, 50, 100}) {
    GibbsCounts c;
    c.words = Matrix(1, topics);
    c.rows = Matrix(4, topics);
    c.here.assign(topics, 0);
    c.beta = 0.5f;
    c.all_beta = 0.5;
    std::vector<double> truth(topics);
    for (size_t k = 0; k < topics; ++k) {
      c.words.row(0)[k] = static_cast<float>(k % 4);
      c.totals.push_back(k % 4 + 3 * (k % 3));
      c.rows.row(GibbsCounts::kPrior)[k] = 0.1f + 0.05f * static_cast<float>(k % 7);
      truth[k] = c.rows.row(GibbsCounts::kPrior)[k] * (c.words.row(0)[k] + 0.5) /
                 (static_cast<double>(c.totals[k]) + 0.5);
      c.rows.row(GibbsCounts::kInverse)[k] =
          static_cast<float>(1 / (static_cast<double>(c.totals[k]) + 0.5));
    }
    uint16_t topic = 0;  // the token is there, too
    ++c.words.row(0)[0];
    ++c.totals[0];
    std::vector<double> seen(topics, 0.0);
    const uint32_t word = 0;
    for (uint64_t i = 0; i < 40000; ++i) {
      Rng rng(2, i);
      gibbs_document({&word, 1}, &topic, c, rng);
      ASSERT_LT(topic, topics);
      ++seen[topic];
    }
    if (topics > 1) {
      EXPECT_LT(chi_square(seen, truth), far(topics)) << topics;
    }
    for (const uint32_t n : c.here) EXPECT_EQ(n, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, LdaKernel,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

}  // namespace
}  // namespace kith::lda
