// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hashed n-grams of characters: what a word or a value that nobody has seen can still be made of.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/rng.h"

namespace kith {

// Stays the same for ever: bucket numbers stand in model files.
inline uint64_t bucket_hash(std::string_view text, uint64_t seed) {
  uint64_t h = 0xcbf29ce484222325 ^ seed;
  for (const char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return mix64(h);
}

// Calls f(n-gram) for the runs of `shortest` to `longest` characters of "<word>", but for the marks
// alone; a character is what a UTF-8 lead byte begins.
template <class F>
void for_each_ngram(std::string_view word, size_t shortest, size_t longest, const F& f) {
  std::string text;
  text.reserve(word.size() + 2);
  text.append("<").append(word).append(">");
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<uint8_t>(text[i]) & 0xc0) != 0x80) starts.push_back(i);
  }
  starts.push_back(text.size());
  const size_t characters = starts.size() - 1;
  for (size_t n = shortest; n <= std::min(longest, characters); ++n) {
    const size_t mark = n == 1 ? 1 : 0;
    for (size_t i = mark; i + n + mark <= characters; ++i) {
      f(std::string_view(text).substr(starts[i], starts[i + n] - starts[i]));
    }
  }
}

}  // namespace kith
