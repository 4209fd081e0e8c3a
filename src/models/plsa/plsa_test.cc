// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/rng.h"
#include "models/nmf/model.h"
#include "models/plsa/model.h"
#include "models/test_model.h"

namespace kith::plsa {
namespace {

constexpr size_t kTopics = 3, kWords = 24;

// Each of three topics has eight words of its own, and a little of the others; documents are mostly
// of one topic.
Bags documents(uint32_t count, uint32_t length = 60) {
  Names words, names;
  for (size_t w = 0; w < kWords; ++w) words.add(fmt::format("w{}", w));
  Sparse counts;
  counts.columns = kWords;
  for (uint32_t d = 0; d < count; ++d) {
    names.add(fmt::format("d{}", d));
    Rng rng(7, d);
    std::vector<uint32_t> n(kWords, 0);
    for (uint32_t i = 0; i < length + d % 7; ++i) {
      const uint32_t topic = rng.below(4) > 0 ? d % kTopics : rng.below(kTopics);
      ++n[rng.below(8) + 8 * topic];
    }
    for (uint32_t w = 0; w < kWords; ++w) {
      if (n[w] == 0) continue;
      counts.column.push_back(w);
      counts.value.push_back(static_cast<float>(n[w]));
    }
    counts.offsets.push_back(counts.column.size());
  }
  return {std::move(words), std::move(names), std::move(counts)};
}

Config config(double beta = 0) {
  Config out;
  out.topics = kTopics;
  out.alpha = 0;
  out.beta = beta;
  out.temper = 1;
  out.early_stop = 0;
  out.epochs = 60;
  return out;
}

Plsa trained(const Config& config, const Bags& data, int threads = 1) {
  Plsa out;
  out.config() = config;
  Job job(threads);
  EXPECT_TRUE(out.train(data, job));
  return out;
}

// Columns, or rows, that sum to 1.
Matrix random_shares(size_t rows, size_t cols, uint64_t seed, bool columns) {
  Matrix out(rows, cols);
  std::vector<double> sums(columns ? cols : rows, 0.0);
  for (size_t r = 0; r < rows; ++r) {
    Rng rng(seed, r);
    for (size_t c = 0; c < cols; ++c) {
      sums[columns ? c : r] += out.row(r)[c] = 0.1f + rng.uniform();
    }
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < cols; ++c) {
      out.row(r)[c] = static_cast<float>(out.row(r)[c] / sums[columns ? c : r]);
    }
  }
  return out;
}

std::vector<double> column_sums(const Matrix& m, size_t cols) {
  std::vector<double> out(cols, 0.0);
  for (size_t r = 0; r < m.rows(); ++r) {
    for (size_t c = 0; c < cols; ++c) out[c] += m.row(r)[c];
  }
  return out;
}

TEST(Plsa, ProbabilitiesSumToOne) {
  const Bags data = documents(40);
  const Plsa m = trained(config(0.01), data);
  for (const double s : column_sums(m.word_topics(), kTopics)) EXPECT_NEAR(s, 1, 1e-5);
  for (size_t d = 0; d < 40; ++d) {
    const auto theta = m.mixtures().row(d);
    EXPECT_NEAR(std::accumulate(theta.begin(), theta.end(), 0.0), 1, 1e-5);
  }
  const auto sizes = m.topic_sizes();
  EXPECT_NEAR(std::accumulate(sizes.begin(), sizes.end(), 0.0), 1, 1e-5);
}

// The theorem of EM, of each half: the log-likelihood never falls; with pseudo-counts, that of the
// prior included.
TEST(Plsa, EveryStepRaisesTheLogLikelihood) {
  const Bags data = documents(60);
  for (const double beta : {0.0, 0.5}) {
    Plsa m;
    m.config() = config(beta);
    m.set_start(data, random_shares(kWords, kTopics, 1, true),
                random_shares(60, kTopics, 2, false));
    const auto objective = [&] {
      double out = m.log_likelihood(data);
      for (size_t w = 0; w < kWords && beta > 0; ++w) {
        for (const float p : m.word_topics().row(w)) out += beta * std::log(double{p});
      }
      return out;
    };
    double before = objective();
    const double first = before;
    for (int i = 0; i < 50; ++i) {
      m.step(data, Job());
      const double after = objective();
      // Of sums of about 60 floats a document: what rounding may take.
      EXPECT_GE(after, before - 1e-6 * std::abs(before)) << i;
      before = after;
    }
    EXPECT_GT(before, first + 100);
  }
}

TEST(Plsa, TopicsThatAreThereAreFound) {
  const Bags data = documents(300);
  const Plsa m = trained(config(0.01), data);
  std::vector<int> found(kTopics, 0);
  for (size_t k = 0; k < kTopics; ++k) {
    std::vector<double> share(kTopics, 0.0);  // of the words of each true topic
    for (size_t w = 0; w < kWords; ++w) share[w / 8] += m.word_topics().row(w)[k];
    const auto best = std::ranges::max_element(share);
    EXPECT_GT(*best, 0.9);  // plain EM fits some of the chance as well
    ++found[static_cast<size_t>(best - share.begin())];
  }
  EXPECT_EQ(found, std::vector<int>(kTopics, 1));
  for (const double c : m.topic_coherence()) EXPECT_GT(c, 0.05);
}

// --- Non-negative matrix factorisation with the Kullback-Leibler objective is the same thing ---

// p = N theta, q = phi: one update of the rows of each side by Lee and Seung is a step of EM.
TEST(Plsa, AStepIsOneOfMultiplicativeUpdates) {
  const Bags data = documents(30);
  Plsa m;
  m.config() = config();
  Matrix phi = random_shares(kWords, kTopics, 3, true);
  Matrix theta = random_shares(30, kTopics, 4, false);
  Matrix p(30, kTopics), q = phi.copy();
  for (uint32_t d = 0; d < 30; ++d) {
    const auto n = data.train().row(d).values;
    const double words = std::accumulate(n.begin(), n.end(), 0.0);
    for (size_t k = 0; k < kTopics; ++k) {
      p.row(d)[k] = static_cast<float>(words * theta.row(d)[k]);
    }
  }
  m.set_start(data, std::move(phi), std::move(theta));
  m.step(data, Job());

  nmf::Scratch scratch;
  const auto update = [&](const Matrix& others, const Sparse& counts, Matrix& own) {
    const nmf::Others o{.rows = others,
                        .dim = kTopics,
                        .own = 0,
                        .biases = false,
                        .mean = 0,
                        .zero = true,  // all cells count, those of words that are not there too
                        .method = nmf::Method::kMultiplicative,
                        .loss = Loss::kKl,
                        .gram = {},
                        .sums = column_sums(others, kTopics)};
    for (uint32_t r = 0; r < own.rows(); ++r) {
      nmf::update_row(o, {}, counts.row(r), 1, own.row(r), scratch);
    }
  };
  update(q, data.train(), p);
  update(p, transposed(data.train()), q);
  const std::vector<double> scale = column_sums(q, kTopics);
  for (size_t w = 0; w < kWords; ++w) {
    for (size_t k = 0; k < kTopics; ++k) {
      EXPECT_NEAR(m.word_topics().row(w)[k], q.row(w)[k] / scale[k], 1e-6);
    }
  }
  for (uint32_t d = 0; d < 30; ++d) {
    const auto row = p.row(d);
    const double words = std::accumulate(row.begin(), row.end(), 0.0);
    for (size_t k = 0; k < kTopics; ++k) {
      EXPECT_NEAR(m.mixtures().row(d)[k], row[k] / words, 1e-6);
    }
  }
}

nmf::Nmf factorised(const Bags& data, int epochs) {
  std::vector<Rating> ratings;
  for (uint32_t d = 0; d < data.train().rows(); ++d) {
    const Sparse::Row row = data.train().row(d);
    for (size_t i = 0; i < row.size(); ++i) ratings.push_back({d, row.columns[i], row.values[i]});
  }
  nmf::Nmf out;
  out.config().dim = kTopics;
  out.config().epochs = epochs;
  out.config().method = nmf::Method::kMultiplicative;
  out.config().loss = Loss::kKl;
  out.config().unrated = nmf::Unrated::kZero;
  out.config().tolerance = 0;
  out.config().early_stop = 0;
  Job job;
  EXPECT_TRUE(out.train(Ratings::of(data.names(), data.words(), std::move(ratings)), job));
  return out;
}

// The factors as probabilities, as in p(w | d) = sum over z of p(w | z) p(z | d).
void take(const nmf::Nmf& from, const Bags& data, Plsa& to) {
  const RatingFactors& f = from.factors();
  const std::vector<double> scale = column_sums(f.item, kTopics);
  Matrix phi(kWords, kTopics), theta(f.user.rows(), kTopics);
  for (size_t k = 0; k < kTopics; ++k) {
    for (size_t w = 0; w < kWords; ++w) {
      phi.row(w)[k] = static_cast<float>(f.item.row(w)[k] / scale[k]);
    }
    for (size_t d = 0; d < theta.rows(); ++d) {
      theta.row(d)[k] = static_cast<float>(f.user.row(d)[k] * scale[k]);
    }
  }
  for (size_t d = 0; d < theta.rows(); ++d) {
    const auto row = theta.row(d);
    const double all = std::accumulate(row.begin(), row.end(), 0.0);
    for (float& x : row) x = static_cast<float>(x / all);
  }
  to.set_start(data, std::move(phi), std::move(theta));
}

TEST(Plsa, HasTheFixedPointsOfFactorsByKullbackLeibler) {
  const Bags data = documents(30);
  const nmf::Nmf end = factorised(data, 3000), start = factorised(data, 1);
  Plsa there, own;
  there.config() = own.config() = config();
  take(end, data, there);
  // Each document has as many words as its factors say: p . sum of q = N.
  const double likelihood = there.log_likelihood(data);
  double by_factors = 0;
  for (uint32_t d = 0; d < 30; ++d) {
    const Sparse::Row row = data.train().row(d);
    const double words = std::accumulate(row.values.begin(), row.values.end(), 0.0);
    for (size_t i = 0; i < row.size(); ++i) {
      double y = 0;
      for (size_t k = 0; k < kTopics; ++k) {
        y += double{end.factors().user.row(d)[k]} * end.factors().item.row(row.columns[i])[k];
      }
      by_factors += row.values[i] * std::log(y / words);
    }
  }
  EXPECT_NEAR(likelihood, by_factors, 1e-6 * std::abs(likelihood));
  // A step of EM leaves the solution where it is.
  const Matrix before = there.word_topics().copy();
  there.step(data, Job());
  EXPECT_NEAR(there.log_likelihood(data), likelihood, 1e-6 * std::abs(likelihood));
  for (size_t w = 0; w < kWords; ++w) {
    for (size_t k = 0; k < kTopics; ++k) {
      EXPECT_NEAR(there.word_topics().row(w)[k], before.row(w)[k], 1e-5);
    }
  }
  // And EM from where the factors began ends where they end.
  take(start, data, own);
  for (int i = 0; i < 3000; ++i) own.step(data, Job());
  EXPECT_NEAR(own.log_likelihood(data), likelihood, 1e-6 * std::abs(likelihood));
  for (size_t w = 0; w < kWords; ++w) {
    for (size_t k = 0; k < kTopics; ++k) {
      EXPECT_NEAR(own.word_topics().row(w)[k], before.row(w)[k], 1e-4);
    }
  }
}

// --- What every model promises ---

TEST(Plsa, SameBitsForAnyThreadsAndWhenResumed) {
  const Bags data = documents(200);
  for (const double temper : {1.0, 0.9}) {
    Config c = config(0.01);
    c.temper = temper;
    const Plsa one = trained(c, data);
    for (const int threads : {2, 8}) {
      const Plsa more = trained(c, data, threads);
      EXPECT_TRUE(test::same_bits(one.word_topics(), more.word_topics()));
      EXPECT_TRUE(test::same_bits(one.mixtures(), more.mixtures()));
    }
    for (const int stop : {1, 2, 7}) {
      const Plsa again = test::interrupted<Plsa>(c, data, "plsa", stop, false, 2);
      EXPECT_TRUE(test::same_bits(one.word_topics(), again.word_topics())) << stop;
      EXPECT_TRUE(test::same_bits(one.mixtures(), again.mixtures())) << stop;
    }
  }
}

TEST(Plsa, ThroughAFile) {
  const Bags data = documents(50);
  const Plsa m = trained(config(0.01), data);
  test::expect_same_file(m, "plsa");
  const Plsa back = test::through_file(m, "plsa");
  EXPECT_TRUE(test::same_bits(m.word_topics(), back.word_topics()));
  EXPECT_TRUE(std::ranges::equal(m.topic_coherence(), back.topic_coherence()));
  EXPECT_EQ(back.topic_names()[2], "topic3");
  Matrix a(50, kTopics), b(50, kTopics);
  m.find_mixtures(data.train(), Context(1), a);
  back.find_mixtures(data.train(), Context(2), b);
  EXPECT_TRUE(test::same_bits(a, b));
}

// Both halves of a step, as trainer.cc writes them, in double.
TEST(Plsa, ATemperedStepIsThatOfTheEquations) {
  const Bags data = documents(20);
  Plsa m;
  m.config() = config(0.2);
  m.config().alpha = 0.3;
  m.config().temper = 0.7;
  const Matrix phi = random_shares(kWords, kTopics, 5, true);
  const Matrix theta = random_shares(20, kTopics, 6, false);
  m.set_start(data, phi.copy(), theta.copy());
  m.step(data, Job());
  const auto raised = [](float x) { return std::pow(double{x}, 0.7); };
  const Sparse& counts = data.train();
  for (uint32_t d = 0; d < 20; ++d) {
    std::vector<double> next(kTopics, 0.3);
    const Sparse::Row row = counts.row(d);
    for (size_t i = 0; i < row.size(); ++i) {
      double sum = 0;
      const auto p = phi.row(row.columns[i]);
      for (size_t k = 0; k < kTopics; ++k) sum += raised(p[k]) * raised(theta.row(d)[k]);
      for (size_t k = 0; k < kTopics; ++k) {
        next[k] += row.values[i] * raised(p[k]) * raised(theta.row(d)[k]) / sum;
      }
    }
    const double all = std::accumulate(next.begin(), next.end(), 0.0);
    for (size_t k = 0; k < kTopics; ++k) EXPECT_NEAR(m.mixtures().row(d)[k], next[k] / all, 1e-5);
  }
  std::vector<double> next(kWords * kTopics, 0.2), all(kTopics, 0.0);
  for (uint32_t d = 0; d < 20; ++d) {
    const Sparse::Row row = counts.row(d);
    for (size_t i = 0; i < row.size(); ++i) {
      double sum = 0;
      const auto p = phi.row(row.columns[i]), t = m.mixtures().row(d);
      for (size_t k = 0; k < kTopics; ++k) sum += raised(p[k]) * raised(t[k]);
      for (size_t k = 0; k < kTopics; ++k) {
        next[row.columns[i] * kTopics + k] += row.values[i] * raised(p[k]) * raised(t[k]) / sum;
      }
    }
  }
  for (size_t i = 0; i < next.size(); ++i) all[i % kTopics] += next[i];
  for (size_t i = 0; i < next.size(); ++i) {
    EXPECT_NEAR(m.word_topics().row(i / kTopics)[i % kTopics], next[i] / all[i % kTopics], 1e-5);
  }
}

TEST(Plsa, TemperHoldsTopicsBack) {
  const Bags data = documents(60, 12);
  Config c = config(0.01);
  c.tolerance = 0;
  const double plain = trained(c, data).log_likelihood(data);
  c.temper = 0.8;
  const double held = trained(c, data).log_likelihood(data);
  EXPECT_LT(held, plain - 1);
}

// Held-out documents say when to stop, and get their mixtures afterwards.
TEST(Plsa, HeldOutDocumentsAreFoldedIn) {
  Bags data = documents(200);
  data.hold_out(0.2);
  ASSERT_GT(data.held_out_documents(), 10u);
  Config c = config(0);
  c.early_stop = 3;
  c.epochs = 400;
  c.tolerance = 0;
  const Plsa m = trained(c, data);
  ASSERT_FALSE(m.state().held_out.empty());
  EXPECT_LT(m.state().held_out.size(), 300u);  // it stopped
  const double kept = *m.state().held_out_now();
  EXPECT_EQ(kept, *std::ranges::min_element(m.state().held_out));
  EXPECT_LT(kept, std::log(kWords));  // better than words at random
  for (uint32_t d = 0; d < 200; ++d) {
    const auto theta = m.mixtures().row(d);
    EXPECT_NEAR(std::accumulate(theta.begin(), theta.end(), 0.0), 1, 1e-5);
    if (data.held_out().row(d).size() == 0) continue;
    const auto best = std::ranges::max_element(theta);
    EXPECT_GT(*best, 0.4f);
  }
}

TEST(Plsa, VectorsOfDocumentsTopicsAndWords) {
  const Bags data = documents(200);
  const Plsa m = trained(config(0.01), data);
  const auto groups = m.vectors(Side::kInput);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].column, "document");
  EXPECT_EQ(groups[1].column, "topic");
  EXPECT_EQ(groups[2].column, "word");
  for (const VectorGroup& g : groups) {
    const Matrix all = read_all(*g.vectors);
    EXPECT_EQ(all.rows(), g.names->size());
    EXPECT_EQ(all.cols(), kTopics);
    for (size_t r = 0; r < all.rows(); ++r) {
      EXPECT_NEAR(std::accumulate(all.row(r).begin(), all.row(r).end(), 0.0), 1, 1e-4);
    }
  }
  const Matrix topics = read_all(*groups[1].vectors);
  for (size_t k = 0; k < kTopics; ++k) {  // most of the words of a topic are its own
    EXPECT_EQ(std::ranges::max_element(topics.row(k)) - topics.row(k).begin(),
              static_cast<std::ptrdiff_t>(k));
  }
}

TEST(Plsa, DamagedFilesAreRefused) {
  const Bags data = documents(30);
  Plsa m = trained(config(0.01), data);
  ArchiveWriter out = test::file_of(m, "plsa");
  out.metadata["topics.beta"] = "-1";
  message_of(ErrorKind::kInput, [&] { test::loaded(out); });
  ArchiveWriter wide = test::file_of(m, "plsa");
  wide.metadata["settings"] = "topics = 4\n";
  message_of(ErrorKind::kInput, [&] { test::loaded(wide); });
}

}  // namespace
}  // namespace kith::plsa
