// SPDX-License-Identifier: Apache-2.0
#pragma once
// How well the top words of a topic go together, in documents: normalised pointwise mutual
// information (Bouma 2009; Lau, Newman and Baldwin 2014), the mean over all pairs of the words:
//
//   npmi(a, b) = log(p(a, b) / (p(a) p(b))) / -log p(a, b)
//
// with p the share of documents that have a word, or both: 1 for words that stand together only, 0
// for independent ones, -1 for words that never meet.

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "data/sparse.h"
#include "kith/context.h"

namespace kith::eval {

inline constexpr size_t kCoherenceWords = 10;  // of a topic

// The words of each topic with the highest probability (words x topics), highest first; of equal
// ones the first.
std::vector<std::vector<uint32_t>> top_words(const Matrix& words, size_t top);

// Of each list of at most 32 words. A pair of which a word is in no document is left out; a topic
// without any other pair has 0.
std::vector<double> coherence(std::span<const std::vector<uint32_t>> topics,
                              const Sparse& documents, const Context& context);

// The share of the words in the lists that stand in one list alone (Dieng, Ruiz and Blei 2020: of
// the 25 top words).
double diversity(std::span<const std::vector<uint32_t>> topics);

}  // namespace kith::eval
