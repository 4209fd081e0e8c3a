// SPDX-License-Identifier: Apache-2.0
#include "models/plsa/model.h"

#include <cmath>
#include <utility>

#include "core/rng.h"

namespace kith::plsa {
namespace {

constexpr double kHoldout = 0.02;  // of the documents, where they say when to stop

}  // namespace

Wishes Plsa::wishes() const {
  Wishes out;
  if (config_.early_stop > 0) out.holdout = kHoldout;
  return out;
}

// Topics: how frequent words are, each moved at random by a factor that breaks their symmetry.
// Mixtures: all topics alike.
void Plsa::start(const Bags& data, uint64_t seed) {
  take(data);
  const size_t topics = this->topics();
  std::vector<double> sums(topics, 0.0);
  const auto counts = trained_counts();
  for (size_t w = 0; w < word_topics_.rows(); ++w) {
    Rng rng(seed, w);
    const auto row = word_topics_.row(w);
    for (size_t k = 0; k < topics; ++k) {
      row[k] = (static_cast<float>(counts[w]) + 0.01f) * -std::log(1 - rng.uniform());
      sums[k] += row[k];
    }
  }
  for (size_t w = 0; w < word_topics_.rows(); ++w) {
    const auto row = word_topics_.row(w);
    for (size_t k = 0; k < topics; ++k) row[k] = static_cast<float>(row[k] / sums[k]);
  }
  for (size_t d = 0; d < mixtures_.rows(); ++d) {
    for (float& x : mixtures_.row(d)) x = 1 / static_cast<float>(topics);
  }
  alpha_.assign(topics, config_.alpha);
  beta_ = config_.beta;
}

void Plsa::set_start(const Bags& data, Matrix words, Matrix documents) {
  take(data);
  word_topics_ = std::move(words);
  mixtures_ = std::move(documents);
  alpha_.assign(topics(), config_.alpha);
  beta_ = config_.beta;
}

double Plsa::log_likelihood(const Bags& data) const {
  double out = 0;
  for (uint32_t d = 0; d < data.train().rows(); ++d) {
    const Sparse::Row row = data.train().row(d);
    for (size_t i = 0; i < row.size(); ++i) {
      double p = 0;
      const auto phi = word_topics_.row(row.columns[i]);
      for (size_t k = 0; k < phi.size(); ++k) p += double{phi[k]} * mixtures_.row(d)[k];
      out += row.values[i] * std::log(p);
    }
  }
  return out;
}

uint64_t Plsa::memory(const Bags& data, const Job& job) const {
  const bool keeps_best = config_.early_stop > 0 && data.held_out_documents() > 0;
  const uint64_t row = padded(topics()) * sizeof(float);
  const uint64_t rows = data.words().size() + data.names().size();
  // Documents by words as well; the powers of both tables; buffers of a document or word.
  const uint64_t training =
      data.train().size() * 8 + 8 * data.words().size() + (config_.temper < 1 ? rows * row : 0) +
      static_cast<uint64_t>(job.threads()) * 8 * std::max(data.words().size(), data.names().size());
  return memory_of_topics(data, job, keeps_best, training);
}

ModelInfo info() { return model_info<Plsa>("plsa", "documents as mixtures of topics: EM (pLSA)"); }

}  // namespace kith::plsa
