// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a text is made of for fastText (0.9.2, Dictionary::getLine): its words, the runs of letters
// in them, the word that ends each line, and runs of words by the hashes of their spelling, those
// of words that it does not know included. For models that fastText made.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/names.h"
#include "models/classifier/features.h"

namespace kith::classifier {

struct FastTextRule {
  size_t longest_run = 1;       // words
  size_t min_n = 0, max_n = 0;  // letters, the marks of both ends counted; 0: words are whole
  uint64_t buckets = 1;         // that all runs share
  std::string label_prefix{};   // words that begin so are no words; empty: all are
};

// The rows of a text, with those that stand there twice twice. Runs whose bucket was not kept have
// none.
void find_features(const FastTextRule& rule, const Names& words, const BucketSet& kept,
                   std::span<const std::string_view> text, std::vector<uint32_t>& out);

// The rows of a word: its own if it is known, then those of its runs of letters.
void add_word(const FastTextRule& rule, const Names& words, const BucketSet& kept,
              std::string_view word, std::vector<uint32_t>& out);

}  // namespace kith::classifier
