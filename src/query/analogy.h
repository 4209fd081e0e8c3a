// SPDX-License-Identifier: Apache-2.0
#pragma once
// a is to b as c is to ?, and which of these does not belong.

#include <span>
#include <string>
#include <vector>

#include "query/neighbours.h"

namespace kith {

enum class AnalogyRule {
  kAdd,  // 3CosAdd: argmax cos(x, b - a + c), unit vectors
  kMul,  // 3CosMul: argmax cos'(x,b) cos'(x,c) / (cos'(x,a) + 1e-3), cos' = (1 + cos) / 2
};

// The rows of a question a : b = c : ?
struct Analogy {
  uint32_t a, b, c;
};

// The best answers to each question, the three given words excluded. Cheaper by far than a search
// for b - a + c: only the distinct words of the questions are compared with the rows.
std::vector<std::vector<Neighbour>> analogies(const Space& space,
                                              std::span<const Analogy> questions, AnalogyRule rule,
                                              const SearchOptions& options);
// The same for one question.
std::vector<Neighbour> analogy(const Space& space, uint32_t a, uint32_t b, uint32_t c,
                               AnalogyRule rule, const SearchOptions& options);

float cosine(const Space& space, uint32_t a, uint32_t b);

// For each word its cosine with the mean of the others' unit vectors; the smallest is the odd one.
std::vector<float> fit_with_others(const Space& space, std::span<const uint32_t> rows);

}  // namespace kith
