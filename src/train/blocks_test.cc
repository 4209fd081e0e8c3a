// SPDX-License-Identifier: Apache-2.0
#include "train/blocks.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "train/test_corpus.h"

namespace kith {
namespace {

using Pairs = std::multiset<std::pair<uint32_t, uint32_t>>;

// All (centre, context) pairs within `reach`, block by block.
Pairs pairs_of(const Corpus& corpus, const Thinning& thinning, size_t reach, uint64_t block) {
  Pairs out;
  BlockReader reader(corpus, thinning, reach);
  uint64_t seen = 0;
  for (uint64_t begin = 0; begin < corpus.length(); begin += block) {
    const auto b = reader.read(3, begin, std::min(corpus.length(), begin + block));
    seen += b.seen;
    for (size_t c = b.begin; c < b.end; ++c) {
      if (b.words[c] == kSentenceEnd) continue;
      for (const int step : {-1, 1}) {
        size_t i = c;
        for (size_t d = 1; d <= reach; ++d) {
          if (step < 0 ? i == 0 : i + 1 == b.words.size()) break;
          i += static_cast<size_t>(step);
          if (b.words[i] == kSentenceEnd) break;
          out.emplace(row_of(b.words[c]), row_of(b.words[i]));
        }
      }
    }
  }
  EXPECT_EQ(seen, corpus.words()) << "every word is in one block";
  return out;
}

std::string distinct_words(size_t words, size_t line) {
  std::string text;
  for (size_t i = 0; i < words; ++i) {
    text += "w" + std::to_string(i) + ((i + 1) % line == 0 ? "\n" : " ");
  }
  return text;
}

TEST(BlockReader, NoPairIsLostOrDoubledWhereverBlocksAreCut) {
  for (const size_t line : {1, 3, 50, 100000}) {  // the last: no newline at all
    const Corpus corpus = corpus_of(distinct_words(700, line));
    const Thinning all(corpus.vocabulary().counts, 0, 1);
    const Pairs whole = pairs_of(corpus, all, 5, corpus.length());
    for (const uint64_t block : {1, 2, 7, 64, 301, 699}) {
      EXPECT_EQ(pairs_of(corpus, all, 5, block), whole) << line << " words a line, " << block;
    }
  }
}

TEST(BlockReader, BlocksAgreeAboutThinnedWordsAtTheirBorder) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += (i % 7 == 0 ? "w" + std::to_string(i) : "the") + " ";
  const Corpus corpus = corpus_of(text);
  const Thinning thinning(corpus.vocabulary().counts, 1e-3, 1);
  EXPECT_LT(thinning.probability(WordId{0}), 0.05);
  const Pairs whole = pairs_of(corpus, thinning, 5, corpus.length());
  for (const uint64_t block : {1, 10, 300}) {
    EXPECT_EQ(pairs_of(corpus, thinning, 5, block), whole) << block;
  }
}

TEST(Thinning, KeepsByTheRuleOfTheReferenceProgram) {
  const std::vector<uint64_t> counts{800000, 150000, 49990, 10};
  const double t = 1e-2;
  const Thinning thinning(counts, t, 7);
  for (uint32_t w = 0; w < 4; ++w) {
    const double f = static_cast<double>(counts[w]) / 1e6;
    const double expected = std::min(1.0, std::sqrt(t / f) + t / f);
    uint64_t kept = 0;
    constexpr uint64_t kTrials = 400000;
    for (uint64_t i = 0; i < kTrials; ++i) kept += thinning.keep(WordId{w}, i % 4, i);
    const double share = static_cast<double>(kept) / kTrials;
    // Five standard deviations.
    EXPECT_NEAR(share, expected, 5 * std::sqrt(expected * (1 - expected) / kTrials) + 1e-9) << w;
  }
}

TEST(Thinning, EpochsAndSeedsDiffer) {
  const std::vector<uint64_t> counts{500000, 500000};
  const Thinning a(counts, 0.05, 1), b(counts, 0.05, 2);
  int epochs_differ = 0, seeds_differ = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    epochs_differ += a.keep(WordId{0}, 0, i) != a.keep(WordId{0}, 1, i);
    seeds_differ += a.keep(WordId{0}, 0, i) != b.keep(WordId{0}, 0, i);
  }
  EXPECT_GT(epochs_differ, 200);
  EXPECT_GT(seeds_differ, 200);
}

TEST(Thinning, ThresholdZeroKeepsAll) {
  const Thinning thinning(std::vector<uint64_t>{1000000, 1}, 0, 1);
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_TRUE(thinning.keep(WordId{0}, 0, i));
}

}  // namespace
}  // namespace kith
