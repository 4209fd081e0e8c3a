// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "models/doc2vec/model.h"
#include "models/doc2vec/test_documents.h"
#include "models/test_model.h"

namespace kith::doc2vec {
namespace {

using test::same_bits;

// Every second document has words of one topic, the others of another; some words are of both.
std::string two_topics(int documents, int words = 15, uint64_t seed = 1) {
  std::string out;
  Rng rng(seed, 0);
  for (int d = 0; d < documents; ++d) {
    for (int k = 0; k < words; ++k) {
      out += rng.below(3) == 0 ? fmt::format("the{} ", rng.below(3))
                               : fmt::format("{}{} ", d % 2 == 0 ? 'a' : 'b', rng.below(10));
    }
    out += "\n";
  }
  return out;
}

Config small(Method method, bool words = false) {
  Config out;
  out.method = method;
  out.words = words;
  out.dim = 16;
  out.sample = 0;
  out.epochs = 20;
  out.lr = 0.05;  // so few words are moved by every block of a round
  return out;
}
const std::vector<Config> kKinds{small(Method::kDbow), small(Method::kDbow, true),
                                 small(Method::kDm)};
std::string shown(const Config& c) {
  return c.method == Method::kDm ? "dm" : c.words ? "dbow with words" : "dbow";
}

Doc2Vec trained(const DocumentSet& data, const Config& config, int threads = 1,
                bool deterministic = false) {
  Doc2Vec m;
  m.config() = config;
  Job job(threads);
  job.deterministic = deterministic;
  m.train(data, job);
  EXPECT_TRUE(m.finished());
  return m;
}

std::span<const float> document(const Doc2Vec& m, size_t d) {
  return m.input().row(m.input().rows() - m.documents().size() + d);
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    ab += double{a[k]} * b[k];
    aa += double{a[k]} * a[k];
    bb += double{b[k]} * b[k];
  }
  return ab / std::sqrt(aa * bb);
}

std::vector<float> inferred(const Doc2Vec& m, const std::vector<std::string>& words) {
  const auto inferrer = m.inferrer();
  std::vector<uint32_t> numbers;
  for (const std::string& w : words) numbers.push_back(m.text_words().find(w).value());
  std::vector<float> out(inferrer->dim());
  EXPECT_EQ(inferrer->infer(numbers, out), !words.empty());
  return out;
}

// The mean cosine of documents of one topic, less that of documents of two.
double gap(const Doc2Vec& m) {
  const size_t n = std::min<size_t>(40, m.documents().size());
  double within = 0, across = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      (i % 2 == j % 2 ? within : across) += cosine(document(m, i), document(m, j));
    }
  }
  const double pairs = static_cast<double>(n) * (static_cast<double>(n) - 1) / 4;
  return (within - across) / pairs;
}

TEST(Doc2Vec, DocumentsOfOneTopicEndUpTogether) {
  const DocumentSet data = documents_of(two_topics(400));
  for (const Config& config : kKinds) {
    for (const bool deterministic : {false, true}) {
      const Doc2Vec m = trained(data, config, deterministic ? 2 : 1, deterministic);
      EXPECT_GT(gap(m), 0.4) << shown(config) << deterministic;  // by chance: 0
    }
  }
}

TEST(Doc2Vec, ANewTextLiesAmongThoseOfItsTopic) {
  const DocumentSet data = documents_of(two_topics(400));
  for (const Config& config : kKinds) {
    const Doc2Vec m = trained(data, config);
    const auto a = inferred(m, {"a1", "the1", "a5", "a3", "a2", "a9", "the0", "a4"});
    double own = 0, other = 0;
    for (size_t d = 0; d < 100; ++d) (d % 2 == 0 ? own : other) += cosine(a, document(m, d)) / 50;
    EXPECT_GT(own, other + 0.4) << shown(config);
  }
}

TEST(Doc2Vec, TheSameTextHasTheSameVector) {
  const Doc2Vec m = trained(documents_of(two_topics(100)), small(Method::kDm));
  const auto once = inferred(m, {"a1", "a2", "a3"});
  const auto inferrer = m.inferrer();
  std::vector<float> again(inferrer->dim()), other(inferrer->dim());
  const uint32_t one[]{*m.names().find("b1")};
  inferrer->infer(one, other);  // what was asked before leaves no trace
  const uint32_t words[]{*m.names().find("a1"), *m.names().find("a2"), *m.names().find("a3")};
  inferrer->infer(words, again);
  EXPECT_EQ(once, again);
  EXPECT_EQ(once, inferred(test::through_file(m, "doc2vec"), {"a1", "a2", "a3"}));
  EXPECT_NE(once, inferred(m, {"a1", "a2", "a4"}));
  EXPECT_EQ(inferred(m, {}), std::vector<float>(16, 0.0f));
}

