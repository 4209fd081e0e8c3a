// SPDX-License-Identifier: Apache-2.0
#include "data/text/word_counter.h"

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>

#include "core/hash.h"
#include "core/rng.h"

namespace kith {
namespace {

TEST(LoadBytes, EqualsACopy) {
  const std::string text = "\x81 b\xC3 defg\xFFhij";
  for (size_t begin = 0; begin + 8 < text.size(); ++begin) {
    for (size_t n = 0; n <= 8; ++n) {
      uint64_t expected = 0;
      std::memcpy(&expected, text.data() + begin, n);
      EXPECT_EQ(load_bytes(text.data() + begin, n), expected) << begin << ' ' << n;
    }
  }
}

// Lengths around those that are stored inside (16), and bytes that differ only at the end.
std::string random_word(Rng& rng) {
  std::string word(1 + rng.below(40), 'a');
  word.back() = static_cast<char>('a' + rng.below(26));
  word[rng.below(static_cast<uint32_t>(word.size()))] = static_cast<char>(rng.below(256));
  return word;
}

// Words whose first 16 bytes, length and 32 bits of hash are the same: of 300,000 ends some ten
// pairs have such a hash.
TEST(WordCounter, WordsThatLookAlikeAreNotTheSame) {
  const std::string begin = "antidisestablish";
  std::unordered_map<uint32_t, std::string> ends;
  int pairs = 0;
  for (int n = 100'000; n < 400'000; ++n) {
    const std::string end = std::to_string(n);
    const auto [at, first] = ends.try_emplace(static_cast<uint32_t>(stable_hash(end) >> 32), end);
    if (first) continue;
    ++pairs;
    WordCounter counter;
    const std::string one = begin + at->second, other = begin + end;
    const std::vector<std::string_view> words{one, other, one};
    std::vector<uint32_t> numbers(3);
    counter.count(words, numbers);
    EXPECT_EQ(numbers, (std::vector<uint32_t>{0, 1, 0})) << one << ' ' << other;
  }
  EXPECT_GT(pairs, 0);
}

TEST(WordCounter, CountsLikeAMap) {
  Rng rng(1, 0);
  WordCounter counter;
  std::unordered_map<std::string, uint64_t> expected;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> words;
    for (uint32_t n = rng.below(70); n > 0; --n) {
      words.push_back(rng.below(10) == 0 ? "" : random_word(rng));
    }
    const std::vector<std::string_view> views(words.begin(), words.end());
    std::vector<uint32_t> numbers(words.size());
    counter.count(views, numbers);
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i].empty()) {
        EXPECT_EQ(numbers[i], WordCounter::kEnd);
        continue;
      }
      ++expected[words[i]];
      ASSERT_EQ(counter.word(numbers[i]), words[i]);
    }
  }
  ASSERT_EQ(counter.size(), expected.size());
  for (size_t n = 0; n < counter.size(); ++n) {
    EXPECT_EQ(counter.count_of(n), expected.at(std::string(counter.word(n))));
  }
}

TEST(WordCounter, NumbersComeInOrderOfAppearanceAndSurviveGrowth) {
  WordCounter counter;
  for (uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(counter.add(std::to_string(i)), i);
  for (uint32_t i = 0; i < 100'000; ++i) {
    ASSERT_EQ(counter.add(std::to_string(i)), i);
    ASSERT_EQ(counter.word(i), std::to_string(i));
    ASSERT_EQ(counter.count_of(i), 0u);
  }
}

TEST(WordCounter, ZeroBytesAndLengthsAreToldApart) {
  WordCounter counter;
  using namespace std::string_literals;
  const std::vector<std::string> words{"a",
                                       "a\0"s,
                                       "a\0\0"s,
                                       "\0a"s,
                                       std::string(15, 'x'),
                                       std::string(16, 'x'),
                                       std::string(17, 'x'),
                                       std::string(1'000'000, 'x')};
  for (uint32_t i = 0; i < words.size(); ++i) EXPECT_EQ(counter.add(words[i]), i);
  for (uint32_t i = 0; i < words.size(); ++i) EXPECT_EQ(counter.add(words[i]), i);
  for (uint32_t i = 0; i < words.size(); ++i) EXPECT_EQ(counter.word(i), words[i]);
}

}  // namespace
}  // namespace kith
