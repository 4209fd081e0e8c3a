// SPDX-License-Identifier: Apache-2.0
// The part of a text that is taken out: fixed, small, whole pieces, and nothing lost.
#include "data/holdout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "data/test_files.h"

namespace kith {
namespace {

uint64_t words_in(std::span<const WordId> ids) {
  return ids.size() - static_cast<uint64_t>(std::count(ids.begin(), ids.end(), kSentenceEnd));
}

struct Layout {
  size_t words;
  size_t line;  // words a line; random up to this when `vary`
  bool vary;
  size_t types;
};

std::string text_of(const Layout& layout, uint64_t seed) {
  Rng rng(seed, 0);
  std::string out;
  size_t left = 0;
  for (size_t i = 0; i < layout.words; ++i) {
    if (left == 0) {
      if (i > 0) out += '\n';
      left = layout.vary ? 1 + rng.below(static_cast<uint32_t>(layout.line)) : layout.line;
    }
    out += fmt::format("w{} ", rng.below(static_cast<uint32_t>(layout.types)));
    --left;
  }
  return out;
}

TEST(Holdout, NoWordIsLostInAnyLayout) {
  const TestFolder folder;
  uint64_t taken = 0;
  for (const size_t words : {100, 1999, 2000, 5000, 30'000, 300'000}) {
    for (const size_t line : {1, 2, 10, 999, 1000, 1001, 2000, 2500, 1'000'000}) {
      for (const std::optional<double> holdout :
           {std::optional<double>(), {0}, {1}, {150}, {0.2}}) {
        const std::string text = text_of({words, line, line == 10, 50}, words + line);
        const Corpus corpus = Corpus::read({folder.write("text", text)},
                                           {.min_count = 1, .holdout = holdout}, folder.path());
        const std::vector<WordId> stream = stream_of(corpus);
        const uint64_t held = words_in(corpus.held_out());
        ASSERT_EQ(corpus.counts().kept, words);
        ASSERT_EQ(words_in(stream), corpus.words());
        ASSERT_EQ(corpus.words() + held, words);
        ASSERT_LE(held, !holdout ? words / 100 : HoldOut::wanted(holdout, words, 0));
        ASSERT_TRUE(words >= 2000 || held == 0);
        // Each word is in one of the two as often as the vocabulary says.
        std::vector<uint64_t> counts(corpus.vocabulary().words.size());
        for (const auto& ids : {std::span<const WordId>(stream), corpus.held_out()}) {
          for (const WordId id : ids) {
            if (id != kSentenceEnd) ++counts.at(row_of(id));
          }
        }
        ASSERT_EQ(counts, corpus.vocabulary().counts);
        sentences_of(stream, corpus.vocabulary());  // checks the ends
        for (const auto& piece : sentences_of(corpus.held_out(), corpus.vocabulary())) {
          ASSERT_LE(piece.size(), 1000u);
        }
        taken += held;
      }
    }
  }
  EXPECT_GT(taken, 10'000u);
}

TEST(Holdout, TakesAboutWhatIsAllowed) {
  const TestFolder folder;
  for (const size_t line : {20, 1'000'000}) {
    const auto path = folder.write("text", text_of({500'000, line, false, 50}, 1));
    for (const std::optional<double> holdout : {std::optional<double>(), {1000}, {4000}, {0.1}}) {
      const Corpus corpus = Corpus::read({path}, {.holdout = holdout}, folder.path());
      const uint64_t most = HoldOut::wanted(holdout, 500'000, 5000);
      EXPECT_LE(words_in(corpus.held_out()), most);
      // A draw of at least four units on average: none at all has a chance of 2 %, by a fixed seed.
      EXPECT_GT(words_in(corpus.held_out()), 0u) << line << ' ' << holdout.value_or(-1);
    }
  }
}

TEST(Holdout, WholeLinesGoAndTheOthersStayInOrder) {
  const TestFolder folder;
  const std::string text = text_of({100'000, 20, true, 100}, 4);
  const Corpus corpus = Corpus::read({folder.write("text", text)}, {.min_count = 1}, folder.path());
  const Lines stream = sentences_of(stream_of(corpus), corpus.vocabulary());
  const Lines held = sentences_of(corpus.held_out(), corpus.vocabulary());
  ASSERT_GT(held.size(), 10u);
  size_t s = 0, h = 0;
  for (const auto& line : plain_lines(text)) {
    if (h < held.size() && line == held[h] && (s == stream.size() || line != stream[s])) {
      ++h;
    } else {
      ASSERT_LT(s, stream.size());
      ASSERT_EQ(line, stream[s++]);
    }
  }
  EXPECT_EQ(s, stream.size());
  EXPECT_EQ(h, held.size());
}

// One line in which every word is another, so each piece can be told from where it came.
TEST(Holdout, APieceOfALongLineLeavesASentenceEnd) {
  const TestFolder folder;
  std::string text;
  const int words = 400'000;
  for (int i = 0; i < words; ++i) text += fmt::format("{:06} ", i);
  const Corpus corpus = Corpus::read({folder.write("text", text)}, {.min_count = 1}, folder.path());
  std::vector<int> position;  // of each word of the vocabulary in the line
  for (size_t i = 0; i < corpus.vocabulary().words.size(); ++i) {
    position.push_back(std::stoi(std::string(corpus.vocabulary().words[i])));
  }
  std::vector<bool> seen(words);
  size_t pieces = 0;
  const auto check_runs = [&](std::span<const WordId> ids) {
    std::optional<int> before;
    for (const WordId id : ids) {
      if (id == kSentenceEnd) {
        ++pieces;
        before.reset();
        continue;
      }
      const int at = position.at(row_of(id));
      if (before) {
        ASSERT_EQ(at, *before + 1) << "neighbours that were none";
      }
      ASSERT_FALSE(seen[static_cast<size_t>(at)]);
      seen[static_cast<size_t>(at)] = true;
      before = at;
    }
  };
  check_runs(corpus.held_out());
  const size_t held = pieces;
  check_runs(stream_of(corpus));
  EXPECT_GE(held, 1u);
  EXPECT_LE(pieces, 2 * held + 1);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
}

}  // namespace
}  // namespace kith
