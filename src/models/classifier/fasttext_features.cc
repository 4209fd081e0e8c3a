// SPDX-License-Identifier: Apache-2.0
#include "models/classifier/fasttext_features.h"

#include <algorithm>

#include "data/ngrams.h"
#include "io/fasttext_bin.h"

namespace kith::classifier {
namespace {

constexpr std::string_view kLineEnd = "</s>";

// A 32-bit hash counts with its sign when it becomes 64 bits wide.
uint64_t widened(uint32_t hash) { return static_cast<uint64_t>(static_cast<int32_t>(hash)); }

}  // namespace

void add_word(const FastTextRule& rule, const Names& words, const BucketSet& kept,
              std::string_view word, std::vector<uint32_t>& out) {
  if (const auto at = words.find(word)) out.push_back(*at);
  if (rule.max_n == 0 || kept.size() == 0 || word == kLineEnd) return;
  for_each_ngram(word, std::max<size_t>(1, rule.min_n), rule.max_n, [&](std::string_view letters) {
    const uint32_t place =
        kept.place_of(static_cast<uint32_t>(fasttext_hash(letters) % rule.buckets));
    if (place != BucketSet::kNone) out.push_back(static_cast<uint32_t>(words.size()) + place);
  });
}

void find_features(const FastTextRule& rule, const Names& words, const BucketSet& kept,
                   std::span<const std::string_view> text, std::vector<uint32_t>& out) {
  out.clear();
  std::vector<uint32_t> hashes;
  const auto add = [&](std::string_view word) {
    add_word(rule, words, kept, word, out);
    hashes.push_back(fasttext_hash(word));
  };
  for (const std::string_view word : text) {
    if (word == kLineEnd) break;
    if (rule.label_prefix.empty() || !word.starts_with(rule.label_prefix)) add(word);
  }
  add(kLineEnd);
  for (size_t i = 0; kept.size() > 0 && i < hashes.size(); ++i) {
    uint64_t hash = widened(hashes[i]);
    for (size_t k = i + 1; k < std::min(hashes.size(), i + rule.longest_run); ++k) {
      hash = hash * 116049371 + widened(hashes[k]);
      const uint32_t place = kept.place_of(static_cast<uint32_t>(hash % rule.buckets));
      if (place != BucketSet::kNone) out.push_back(static_cast<uint32_t>(words.size()) + place);
    }
  }
}

}  // namespace kith::classifier
