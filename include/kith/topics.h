// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the topics of a model are about: their words, and how large and how coherent they are.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/fields.h"
#include "kith/model.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// The order of the words of a topic z: p(w | z); lift p(w | z) / p(w), of words that the topic has
// five times or more; or FREX (Bischof and Airoldi 2012), the harmonic mean of the ranks of a word,
// as shares, by p(w | z) and by p(z | w): frequent, and exclusive to the topic.
enum class TopicOrder { kProbability, kLift, kFrex };

struct TopicOptions {
  int64_t top = 10;
  TopicOrder by = TopicOrder::kProbability;

  static constexpr std::tuple fields{
      field("top", &TopicOptions::top, "how many words to show of each topic").between(1, 1000),
      field("by", &TopicOptions::by,
            "which words: the most frequent of the topic; those that it has more of than others "
            "(lift); or both, by ranks (frex)"),
  };
};

struct TopicWord {
  std::string word;
  double probability = 0;  // p(w | z)
  double lift = 0;         // p(w | z) / p(w)
  double score = 0;        // by which they were ordered
};

struct TopicSummary {
  std::string name;      // "topic3"
  double size = 0;       // share of the words of the training documents
  double coherence = 0;  // NPMI of its ten most frequent words in the training documents
  std::vector<TopicWord> words;
};

// The largest first. Error(kUsage) for a model without topics.
std::vector<TopicSummary> topics(const Model& model, const TopicOptions& options,
                                 const Context& context);

// The words of each topic as bars, an SVG picture.
std::string topics_plot(const std::vector<TopicSummary>& topics, const TopicOptions& options);

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::TopicOrder> {
  static constexpr std::array<std::string_view, 3> names{"probability", "lift", "frex"};
};
