// SPDX-License-Identifier: Apache-2.0
#pragma once
// Neighbours in a text of numbers that belong together: counted exactly in bounded memory.

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "io/file.h"
#include "kith/context.h"
#include "kith/phrases.h"

namespace kith {

// A pair of words, by number.
struct WordPair {
  uint32_t first, second;
  uint64_t key() const { return uint64_t{first} << 32 | second; }
};
struct ScoredPair {
  WordPair words;
  uint64_t count;
  double score;
};

// What a pair scores, by the counts of its words, its own, and the number of all words.
double phrase_score(PhraseScore how, double delta, std::span<const uint64_t, 3> counts,
                    uint64_t all);

// Calls f with the numbers of a text, some at a time. Error(kCancelled).
void for_each_piece(const ScratchFile& numbers, const Context& context,
                    const std::function<void(std::span<const uint32_t>)>& f);

// The pairs that score more than the threshold, in the order of their keys. `counts` by number; a
// line ends with WordCounter::kEnd. At most options.pairs pairs are counted at a time: if there are
// more, the text is looked through as often as it takes, for a part of the pairs each time.
std::vector<ScoredPair> find_pairs(const ScratchFile& numbers, std::span<const uint64_t> counts,
                                   const PhraseOptions& options, const Context& context);

}  // namespace kith
