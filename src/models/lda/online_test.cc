// SPDX-License-Identifier: Apache-2.0
#include "models/lda/online.h"

#include "models/lda/gamma.h"
#include "models/lda/test_corpora.h"

namespace kith::lda {
namespace {

using namespace kith::lda::test;

struct Fixture {
  explicit Fixture(int threads = 1)
      : context(threads),
        documents(counts_of(with_empty(truth.draw()), 60)),
        lambda(60, 4),
        online(documents, lambda, priors, context) {
    online.start(3);
    all.resize(documents.rows());
    std::iota(all.begin(), all.end(), 0u);
  }
  static Documents with_empty(Documents d) {
    d.insert(d.begin() + 5, std::vector<uint32_t>{});
    return d;
  }
  Generated truth{.alpha = {0.2, 0.2, 0.2, 0.2}, .words = 60, .documents = 100, .length = 50};
  Context context;
  Sparse documents;
  Matrix lambda;
  Priors priors{{0.3, 0.3, 0.3, 0.3}, 0.1};
  Online online;
  std::vector<uint32_t> all;
};

// Whole steps on all documents are coordinate ascent.
TEST(LdaOnline, TheBoundRisesWithWholeSteps) {
  Fixture f;
  double before = f.online.bound();
  const double first = before;
  for (int step = 0; step < 40; ++step) {
    f.online.learn(f.all, 1, false);
    const double now = f.online.bound();
    // What is left of gamma's way when its sweeps stop, and floats.
    EXPECT_GT(now, before - 1e-5 * std::abs(before)) << step;
    before = now;
  }
  EXPECT_GT(before, first + 0.1 * std::abs(first));
}

// The step of the paper, in double precision and word by word.
TEST(LdaOnline, AStepIsThatOfThePaper) {
  Fixture f;
  for (int step = 0; step < 20; ++step) f.online.learn(f.all, 1, false);  // topics are apart
  const Matrix before = f.lambda.copy();
  const std::vector<uint32_t> batch{3, 5, 17, 40};  // 5 is empty
  const double rho = 0.3;
  f.online.learn(batch, rho, false);
  std::vector<double> sums(4, 0.0);
  for (size_t w = 0; w < 60; ++w) {
    for (size_t k = 0; k < 4; ++k) sums[k] += before.row(w)[k];
  }
  std::vector<std::vector<double>> target(60, std::vector<double>(4, 0.0));
  for (const uint32_t d : batch) {
    const Sparse::Row row = f.documents.row(d);
    double tokens = 0;
    for (const float n : row.values) tokens += n;
    std::vector<double> gamma(4, 0.3 + tokens / 4);
    std::vector<std::vector<double>> phi(row.size(), std::vector<double>(4));
    for (int sweep = 0; sweep < 1000; ++sweep) {
      std::vector<double> next(4, 0.3);
      for (size_t i = 0; i < row.size(); ++i) {
        double sum = 0;
        for (size_t k = 0; k < 4; ++k) {
          phi[i][k] = std::exp(digamma(gamma[k]) + digamma(before.row(row.columns[i])[k]) -
                               digamma(sums[k]));
          sum += phi[i][k];
        }
        for (size_t k = 0; k < 4; ++k) {
          phi[i][k] /= sum;
          next[k] += row.values[i] * phi[i][k];
        }
      }
      gamma = next;
    }
    for (size_t i = 0; i < row.size(); ++i) {
      for (size_t k = 0; k < 4; ++k) target[row.columns[i]][k] += row.values[i] * phi[i][k];
    }
  }
  for (size_t w = 0; w < 60; ++w) {
    for (size_t k = 0; k < 4; ++k) {
      // 100 of the 101 documents have words, and three of the batch.
      const double truth = (1 - rho) * before.row(w)[k] + rho * (0.1 + 100.0 / 3 * target[w][k]);
      EXPECT_NEAR(f.lambda.row(w)[k], truth, 0.05 + 2e-3 * truth) << w << " " << k;
    }
  }
}

TEST(LdaOnline, AlphaGoesToThatOfTheGenerator) {
  Generated truth{.alpha = {0.2, 0.6, 1.5}, .words = 300, .documents = 1500, .length = 150};
  const Sparse documents = counts_of(truth.draw(), 300);
  Matrix lambda(300, 3);
  // The true topics, known well: what alpha is does not depend on how they were found.
  for (size_t w = 0; w < 300; ++w) {
    for (size_t k = 0; k < 3; ++k) {
      lambda.row(w)[k] = 0.01f + 1e5f * static_cast<float>(truth.topics[k][w]);
    }
  }
  Priors priors{{1, 1, 1}, 0.01};
  const Context context(1);
  Online online(documents, lambda, priors, context);
  std::vector<uint32_t> all(1500);
  std::iota(all.begin(), all.end(), 0u);
  for (int step = 0; step < 10; ++step) online.learn(all, 1, true);
  // A mixture of 150 words is known less well than the bound believes: a quarter.
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(priors.alpha[k], truth.alpha[k], 0.25 * truth.alpha[k]) << k;
  }
}

TEST(LdaOnline, RatesFallAsSettingsSay) {
  EXPECT_DOUBLE_EQ((OnlineRates{0.5, 16}.at(0)), 0.25);
  EXPECT_DOUBLE_EQ((OnlineRates{0.5, 16}.at(9)), 0.2);
  EXPECT_DOUBLE_EQ((OnlineRates{0, 1}.at(100)), 1);
}

TEST(LdaOnline, ACancelledStepChangesNothing) {
  Fixture f;
  const Matrix before = f.lambda.copy();
  f.context.cancel();
  EXPECT_THROW(f.online.learn(f.all, 1, true), Error);
  EXPECT_TRUE(same_bits(before, f.lambda));
  EXPECT_EQ(f.priors.alpha[0], 0.3);
}

}  // namespace
}  // namespace kith::lda
