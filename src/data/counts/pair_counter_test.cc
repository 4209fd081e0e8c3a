// SPDX-License-Identifier: Apache-2.0
#include "data/counts/pair_counter.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "core/rng.h"
#include "data/test_files.h"

namespace kith {
namespace {

using Cells = std::map<std::pair<std::string, std::string>, double>;

// Lines of `longest` words at most, of a vocabulary with a long tail.
std::string random_text(size_t words, uint32_t longest, uint32_t vocabulary, uint64_t seed = 1) {
  Rng rng(seed, 0);
  std::string out;
  while (words > 0) {
    const size_t line = std::min<size_t>(words, 1 + rng.below(longest));
    for (size_t i = 0; i < line; ++i) {
      const float u = rng.uniform();
      out +=
          "w" + std::to_string(static_cast<uint32_t>(static_cast<float>(vocabulary) * u * u)) + " ";
    }
    out += "\n";
    words -= line;
  }
  return out;
}

// As the definition says it, pair by pair.
Cells plain_cells(const Lines& lines, const CountOptions& o) {
  Cells out;
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      for (size_t j = 0; j < line.size(); ++j) {
        const size_t d = i < j ? j - i : i - j;
        if (d == 0) continue;
        if (o.direction == CountDirection::kLeft && j > i) continue;
        if (o.direction == CountDirection::kRight && j < i) continue;
        double weight = 1;
        if (o.within == CountWithin::kWindow) {
          const auto n = static_cast<size_t>(o.window);
          if (d > n) continue;
          if (o.weight == CountWeight::kHarmonic) weight = 1 / static_cast<double>(d);
          if (o.weight == CountWeight::kLinear) {
            weight = static_cast<double>(n - d + 1) / static_cast<double>(n);
          }
        } else if (i / kLongestLine != j / kLongestLine) {
          continue;
        }
        out[{line[i], line[j]}] += weight;
      }
    }
  }
  return out;
}

class PairCounter : public testing::Test {
 protected:
  Corpus corpus_of(const std::string& text) {
    CorpusOptions options;
    options.min_count = 1;
    options.holdout = 0;
    return Corpus::read({folder_.write("a.txt", text)}, options, folder_.path());
  }
  Sparse count(const Corpus& corpus, const CountOptions& options, int threads = 1) {
    return count_pairs(corpus, options, folder_.path(), Context(threads));
  }
  static Cells named(const Corpus& corpus, const Sparse& cells) {
    Cells out;
    const Names& words = corpus.vocabulary().words;
    for (uint32_t r = 0; r < cells.rows(); ++r) {
      const Sparse::Row row = cells.row(r);
      for (size_t k = 0; k < row.size(); ++k) {
        EXPECT_TRUE(k == 0 || row.columns[k - 1] < row.columns[k]) << "columns do not rise";
        out[{std::string(words[r]), std::string(words[row.columns[k]])}] = double{row.values[k]};
      }
    }
    return out;
  }
  void expect_plain(const std::string& text, const CountOptions& options) {
    const Corpus corpus = corpus_of(text);
    const Cells found = named(corpus, count(corpus, options));
    const Cells wanted = plain_cells(plain_lines(text), options);
    ASSERT_EQ(found.size(), wanted.size());
    // Weights are multiples of 2^-20, counts floats.
    for (const auto& [pair, n] : wanted) EXPECT_NEAR(found.at(pair), n, 1e-6 * (1 + n) * 8);
  }
  TestFolder folder_;
};

TEST_F(PairCounter, CountsWhatTheDefinitionSays) {
  const std::string text = random_text(3000, 40, 150);
  for (const int window : {1, 2, 7, 50}) expect_plain(text, {.window = window});
  for (const auto direction : {CountDirection::kLeft, CountDirection::kRight}) {
    expect_plain(text, {.window = 5, .direction = direction});
  }
  for (const auto weight : {CountWeight::kLinear, CountWeight::kFlat}) {
    expect_plain(text, {.window = 5, .weight = weight});
  }
  expect_plain(text, {.within = CountWithin::kLine});
}

TEST_F(PairCounter, CountsLongLinesInPieces) {
  expect_plain(random_text(1500, 1, 30) + random_text(2500, 5000, 30),
               {.within = CountWithin::kLine});
  std::string one_line;
  for (int i = 0; i < 2300; ++i) one_line += "w" + std::to_string(i % 13) + " ";
  expect_plain(one_line, {.within = CountWithin::kLine});
}

TEST_F(PairCounter, AWordBesideItselfIsTwoPairs) {
  const Corpus corpus = corpus_of("a a b\n");
  const Cells found = named(corpus, count(corpus, {.window = 1}));
  EXPECT_EQ(found, (Cells{{{"a", "a"}, 2}, {{"a", "b"}, 1}, {{"b", "a"}, 1}}));
}

TEST_F(PairCounter, NothingStandsTogetherOnLinesOfOneWord) {
  const Corpus corpus = corpus_of("a\nb\na\nb\n");
  EXPECT_EQ(count(corpus, {}).size(), 0u);
}

// Shards of a million positions meet inside lines, events go to disk, sums are added up again.
TEST_F(PairCounter, IsTheSameForAnyThreadsAndAnyMemory) {
  const Corpus corpus = corpus_of(random_text(1'100'000, 3'000'000, 3000, 7));
  ASSERT_GT(corpus.length(), 1u << 20);
  const CountOptions options{.window = 2};
  const Sparse one = count(corpus, options);
  const auto expect_same = [&](const Sparse& other, const char* what) {
    EXPECT_EQ(one.offsets, other.offsets) << what;
    EXPECT_EQ(one.column, other.column) << what;
    EXPECT_EQ(one.value, other.value) << what;
  };
  expect_same(count(corpus, options, 3), "three threads");
  expect_same(count(corpus, {.window = 2, .count_memory = 16}), "little memory");
  expect_same(count(corpus, {.window = 2, .count_memory = 16}, 2), "little memory, two threads");
  // One line: every position has all its neighbours, whatever shard they are in.
  double total = 0;
  for (const float v : one.value) total += double{v};
  double wanted = 0;
  for (int d = 1; d <= 2; ++d) {
    wanted += 2.0 / d * static_cast<double>(corpus.words() - static_cast<uint64_t>(d));
  }
  EXPECT_NEAR(total / wanted, 1, 1e-5);
}

TEST_F(PairCounter, StopsWhenItIsCancelled) {
  const Corpus corpus = corpus_of(random_text(1000, 40, 150));
  Context context(1);
  context.cancel();
  message_of(ErrorKind::kCancelled, [&] { count_pairs(corpus, {}, folder_.path(), context); });
}

TEST_F(PairCounter, TellsHowFarItIs) {
  const Corpus corpus = corpus_of(random_text(1000, 40, 150));
  std::vector<double> shares;
  count_pairs(corpus, {}, folder_.path(), Context(1), [&](double s) { shares.push_back(s); });
  ASSERT_FALSE(shares.empty());
  EXPECT_EQ(shares.front(), 0);
}

}  // namespace
}  // namespace kith
