// SPDX-License-Identifier: Apache-2.0
// The vector of a text that nobody has seen: the steps of training, in which the text alone moves.
// Its start, its noise and its windows are drawn from a stream that its words alone decide, so the
// same text always gets the same vector.

#include <array>
#include <cmath>
#include <vector>

#include "core/rng.h"
#include "models/doc2vec/model.h"
#include "train/alias.h"
#include "train/blocks.h"

namespace kith::doc2vec {
namespace {

constexpr size_t kLanes = 16;  // sums side by side, which the compiler makes vectors of

float dot(std::span<const float> a, std::span<const float> b) {
  std::array<float, kLanes> sums{};
  size_t k = 0;
  for (; k + kLanes <= a.size(); k += kLanes) {
    for (size_t i = 0; i < kLanes; ++i) sums[i] += a[k + i] * b[k + i];
  }
  float out = 0;
  for (; k < a.size(); ++k) out += a[k] * b[k];
  for (const float s : sums) out += s;
  return out;
}

void add(float scale, std::span<const float> from, std::span<float> to) {
  for (size_t k = 0; k < to.size(); ++k) to[k] += scale * from[k];
}

uint64_t seed_of(std::span<const uint32_t> words) {
  uint64_t out = words.size();
  for (const uint32_t w : words) out = mix64(out * 0x9e3779b97f4a7c15 + w + 1);
  return out;
}

class Inferrer final : public TextInferrer {
 public:
  explicit Inferrer(const Doc2Vec& model, std::span<const uint64_t> counts)
      : m_(model),
        config_(model.config()),
        noise_(noise_weights(counts, model.config().alpha)),
        thinning_(counts, model.config().sample, 0),
        hidden_(model.input().cols()),
        gradient_(model.input().cols()) {}

  size_t dim() const override { return hidden_.size(); }

  bool infer(std::span<const uint32_t> words, std::span<float> out) override {
    std::ranges::fill(out, 0.0f);
    if (words.empty()) return false;
    const uint64_t seed = seed_of(words);
    Rng rng(seed, 0);
    for (float& x : out) x = (rng.uniform() - 0.5f) / static_cast<float>(out.size());
    energy_ = 1;
    const int epochs = config_.infer_epochs.value_or(std::max(1, config_.epochs));
    for (int e = 0; e < epochs; ++e) {
      const double lr = config_.first_rate() * std::max(1e-4, 1 - double(e) / epochs);
      kept_.clear();
      for (size_t i = 0; i < words.size(); ++i) {
        if (thinning_.keep(WordId{words[i]}, static_cast<uint64_t>(e), seed + i)) {
          kept_.push_back(words[i]);
        }
      }
      for (size_t c = 0; c < kept_.size(); ++c) step(c, lr, rng, out);
    }
    return true;
  }

 private:
  // One window: document = `out`. Slopes as in training; words and outputs stay where they are.
  void step(size_t c, double lr, Rng& rng, std::span<float> out) {
    std::ranges::copy(out, hidden_.begin());
    size_t contexts = 1;
    if (config_.method == Method::kDm) contexts += add_neighbours(c, rng);
    for (float& x : hidden_) x /= static_cast<float>(contexts);
    std::ranges::fill(gradient_, 0.0f);
    double squares = slope(kept_[c], 1);
    for (int k = 0; k < config_.negatives; ++k) {
      const uint32_t id = noise_.draw(rng);
      if (id != kept_[c]) squares += slope(id, 0);
    }
    const bool exact = config_.gradient == words::Gradient::kExact;
    const double share = exact ? 1 / static_cast<double>(contexts) : 1;
    add(static_cast<float>(lr * share / std::sqrt(energy_)), gradient_, out);
    energy_ += config_.adapt_rate * share * share * squares;
  }

  size_t add_neighbours(size_t c, Rng& rng) {
    const auto window = static_cast<uint32_t>(config_.window);
    const size_t radius = config_.fixed_window ? window : 1 + rng.below(window);
    const size_t begin = c > radius ? c - radius : 0;
    const size_t end = std::min(kept_.size(), c + radius + 1);
    for (size_t i = begin; i < end; ++i) {
      if (i != c) add(1, m_.input().row(kept_[i]), hidden_);
    }
    return end - begin - 1;
  }

  // Adds (label - sigma(h . u)) u to the gradient; the slope squared.
  double slope(uint32_t word, float label) {
    const std::span<const float> u = m_.output().row(word);
    const float g = label - 1 / (1 + std::exp(-dot(hidden_, u)));
    add(g, u, gradient_);
    return double{g} * g;
  }

  const Doc2Vec& m_;
  const Config& config_;
  const AliasSampler noise_;
  const Thinning thinning_;
  std::vector<float> hidden_, gradient_;
  std::vector<uint32_t> kept_;
  double energy_ = 1;
};

}  // namespace

std::unique_ptr<TextInferrer> Doc2Vec::inferrer() const {
  return std::make_unique<Inferrer>(*this, counts_);
}

}  // namespace kith::doc2vec
