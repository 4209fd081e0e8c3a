// SPDX-License-Identifier: Apache-2.0
#include "kith/topics.h"

#include <algorithm>
#include <numeric>

#include "api/opened.h"
#include "core/parallel.h"

namespace kith {
namespace {

constexpr double kOften = 5;     // times that a topic has a word whose lift says something
constexpr double kWeight = 0.5;  // of exclusivity in FREX

// All words of a topic by one of the orders.
class Ranking {
 public:
  explicit Ranking(const Topics& model) : m_(model), words_(model.word_topics().rows(), 0.0) {
    const auto sizes = model.topic_sizes();
    for (size_t w = 0; w < words_.size(); ++w) {
      const auto row = model.word_topics().row(w);
      for (size_t k = 0; k < row.size(); ++k) words_[w] += sizes[k] * row[k];
    }
    for (const uint64_t n : model.trained_counts()) all_ += static_cast<double>(n);
  }

  double probability(size_t word, size_t topic) const { return m_.word_topics().row(word)[topic]; }
  double lift(size_t word, size_t topic) const {
    return words_[word] > 0 ? probability(word, topic) / words_[word] : 0;
  }

  std::vector<double> scores(size_t topic, TopicOrder by) const {
    const size_t words = words_.size();
    std::vector<double> out(words);
    switch (by) {
      case TopicOrder::kProbability:
        for (size_t w = 0; w < words; ++w) out[w] = probability(w, topic);
        return out;
      case TopicOrder::kLift:
        for (size_t w = 0; w < words; ++w) {
          const double times = probability(w, topic) * m_.topic_sizes()[topic] * all_;
          out[w] = times >= kOften ? lift(w, topic) : 0;
        }
        return out;
      case TopicOrder::kFrex:
        break;
    }
    for (size_t w = 0; w < words; ++w) out[w] = probability(w, topic);
    const std::vector<double> frequent = ranks(out);
    for (size_t w = 0; w < words; ++w) out[w] = lift(w, topic);  // in the order of p(z | w)
    const std::vector<double> exclusive = ranks(out);
    for (size_t w = 0; w < words; ++w) {
      out[w] = 1 / (kWeight / exclusive[w] + (1 - kWeight) / frequent[w]);
    }
    return out;
  }

 private:
  // The share of the words that have no more.
  static std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [&](uint32_t w) { return std::pair{values[w], w}; });
    std::vector<double> out(values.size());
    for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
      for (size_t i = begin; i < end; ++i) {
        out[order[i]] = static_cast<double>(end) / static_cast<double>(order.size());
      }
    }
    return out;
  }

  const Topics& m_;
  std::vector<double> words_;  // p(w)
  double all_ = 0;             // words of the training documents
};

// The first so many, highest first; of equal ones the first.
std::vector<uint32_t> best(const std::vector<double>& scores, size_t top) {
  std::vector<uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(top, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](uint32_t a, uint32_t b) {
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
  });
  order.erase(end, order.end());
  return order;
}

}  // namespace

std::vector<TopicSummary> topics(const Model& model, const TopicOptions& options,
                                 const Context& context) {
  const auto& asked = model.impl().ask<Topics>("topics");
  const Ranking ranking(asked);
  std::vector<TopicSummary> out(asked.topic_names().size());
  for_each_shard(context, out.size(), [&](size_t k) {
    TopicSummary& topic = out[k];
    topic.name = std::string(asked.topic_names()[k]);
    topic.size = asked.topic_sizes()[k];
    topic.coherence = asked.topic_coherence()[k];
    const std::vector<double> scores = ranking.scores(k, options.by);
    for (const uint32_t w : best(scores, static_cast<size_t>(options.top))) {
      topic.words.push_back({std::string(asked.topic_words()[w]), ranking.probability(w, k),
                             ranking.lift(w, k), scores[w]});
    }
  });
  std::ranges::stable_sort(out, std::greater<>(), &TopicSummary::size);
  return out;
}

}  // namespace kith
