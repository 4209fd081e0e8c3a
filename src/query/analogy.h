// SPDX-License-Identifier: Apache-2.0
#pragma once
// a is to b as c is to ?, and which of these does not belong.

#include <span>
#include <string>
#include <vector>

#include "kith/analogy_rule.h"
#include "query/index.h"

namespace kith {

// The rows of a question a : b = c : ?
struct Analogy {
  uint32_t a, b, c;
};

// The best answers to each question, the three given words excluded. Cheaper by far than a search
// for b - a + c: only the distinct words of the questions are compared with the rows.
std::vector<std::vector<Hit>> analogies(const Index& index, std::span<const Analogy> questions,
                                        AnalogyRule rule, const SearchOptions& options,
                                        const Context& context);
// The same for one question.
std::vector<Hit> analogy(const Index& index, uint32_t a, uint32_t b, uint32_t c, AnalogyRule rule,
                         const SearchOptions& options, const Context& context);

float cosine(const Index& index, uint32_t a, uint32_t b);

// For each word its cosine with the mean of the others' unit vectors; the smallest is the odd one.
std::vector<float> fit_with_others(const Index& index, std::span<const uint32_t> rows);

}  // namespace kith
