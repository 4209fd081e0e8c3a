// SPDX-License-Identifier: Apache-2.0
#include "models/lda/online.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel.h"
#include "core/rng.h"
#include "kernels/skinny.h"
#include "models/lda/gamma.h"
#include "models/lda/kernel.h"

namespace kith::lda {
namespace {

constexpr size_t kDocuments = 8;   // that one thread does at a time
constexpr size_t kWords = 256;     // the same
constexpr int kSweeps = 100;       // over a document, at most
constexpr float kSettled = 1e-3f;  // mean change of gamma in a sweep
constexpr float kTiny = 1e-30f;
constexpr int kAlphaSteps = 20;

// x with psi(x) = y (Minka 2000, appendix C).
double inverse_digamma(double y) {
  double x = y >= -2.22 ? std::exp(y) + 0.5 : -1 / (y - digamma(1));
  for (int i = 0; i < 5; ++i) {
    const double h = 1e-5 * x;
    const double slope = (digamma(x + h) - digamma(x - h)) / (2 * h);
    x = std::max(x - (digamma(x) - y) / slope, x / 10);
  }
  return x;
}

template <class Each>
void by_shards(const Context& context, size_t count, size_t size, const Each& each) {
  for_each_shard(context, (count + size - 1) / size, [&](size_t s, size_t worker) {
    for (size_t i = s * size; i < std::min(count, (s + 1) * size); ++i) each(i, worker);
  });
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// A draw from Gamma(100, 1 / 100), nearly: a sum of uniform numbers with its mean and variance.
float about_one(Rng& rng) {
  float x = 0;
  for (int i = 0; i < 4; ++i) x += rng.uniform();
  return 1 + 0.1f * 1.7320508f * (x - 2);
}

}  // namespace

double OnlineRates::at(uint64_t batch) const {
  return std::pow(tau0 + static_cast<double>(batch), -kappa);
}

// What is known of a batch's documents and words while it is learned from.
struct Online::Batch {
  std::span<const uint32_t> documents;
  std::vector<uint32_t> words;       // that they have, rising
  std::vector<uint64_t> offsets{0};  // of a document's entries
  std::vector<uint32_t> entries;     // which of the words
  std::vector<float> ratios;         // n_dw / sum_k theta_dk B_wk
  Matrix topics;                     // B, of the words
  Matrix theta;                      // e^psi(gamma), of the documents
  Matrix gamma;
  std::vector<double> bounds;  // of the documents
  std::vector<Matrix> tiles;   // of a worker
  uint64_t tokens = 0;
};

Online::Online(const Sparse& documents, Matrix& lambda, Priors& priors, const Context& context)
    : documents_(documents), lambda_(lambda), priors_(priors), context_(context) {
  for (uint32_t d = 0; d < documents.rows(); ++d) filled_ += documents.row(d).size() > 0 ? 1 : 0;
}

void Online::start(uint64_t seed) {
  by_shards(context_, lambda_.rows(), kWords, [&](size_t w, size_t) {
    Rng rng(seed, w);
    for (float& x : lambda_.row(w)) x = about_one(rng);
  });
}

// By word, in their order. Not to be cancelled: lambda may have changed already.
void Online::sum_lambda() const {
  const size_t shards = (lambda_.rows() + kWords - 1) / kWords, topics = lambda_.cols();
  std::vector<std::vector<double>> parts(shards, std::vector<double>(topics, 0.0));
  finish_shards(context_, shards, [&](size_t s) {
    for (size_t w = s * kWords; w < std::min(lambda_.rows(), (s + 1) * kWords); ++w) {
      const auto row = std::as_const(lambda_).row(w);
      for (size_t k = 0; k < topics; ++k) parts[s][k] += row[k];
    }
  });
  sums_.assign(topics, 0.0);
  for (const auto& part : parts) {
    for (size_t k = 0; k < topics; ++k) sums_[k] += part[k];
  }
}

Online::Done Online::learn(std::span<const uint32_t> documents, double rho, bool learns_alpha) {
  Batch batch;
  batch.documents = documents;
  infer(batch);
  if (learns_alpha && priors_.alpha.size() > 1) step_alpha(batch, rho);
  take_step(batch, rho);
  return {sum_of(batch.bounds), batch.tokens};
}

void Online::infer(Batch& batch) const {
  const size_t topics = lambda_.cols(), count = batch.documents.size();
  sum_lambda();
  for (const uint32_t d : batch.documents) {
    const Sparse::Row row = documents_.row(d);
    batch.entries.insert(batch.entries.end(), row.columns.begin(), row.columns.end());
    batch.offsets.push_back(batch.entries.size());
    for (const float n : row.values) batch.tokens += static_cast<uint64_t>(n);
  }
  batch.words = batch.entries;
  std::ranges::sort(batch.words);
  batch.words.erase(std::ranges::unique(batch.words).begin(), batch.words.end());
  batch.topics = Matrix(batch.words.size(), topics);
  batch.theta = Matrix(count, topics);
  batch.gamma = Matrix(count, topics);
  batch.ratios.assign(batch.entries.size(), 0.0f);
  batch.bounds.assign(count, 0.0);
  batch.tiles.resize(static_cast<size_t>(context_.threads()));
  Matrix scale(1, topics);
  for (size_t k = 0; k < topics; ++k) {
    scale.row(0)[k] = static_cast<float>(std::exp(-digamma(sums_[k])));
  }
  by_shards(context_, batch.words.size(), kWords, [&](size_t i, size_t) {
    exp_digamma_scaled(lambda_.view().row(batch.words[i]), scale.view().row(0),
                       batch.topics.view().row(i), batch.topics.stride());
  });
  by_shards(context_, batch.entries.size(), 1 << 14, [&](size_t i, size_t) {
    batch.entries[i] = static_cast<uint32_t>(
        std::ranges::lower_bound(batch.words, batch.entries[i]) - batch.words.begin());
  });
  by_shards(context_, count, kDocuments,
            [&](size_t i, size_t worker) { batch.bounds[i] = infer_document(batch, i, worker); });
}

double Online::infer_document(Batch& batch, size_t number, size_t worker) const {
  const size_t topics = lambda_.cols(), width = batch.theta.stride();
  const Sparse::Row document = documents_.row(batch.documents[number]);
  const size_t size = document.size();
  if (size == 0) return 0;
  const uint32_t* const entries = batch.entries.data() + batch.offsets[number];
  float* const ratios = batch.ratios.data() + batch.offsets[number];
  float* const theta = batch.theta.view().row(number);
  float* const gamma = batch.gamma.view().row(number);
  Matrix& scratch = batch.tiles[worker];
  if (scratch.rows() == 0) scratch = Matrix(1, topics);
  float* const sums = scratch.view().row(0);
  const ConstRows rows{batch.topics.data(), batch.topics.stride()};
  double tokens = 0;
  for (const float n : document.values) tokens += n;
  for (size_t k = 0; k < topics; ++k) {
    gamma[k] = static_cast<float>(priors_.alpha[k] + tokens / static_cast<double>(topics));
  }
  exp_digamma(gamma, theta, width);
  for (int s = 0; s < kSweeps; ++s) {
    dot_rows(theta, rows, entries, size, width, ratios);
    for (size_t i = 0; i < size; ++i) ratios[i] = document.values[i] / std::max(ratios[i], kTiny);
    sum_rows({rows, entries, ratios, size, 1}, false, sums, width);
    float moved = 0;
    for (size_t k = 0; k < topics; ++k) {
      const float next = static_cast<float>(priors_.alpha[k]) + theta[k] * sums[k];
      moved += std::abs(next - gamma[k]);
      gamma[k] = next;
    }
    exp_digamma(gamma, theta, width);
    if (moved < kSettled * static_cast<float>(topics)) break;
  }
  // With the theta that is kept, so that the step is the one that raises the bound.
  dot_rows(theta, rows, entries, size, width, ratios);
  double out = 0, all = 0;
  for (size_t i = 0; i < size; ++i) {
    const float sum = std::max(ratios[i], kTiny);
    out += document.values[i] * std::log(static_cast<double>(sum));
    ratios[i] = document.values[i] / sum;
  }
  for (size_t k = 0; k < topics; ++k) all += gamma[k];
  const double of_all = digamma(all);
  out += log_gamma(priors_.alpha_sum()) - log_gamma(all) - tokens * of_all;
  for (size_t k = 0; k < topics; ++k) {
    const double a = priors_.alpha[k], mean = digamma(gamma[k]) - of_all;
    out += (a - gamma[k]) * mean + log_gamma(gamma[k]) - log_gamma(a);
  }
  return out;
}

// In the order of the batch for each word, so that sums come out the same.
void Online::take_step(const Batch& batch, double rho) {
  const size_t topics = lambda_.cols(), width = lambda_.stride();
  std::vector<std::vector<std::pair<uint32_t, float>>> of_word(batch.words.size());
  for (size_t d = 0; d < batch.documents.size(); ++d) {
    for (uint64_t i = batch.offsets[d]; i < batch.offsets[d + 1]; ++i) {
      of_word[batch.entries[i]].emplace_back(static_cast<uint32_t>(d), batch.ratios[i]);
    }
  }
  uint64_t filled = 0;
  for (const uint32_t d : batch.documents) filled += documents_.row(d).size() > 0 ? 1 : 0;
  const auto keep = static_cast<float>(1 - rho), base = static_cast<float>(rho * priors_.beta);
  const auto scale = static_cast<float>(rho * static_cast<double>(filled_) /
                                        static_cast<double>(std::max<uint64_t>(1, filled)));
  const ConstRows theta{batch.theta.data(), batch.theta.stride()};
  const size_t shards = (lambda_.rows() + kWords - 1) / kWords;
  finish_shards(context_, shards, [&](size_t s) {
    Matrix sum(1, topics);
    std::vector<uint32_t> rows;
    std::vector<float> weights;
    auto at = static_cast<size_t>(
        std::ranges::lower_bound(batch.words, static_cast<uint32_t>(s * kWords)) -
        batch.words.begin());
    for (size_t w = s * kWords; w < std::min(lambda_.rows(), (s + 1) * kWords); ++w) {
      const auto row = lambda_.row(w);
      for (float& x : row) x = keep * x + base;
      if (at >= batch.words.size() || batch.words[at] != w) continue;
      rows.clear();
      weights.clear();
      for (const auto& [d, ratio] : of_word[at]) {
        rows.push_back(d);
        weights.push_back(ratio);
      }
      float* const sums = sum.view().row(0);
      sum_rows({theta, rows.data(), weights.data(), rows.size(), 1}, false, sums, width);
      const auto topic = batch.topics.row(at);
      for (size_t k = 0; k < topics; ++k) row[k] += scale * sums[k] * topic[k];
      ++at;
    }
  });
}

// Towards the alpha that makes the mixtures of these documents most likely: psi(alpha_k) -
// psi(A) = the mean of E[log theta_dk].
void Online::step_alpha(const Batch& batch, double rho) {
  const size_t topics = lambda_.cols();
  std::vector<double> means(topics, 0.0);
  double documents = 0;
  for (size_t d = 0; d < batch.documents.size(); ++d) {
    if (documents_.row(batch.documents[d]).size() == 0) continue;
    const auto gamma = batch.gamma.row(d);
    const double of_all = digamma(std::accumulate(gamma.begin(), gamma.end(), 0.0));
    for (size_t k = 0; k < topics; ++k) means[k] += digamma(gamma[k]) - of_all;
    ++documents;
  }
  if (documents == 0) return;
  std::vector<double> alpha = priors_.alpha;
  for (int s = 0; s < kAlphaSteps; ++s) {
    const double of_sum = digamma(sum_of(alpha));
    for (size_t k = 0; k < topics; ++k) {
      alpha[k] = std::clamp(inverse_digamma(of_sum + means[k] / documents), 1e-4, 1e4);
    }
  }
  for (size_t k = 0; k < topics; ++k) {
    priors_.alpha[k] = (1 - rho) * priors_.alpha[k] + rho * alpha[k];
  }
}

double Online::bound() const {
  std::vector<uint32_t> all(documents_.rows());
  std::iota(all.begin(), all.end(), 0u);
  Batch batch;
  batch.documents = all;
  infer(batch);
  double out = sum_of(batch.bounds);
  const auto words = static_cast<double>(lambda_.rows());
  for (size_t k = 0; k < lambda_.cols(); ++k) {
    const double of_sum = digamma(sums_[k]);
    out += log_gamma(words * priors_.beta) - log_gamma(sums_[k]);
    for (size_t w = 0; w < lambda_.rows(); ++w) {
      const double x = lambda_.row(w)[k];
      out += (priors_.beta - x) * (digamma(x) - of_sum) + log_gamma(x) - log_gamma(priors_.beta);
    }
  }
  return out;
}

}  // namespace kith::lda
