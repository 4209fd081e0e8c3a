// SPDX-License-Identifier: Apache-2.0
#include "data/ngrams.h"

#include <gtest/gtest.h>

namespace kith {
namespace {

std::vector<std::string> ngrams(std::string_view word, size_t shortest, size_t longest) {
  std::vector<std::string> out;
  for_each_ngram(word, shortest, longest, [&](std::string_view gram) { out.emplace_back(gram); });
  return out;
}

TEST(Ngrams, AreRunsOfCharactersWithTheEndsMarked) {
  EXPECT_EQ(ngrams("cat", 3, 4), (std::vector<std::string>{"<ca", "cat", "at>", "<cat", "cat>"}));
  EXPECT_EQ(ngrams("é", 3, 5), (std::vector<std::string>{"<é>"}));  // not cut inside a character
  EXPECT_EQ(ngrams("", 3, 5), std::vector<std::string>{});
  EXPECT_EQ(ngrams("ab", 1, 2), (std::vector<std::string>{"a", "b", "<a", "ab", "b>"}));
}

// Numbers that stand in model files: if one of these changes, no file can be read any more.
TEST(Ngrams, TheirHashIsFixedForEver) {
  EXPECT_EQ(bucket_hash("<ca", 1), 17424690663996352344u);
  EXPECT_EQ(bucket_hash("", 0), 17665956581633026203u);
}

}  // namespace
}  // namespace kith
