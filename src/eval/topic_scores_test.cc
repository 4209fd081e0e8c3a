// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "eval/coherence.h"
#include "eval/completion.h"
#include "eval/topic_mixtures.h"

namespace kith::eval {
namespace {

Sparse sparse(uint32_t columns, const std::vector<std::vector<std::pair<uint32_t, float>>>& rows) {
  Sparse out;
  out.columns = columns;
  for (const auto& row : rows) {
    for (const auto& [c, v] : row) {
      out.column.push_back(c);
      out.value.push_back(v);
    }
    out.offsets.push_back(out.column.size());
  }
  return out;
}

Matrix random_topics(size_t words, size_t topics) {
  Matrix out(words, topics);
  for (size_t k = 0; k < topics; ++k) {
    double sum = 0;
    for (size_t w = 0; w < words; ++w) {
      Rng rng(w, k);
      sum += out.row(w)[k] = 0.01f + rng.uniform();
    }
    for (size_t w = 0; w < words; ++w) out.row(w)[k] = static_cast<float>(out.row(w)[k] / sum);
  }
  return out;
}

// The sweeps as they are written in the header, in double.
std::vector<double> reference(const Matrix& phi, const std::vector<double>& alpha,
                              Sparse::Row document, int sweeps) {
  const size_t topics = phi.cols();
  std::vector<double> theta(topics, 1.0 / static_cast<double>(topics));
  for (int s = 0; s < sweeps; ++s) {
    std::vector<double> gamma = alpha;
    for (size_t i = 0; i < document.size(); ++i) {
      const auto row = phi.row(document.columns[i]);
      double sum = 0;
      for (size_t k = 0; k < topics; ++k) sum += theta[k] * row[k];
      for (size_t k = 0; k < topics; ++k) {
        gamma[k] += document.values[i] * theta[k] * row[k] / sum;
      }
    }
    double all = 0;
    for (const double g : gamma) all += g;
    for (size_t k = 0; k < topics; ++k) theta[k] = gamma[k] / all;
  }
  return theta;
}

TEST(TopicMixtures, AreTheFixedPointSweeps) {
  for (const size_t topics : {1, 2, 15, 16, 17, 50}) {
    const Matrix phi = random_topics(40, topics);
    std::vector<double> alpha(topics);
    for (size_t k = 0; k < topics; ++k) alpha[k] = 0.05 * static_cast<double>(k % 3);
    const Sparse documents =
        sparse(40, {{{0, 3}, {7, 1}, {39, 2}}, {}, {{5, 1}}, {{1, 1}, {2, 1}, {3, 9}}});
    Matrix out(documents.rows(), topics);
    const Context context(2);
    find_mixtures({phi, alpha}, documents, {.most = 100}, context, out);
    for (const uint32_t d : {0, 2, 3}) {
      const auto truth = reference(phi, alpha, documents.row(d), 100);
      for (size_t k = 0; k < topics; ++k) {
        EXPECT_NEAR(out.row(d)[k], truth[k], 2e-5) << topics << " " << d << " " << k;
      }
    }
    // Nothing is known of a document without words but what mixtures are like.
    double sum = 0, all = 0;
    for (size_t k = 0; k < topics; ++k) {
      sum += out.row(1)[k];
      all += alpha[k];
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_NEAR(out.row(1)[topics - 1], all > 0 ? alpha[topics - 1] / all : 1, 1e-6);
  }
}

TEST(TopicMixtures, StopWhenNothingMoves) {
  Matrix phi(4, 2);  // topics without a word in common: settled after a sweep
  phi.row(0)[0] = phi.row(1)[0] = phi.row(2)[1] = phi.row(3)[1] = 0.5f;
  const std::vector<double> alpha{0, 0};
  MixtureFinder finder({phi, alpha});
  const Sparse documents = sparse(4, {{{0, 3}, {2, 1}}});
  std::vector<float> theta(2);
  EXPECT_EQ(finder.find(documents.row(0), {.most = 100, .tolerance = 1e-4f}, theta), 2);
  EXPECT_FLOAT_EQ(theta[0], 0.75f);
  EXPECT_EQ(finder.find(documents.row(0), {.most = 7}, theta), 7);
}

TEST(Completion, HalvesByPlaceInTheOrderOfNumbers) {
  // Words 0 0 0 2 2 3, word 1 never seen and left out first: places 0 2 4 say, 1 3 5 are foretold.
  const Sparse d = sparse(4, {{{0, 3}, {1, 5}, {2, 2}, {3, 1}}});
  const std::vector<uint64_t> seen{1, 0, 1, 1};
  Halves h;
  halve(d.row(0), seen, h);
  EXPECT_EQ(h.unseen, 5u);
  EXPECT_EQ(h.words, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(h.counts, (std::vector<float>{2, 1}));
  EXPECT_EQ(h.foretold, (std::vector<uint32_t>{0, 2, 3}));
  EXPECT_EQ(h.foretold_counts, (std::vector<float>{1, 1, 1}));
}

TEST(Completion, UniformTopicsAreAsPerplexedAsThereAreWords) {
  constexpr size_t kWords = 37;
  Matrix phi(kWords, 5);
  for (size_t w = 0; w < kWords; ++w) std::ranges::fill(phi.row(w), 1.0f / kWords);
  const std::vector<double> alpha(5, 0.1);
  const std::vector<uint64_t> seen(kWords, 2);
  const Sparse documents = sparse(kWords, {{{0, 3}, {9, 4}, {36, 1}}, {{2, 1}}, {{5, 2}}});
  const Completion c = complete({phi, alpha}, seen, documents, Context(2));
  EXPECT_EQ(c.words, 5u);  // 4 of 8, none of 1, 1 of 2
  EXPECT_EQ(c.documents, 2u);
  EXPECT_NEAR(c.perplexity(), kWords, 1e-3);
  EXPECT_NEAR(c.unigram_perplexity(), kWords, 1e-9);
}

TEST(Completion, KnownByHand) {
  // One topic: p(w) is phi whatever theta, so the perplexity is that of the foretold words alone.
  Matrix phi(2, 1);
  phi.row(0)[0] = 0.75f;
  phi.row(1)[0] = 0.25f;
  const std::vector<double> alpha{0};
  const Sparse documents = sparse(2, {{{0, 2}, {1, 2}}});  // 0 0 1 1: foretold are 0 and 1
  const std::vector<uint64_t> seen{9, 1};
  const Completion c = complete({phi, alpha}, seen, documents, Context(1));
  EXPECT_NEAR(c.perplexity(), std::exp(-(std::log(0.75) + std::log(0.25)) / 2), 1e-6);
  EXPECT_NEAR(c.unigram_perplexity(), std::exp(-(std::log(0.9) + std::log(0.1)) / 2), 1e-12);
}

TEST(Completion, SameBitsForAnyThreads) {
  const Matrix phi = random_topics(60, 7);
  const std::vector<double> alpha(7, 0.3);
  const std::vector<uint64_t> seen(60, 1);
  std::vector<std::vector<std::pair<uint32_t, float>>> rows(200);
  for (uint32_t d = 0; d < 200; ++d) {
    for (uint32_t w = d % 5; w < 60; w += 1 + d % 11) rows[d].push_back({w, float(1 + w % 4)});
  }
  const Sparse documents = sparse(60, rows);
  const double one = complete({phi, alpha}, seen, documents, Context(1)).loss;
  EXPECT_EQ(one, complete({phi, alpha}, seen, documents, Context(2)).loss);
  EXPECT_EQ(one, complete({phi, alpha}, seen, documents, Context(8)).loss);
}

TEST(Coherence, OfPairsByHand) {
  // Of 8 documents words 0 and 1 always meet, 2 and 3 never, 4 and 5 are independent.
  std::vector<std::vector<std::pair<uint32_t, float>>> rows(8);
  for (uint32_t d = 0; d < 8; ++d) {
    if (d < 4) rows[d] = {{0, 2}, {1, 1}};
    rows[d].push_back({d < 4 ? 2u : 3u, 1});
    if (d % 2 == 0) rows[d].push_back({4, 1});
    if (d < 2 || d > 5) rows[d].push_back({5, 7});
  }
  const Sparse documents = sparse(7, rows);
  const std::vector<std::vector<uint32_t>> topics{{0, 1}, {2, 3}, {4, 5}, {0, 1, 2}, {6, 0}};
  const std::vector<double> c = coherence(topics, documents, Context(1));
  EXPECT_NEAR(c[0], 1, 1e-12);
  EXPECT_NEAR(c[1], -1, 1e-12);
  EXPECT_NEAR(c[2], 0, 1e-12);
  EXPECT_NEAR(c[3], 1, 1e-12);  // all three always meet
  EXPECT_EQ(c[4], 0);           // word 6 is nowhere
}

TEST(Coherence, TopWordsAndDiversity) {
  Matrix phi(5, 2);
  const float first[]{0.1f, 0.4f, 0.1f, 0.3f, 0.1f}, second[]{0.5f, 0.2f, 0.2f, 0.1f, 0};
  for (size_t w = 0; w < 5; ++w) {
    phi.row(w)[0] = first[w];
    phi.row(w)[1] = second[w];
  }
  const auto top = top_words(phi, 3);
  EXPECT_EQ(top[0], (std::vector<uint32_t>{1, 3, 0}));  // of equal ones the first
  EXPECT_EQ(top[1], (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_NEAR(diversity(top), 2.0 / 6, 1e-12);  // 3 and 2
}

}  // namespace
}  // namespace kith::eval
