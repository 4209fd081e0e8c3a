// SPDX-License-Identifier: Apache-2.0
#include "data/bags/stop_words.h"

#include <array>

namespace kith {

std::span<const std::string_view> english_stop_words() {
  // clang-format off
  static constexpr std::array<std::string_view, 171> words{
      "a", "about", "above", "after", "again", "against", "all", "also", "although", "am", "among",
      "an", "and", "another", "any", "are", "aren", "as", "at", "be", "because", "been", "before",
      "being", "below", "between", "both", "but", "by", "can", "cannot", "could", "couldn", "did",
      "didn", "do", "does", "doesn", "doing", "don", "down", "during", "each", "either", "etc",
      "ever", "every", "few", "for", "from", "further", "had", "hadn", "has", "hasn", "have",
      "haven", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how",
      "however", "i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just", "ll", "may",
      "me", "might", "more", "most", "much", "must", "my", "myself", "neither", "no", "nor", "not",
      "now", "of", "off", "often", "on", "once", "one", "only", "or", "other", "our", "ours",
      "ourselves", "out", "over", "own", "per", "re", "s", "same", "shall", "she", "should",
      "shouldn", "since", "so", "some", "such", "t", "than", "that", "the", "their", "theirs",
      "them", "themselves", "then", "there", "these", "they", "this", "those", "through", "to",
      "too", "under", "until", "up", "upon", "us", "ve", "very", "was", "wasn", "we", "were",
      "weren", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why",
      "will", "with", "within", "without", "won", "would", "wouldn", "you", "your", "yours",
      "yourself", "yourselves"};
  // clang-format on
  return words;
}

}  // namespace kith
