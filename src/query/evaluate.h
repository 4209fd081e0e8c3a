// SPDX-License-Identifier: Apache-2.0
#pragma once
// How good are these vectors? The two public protocols: analogy questions (Google's file format)
// and word pairs with human scores.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/analogy.h"

namespace kith {

struct AnalogySection {
  std::string name;  // empty for questions before the first title
  uint64_t right = 0, asked = 0;
};
struct AnalogyResult {
  std::vector<AnalogySection> sections;
  uint64_t right = 0, asked = 0, skipped = 0;  // skipped: a word is not among the rows asked
  uint64_t semantic_right = 0, semantic_asked = 0, syntactic_right = 0, syntactic_asked = 0;
  double accuracy() const {
    return asked ? static_cast<double>(right) / static_cast<double>(asked) : 0;
  }
};

struct SimilarityResult {
  double spearman = 0;  // mean ranks for ties; NaN with fewer than two pairs
  uint64_t pairs = 0, skipped = 0;
};

enum class EvalKind { kAnalogies, kSimilarity };
// Looks at the first lines: four words, or ": section" is analogies; two words and a number is
// similarity (tab, semicolon, comma or spaces between). Error(kInput) if neither, Error(kUsage) for
// standard input, which cannot be looked at and then read.
EvalKind recognise_eval_file(const std::string& path);

// Questions and answers among the `restrict_to` most frequent rows (30000 in the usual protocol, 0
// for all). Words are tried as they stand, then in lower case. Sections named gram* are syntactic.
AnalogyResult evaluate_analogies(const Space& space, const std::string& path, AnalogyRule rule,
                                 size_t restrict_to, int threads);
// Pairs of words and human scores; lines with # and a first line of column names are skipped.
SimilarityResult evaluate_similarity(const Space& space, const std::string& path);

// Spearman's rank correlation, mean ranks for ties. NaN if either side is constant.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace kith
