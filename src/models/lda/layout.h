// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of all documents one by one, in two orders: by document, and by word, those of one word
// by document. What a sampler keeps of each stands in one of the two; `place` leads from the first
// order to the second.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "data/sparse.h"

namespace kith::lda {

struct Layout {
  std::vector<uint64_t> documents{0};  // document d is tokens [documents[d], documents[d + 1])
  std::vector<uint64_t> words{0};      // by word, in the other order
  std::vector<uint32_t> place;         // of a token by document: where it stands by word

  uint64_t tokens() const { return place.size(); }
  uint64_t longest_document() const;
};

inline constexpr uint64_t kMostTokens = 0xffffffff;  // that a place can number

// `counts`: documents x words, whole numbers. Error(kLimit) for more than kMostTokens.
Layout layout_of(const Sparse& counts);

// Rows [first, last) with the tokens [begin, end): what one thread does at a time.
struct Shard {
  uint32_t first, last;
  uint64_t begin, end;
};

// Whole rows, at least `tokens` together but for the last. A row that is longer than `split` is cut
// into shards of at most `split` tokens, which share first and last = first + 1.
std::vector<Shard> shards_of(std::span<const uint64_t> offsets, uint64_t tokens, uint64_t split);

}  // namespace kith::lda
