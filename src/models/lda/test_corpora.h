// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: documents whose words are known, and documents drawn from known topics.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "data/bags/bags.h"
#include "models/lda/model.h"
#include "models/test_model.h"

namespace kith::lda::test {

using namespace kith::test;  // NOLINT: tests of models read as the others do

using Documents = std::vector<std::vector<uint32_t>>;  // words, in any order

inline Sparse counts_of(const Documents& documents, uint32_t words) {
  Sparse out;
  out.columns = words;
  for (std::vector<uint32_t> d : documents) {
    std::ranges::sort(d);
    for (size_t i = 0; i < d.size(); ++i) {
      if (i > 0 && d[i] == d[i - 1]) {
        ++out.value.back();
        continue;
      }
      out.column.push_back(d[i]);
      out.value.push_back(1);
    }
    out.offsets.push_back(out.column.size());
  }
  return out;
}

inline Names numbered(size_t count, const char* prefix) {
  Names out;
  for (size_t i = 0; i < count; ++i) out.add(fmt::format("{}{}", prefix, i));
  return out;
}

inline Bags bags_of(const Documents& documents, uint32_t words) {
  return {numbered(words, "w"), numbered(documents.size(), "d"), counts_of(documents, words)};
}

inline std::vector<double> dirichlet(const std::vector<double>& alpha, std::mt19937& random) {
  std::vector<double> out;
  for (const double a : alpha) out.push_back(std::gamma_distribution<double>(a)(random) + 1e-300);
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& x : out) x /= sum;
  return out;
}

// Drawn as the model says documents come about.
struct Generated {
  std::vector<double> alpha;
  double beta = 0.1;
  uint32_t words = 100;
  size_t documents = 400, length = 80;
  unsigned seed = 1;
  std::vector<std::vector<double>> topics{};  // by topic: p(word | topic)
  std::vector<std::vector<double>> mixtures{};
  std::vector<std::vector<uint32_t>> assigned{};  // the topic of each word

  Documents draw() {
    std::mt19937 random(seed);
    for (size_t k = 0; k < alpha.size(); ++k) {
      topics.push_back(dirichlet(std::vector<double>(words, beta), random));
    }
    Documents out;
    for (size_t d = 0; d < documents; ++d) {
      mixtures.push_back(dirichlet(alpha, random));
      std::discrete_distribution<uint32_t> topic(mixtures.back().begin(), mixtures.back().end());
      std::vector<uint32_t> of_document, z;
      for (size_t i = 0; i < length; ++i) {
        z.push_back(topic(random));
        const std::vector<double>& phi = topics[z.back()];
        of_document.push_back(std::discrete_distribution<uint32_t>(phi.begin(), phi.end())(random));
      }
      out.push_back(of_document);
      assigned.push_back(z);
    }
    return out;
  }
};

// Half the absolute difference of two distributions: what a topic learned has of the true one, with
// topics paired so that it is least. Mean over topics.
inline double distance(const std::vector<std::vector<double>>& truth, const Matrix& word_topics) {
  std::vector<size_t> order(truth.size());
  std::iota(order.begin(), order.end(), size_t{0});
  double best = 1e300;
  do {
    double sum = 0;
    for (size_t k = 0; k < truth.size(); ++k) {
      for (size_t w = 0; w < truth[k].size(); ++w) {
        sum += std::abs(truth[k][w] - word_topics.row(w)[order[k]]) / 2;
      }
    }
    best = std::min(best, sum / static_cast<double>(truth.size()));
  } while (std::ranges::next_permutation(order).found);
  return best;
}

// sum (seen - expected)^2 / expected, whose mean is the number of cells less one.
inline double chi_square(const std::vector<double>& seen, const std::vector<double>& p) {
  const double all = std::accumulate(seen.begin(), seen.end(), 0.0);
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  double out = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double expected = all * p[i] / sum;
    out += (seen[i] - expected) * (seen[i] - expected) / expected;
  }
  return out;
}
// What it exceeds once in 300,000 times if all is right (Wilson and Hilferty 1931).
inline double far(size_t cells) {
  const auto n = static_cast<double>(cells - 1);
  return n * std::pow(1 - 2 / (9 * n) + 4.5 * std::sqrt(2 / (9 * n)), 3);
}

inline Lda trained(const Config& config, const Bags& data, int threads = 1, uint64_t seed = 1) {
  Lda out;
  out.config() = config;
  Job job(threads);
  job.seed = seed;
  EXPECT_TRUE(out.train(data, job));
  return out;
}

inline void expect_same(const Lda& a, const Lda& b, const std::string& what) {
  EXPECT_TRUE(same_bits(a.word_topics(), b.word_topics())) << what;
  EXPECT_TRUE(same_bits(a.mixtures(), b.mixtures())) << what;
  EXPECT_EQ(a.priors().alpha, b.priors().alpha) << what;
  EXPECT_EQ(a.priors().beta, b.priors().beta) << what;
  EXPECT_EQ(a.state().loss, b.state().loss) << what;
}

inline const std::vector<Method> kMethods{Method::kWarp, Method::kGibbs, Method::kOnline};
inline std::string name_of(Method m) {
  return std::string(EnumNames<Method>::names[static_cast<size_t>(m)]);
}

}  // namespace kith::lda::test