TEST(Doc2Vec, MoreEpochsOfInferenceFitTheTextBetter) {
  Config config = small(Method::kDbow);
  const Doc2Vec m = trained(documents_of(two_topics(400)), config);
  const auto fit = [&](int epochs) {
    Doc2Vec copy = test::through_file(m, "doc2vec");
    copy.config().infer_epochs = epochs;
    const auto v = inferred(copy, {"a1", "a2", "a3", "a5"});
    double out = 0;
    for (const char* w : {"a1", "a2", "a3", "a5"}) {
      const auto u = m.output().row(*m.names().find(w));
      for (size_t k = 0; k < v.size(); ++k) out += v[k] * u[k];
    }
    return out;
  };
  EXPECT_GT(fit(30), fit(1) + 0.5);
}

bool same_model(const Doc2Vec& a, const Doc2Vec& b) {
  return same_bits(a.input(), b.input()) && same_bits(a.output(), b.output()) &&
         a.state().held_out == b.state().held_out && a.state().loss == b.state().loss;
}

TEST(Doc2Vec, TheSameBits) {
  const DocumentSet data = documents_of(two_topics(200), 50);
  ASSERT_FALSE(data.held_out().empty());
  for (Config config : kKinds) {
    config.epochs = 3;
    EXPECT_TRUE(same_model(trained(data, config), trained(data, config))) << shown(config);
    const Doc2Vec one = trained(data, config, 1, true);
    for (const int threads : {2, 8}) {
      EXPECT_TRUE(same_model(one, trained(data, config, threads, true))) << shown(config);
    }
    test::expect_same_file(one, "doc2vec");
  }
}

// Stops at every safe point in turn, goes on from the file, and must end at the same bits.
TEST(Doc2Vec, ResumedRunEqualsUninterruptedOne) {
  const DocumentSet data = documents_of(two_topics(300), 50);
  for (Config config : kKinds) {
    config.epochs = 2;
    config.early_stop = 5;
    for (const bool deterministic : {false, true}) {
      const Doc2Vec whole = trained(data, config, 1, deterministic);
      for (int stop = 1; stop <= 3; ++stop) {
        const Doc2Vec second = test::interrupted<Doc2Vec>(config, data, "doc2vec", stop,
                                                          deterministic, deterministic ? 3 : 1);
        EXPECT_TRUE(same_model(whole, second)) << shown(config) << stop << deterministic;
      }
    }
  }
}

TEST(Doc2Vec, HeldOutWordsAreFoundFromTheirDocuments) {
  const DocumentSet data = documents_of(two_topics(400), 300);
  for (const Config& config : kKinds) {
    const Doc2Vec m = trained(data, config);
    const auto& losses = m.state().held_out;
    ASSERT_EQ(losses.size(), 21u);
    EXPECT_NEAR(losses.front(), 6 * std::log(2.0), 0.02) << "at random: log 2 for each of 1 + 5";
    EXPECT_LT(losses.back(), losses.front() - 0.5) << shown(config);
  }
}

TEST(Doc2Vec, ResumingWithOtherDocumentsIsRefused) {
  Doc2Vec m;
  m.config() = small(Method::kDbow);
  Job job;
  job.on_progress = [&](const Progress&) { job.cancel(); };
  m.train(documents_of(two_topics(100)), job);
  Doc2Vec second = test::through_file(m, "doc2vec", true);
  Job rest;
  EXPECT_THROW(second.train(documents_of(two_topics(90)), rest), Error);
}

TEST(Doc2Vec, WordsHaveVectorsWhereTheyAreLearned) {
  const DocumentSet data = documents_of(two_topics(50));
  for (const Config& config : kKinds) {
    const Doc2Vec m = trained(data, config);
    const auto groups = m.vectors(Side::kInput);
    ASSERT_EQ(groups.size(), config.learns_words() ? 2u : 1u) << shown(config);
    EXPECT_EQ(groups[0].column, "document");
    EXPECT_EQ(groups[0].names->size(), 50u);
    EXPECT_EQ((*groups[0].names)[16], "17");
    EXPECT_THROW(m.vectors(Side::kOutput), Error);
  }
}

// Empty documents keep their numbers; one of one word is learned, too.
TEST(Doc2Vec, EmptyDocumentsAndSingleWords) {
  const DocumentSet data = documents_of("a b\n\nb\n   \na\n");
  const Doc2Vec m = trained(data, small(Method::kDm));
  EXPECT_EQ(m.documents().size(), 5u);
  for (size_t d = 0; d < 5; ++d) {
    const bool empty = d == 1 || d == 3;  // as embed says of a text without a word
    EXPECT_EQ(std::ranges::all_of(document(m, d), [](float x) { return x == 0; }), empty) << d;
    for (const float x : document(m, d)) EXPECT_TRUE(std::isfinite(x));
  }
}

}  // namespace
}  // namespace kith::doc2vec
