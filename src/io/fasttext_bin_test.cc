// SPDX-License-Identifier: Apache-2.0
#include "io/fasttext_bin.h"

#include <cmath>
#include <limits>

#include "core/error.h"
#include "io/test_fasttext.h"

namespace kith {
namespace {

using namespace kith::testing;  // NOLINT(google-build-using-namespace)

TEST(FastTextBin, TheHashTakesBytesWithTheirSign) {
  // 32-bit FNV-1a where there is no sign; else as fastText's own files have it.
  EXPECT_EQ(fasttext_hash(""), 0x811c9dc5u);
  EXPECT_EQ(fasttext_hash("a"), 0xe40c292cu);
  EXPECT_EQ(fasttext_hash("<wh"), 0x3e79c4e4u);
  EXPECT_EQ(fasttext_hash("<été"), 0x3d286d61u);
  EXPECT_EQ(fasttext_hash("日本"), 0xf8378251u);
}

TEST(FastTextBin, AFileOfFastTextIsReadAndWrittenAgainToTheByte) {
  EXPECT_TRUE(is_fasttext_bin(kOfFastText));
  const FastTextFile f = read_bytes(kOfFastText);
  EXPECT_EQ(std::tuple(f.dim, f.window, f.epochs, f.min_count, f.negatives, f.word_ngrams),
            std::tuple(2, 5, 1, 1, 5, 1));
  EXPECT_EQ(std::tuple(f.loss, f.kind, f.buckets, f.min_n, f.max_n, f.lr_update_rate, f.sample),
            std::tuple(Loss::kNs, Kind::kCbow, 2, 1, 2, 100, 1e-4));
  EXPECT_EQ(f.tokens, 5);
  ASSERT_EQ(f.words.size(), 3u);
  EXPECT_EQ(f.words[1], "été");
  EXPECT_EQ(f.counts, (std::vector<uint64_t>{2, 1, 1}));
  ASSERT_EQ(f.labels.size(), 1u);
  EXPECT_EQ(f.labels[0], "__label__x");
  EXPECT_EQ(f.label_counts, std::vector<uint64_t>{1});
  EXPECT_FALSE(f.pruned || f.quantised);
  EXPECT_EQ(f.input.rows(), 5u);
  EXPECT_EQ(f.output.rows(), 3u);

  // `fasttext print-word-vectors` says 0.11649 0.20152 for été, the mean of its row and its
  // n-grams.
  float sum[2] = {f.input.row(1)[0], f.input.row(1)[1]};
  const auto grams = {"<é", "é", "ét", "t", "té", "é", "é>"};
  for (const std::string_view gram : grams) {
    const auto row = f.input.row(f.words.size() + fasttext_hash(gram) % 2);
    sum[0] += row[0], sum[1] += row[1];
  }
  EXPECT_NEAR(sum[0] / 8, 0.11649f, 5e-6f);  // five digits are printed
  EXPECT_NEAR(sum[1] / 8, 0.20152f, 5e-6f);
  EXPECT_EQ(written(f), kOfFastText);
}

TEST(FastTextBin, EveryKindAndLossComesBackToTheBit) {
  for (const Kind kind : {Kind::kCbow, Kind::kSkipGram, Kind::kSupervised}) {
    for (const Loss loss : {Loss::kHs, Loss::kNs, Loss::kSoftmax, Loss::kOva}) {
      const FastTextFile f = sample(kind, loss);
      const std::string bytes = written(f);
      const FastTextFile again = read_bytes(bytes);
      expect_equal(again, f);
      EXPECT_EQ(written(again), bytes);
    }
  }
}

TEST(FastTextBin, PackedFilesAreReadAsWell) {
  // More rows than a chunk of 2^20 padded floats holds.
  const FastTextFile f = sample(Kind::kSkipGram, Loss::kNs, 70'000, 2);
  const std::string bytes = written(f);
  for (const std::string& packed : {gzip(bytes), zstd(bytes), xz(bytes), bzip2(bytes)}) {
    expect_equal(read_bytes(packed), f);
  }
  expect_equal(read_bytes(gzip(kOfFastText)), read_bytes(kOfFastText));
}

TEST(FastTextBin, QuantisedTablesBecomeRows) {
  const FastTextFile plain = read_bytes(quantised(false, false, false));
  EXPECT_TRUE(plain.quantised);
  EXPECT_FALSE(plain.pruned);
  ASSERT_EQ(plain.input.rows(), 7u);
  for (size_t r = 0; r < 7; ++r) {
    const auto x = static_cast<float>(r);
    EXPECT_EQ(std::vector(plain.input.row(r).begin(), plain.input.row(r).end()),
              (std::vector<float>{200 + x, 200.5f + x, -x}));
  }
  ASSERT_EQ(plain.output.rows(), 3u);
  EXPECT_EQ(plain.output.row(2)[1], 8);

  const FastTextFile scaled = read_bytes(gzip(quantised(true, true, true)));
  ASSERT_EQ(scaled.input.rows(), 5u);
  const float norm = 251.0f / 256;
  EXPECT_EQ(std::vector(scaled.input.row(4).begin(), scaled.input.row(4).end()),
            (std::vector<float>{204 * norm, 204.5f * norm, -4 * norm}));
  ASSERT_EQ(scaled.output.rows(), 3u);
  EXPECT_EQ(scaled.output.row(1)[1], 201.5f);
  EXPECT_EQ(*scaled.pruned, (std::vector<std::pair<int32_t, int32_t>>{{3, 0}, {1, 1}}));
}

TEST(FastTextBin, ClassifiersOfVersion11HaveNoNgramsOfLetters) {
  for (const Kind kind : {Kind::kSkipGram, Kind::kSupervised}) {
    const std::string old = with(written(sample(kind, Loss::kNs)), 4, 11);
    EXPECT_EQ(read_bytes(old).max_n, kind == Kind::kSupervised ? 0 : 6);
  }
}

TEST(FastTextBin, NamesAreRepairedAndThoseThatStandTwiceKeepTheirFirstRow) {
  // Words 0, 2 and 3 become the same; labels keep their own count of rows.
  const auto spoiled = [](Kind kind, Loss loss) {
    std::string bytes = written(sample(kind, loss));
    for (const char digit : {'0', '2', '3'}) {
      const size_t at = bytes.find(std::string("w") + digit + '\0');
      bytes[at + 1] = static_cast<char>(0xf0 + digit % 8);
    }
    return bytes;
  };
  ReadReport report{};
  const FastTextFile f = read_bytes(spoiled(Kind::kSkipGram, Loss::kNs), &report);
  const FastTextFile whole = sample(Kind::kSkipGram, Loss::kNs);
  EXPECT_EQ(report.invalid_utf8, 3u);
  EXPECT_EQ(report.duplicates, 2u);
  expect_sound(f);
  ASSERT_EQ(f.words.size(), 3u);
  EXPECT_EQ(f.words[0], "w\ufffd");
  EXPECT_EQ(f.words[2], "w4");
  EXPECT_EQ(f.counts, (std::vector<uint64_t>{whole.counts[0], whole.counts[1], whole.counts[4]}));
  const size_t from[] = {0, 1, 4, 5, 6, 7, 8};  // words, then buckets
  for (size_t r = 0; r < std::size(from); ++r) {
    EXPECT_EQ(f.input.row(r)[2], whole.input.row(from[r])[2]) << r;
  }
  for (size_t r = 0; r < 3; ++r) EXPECT_EQ(f.output.row(r)[1], whole.output.row(from[r])[1]) << r;

  // The tree of hierarchical softmax has no row of its own for each name.
  EXPECT_FAILURE(read_bytes(spoiled(Kind::kCbow, Loss::kHs)), ErrorKind::kInput,
                 "hierarchical softmax");
  expect_sound(read_bytes(spoiled(Kind::kSupervised, Loss::kHs), &report));
}

TEST(FastTextBin, WhatFastTextCouldNotReadIsNotWritten) {
  const TempFolder folder;
  const auto refused = [&](ErrorKind kind, std::string_view part, auto change) {
    FastTextFile f = sample(Kind::kSkipGram, Loss::kNs);
    change(f);
    EXPECT_FAILURE(write_fasttext_bin(folder / "f", f), kind, part);
  };
  const float bad = std::numeric_limits<float>::infinity();
  refused(ErrorKind::kInput, "row 9 of the input table", [&](auto& f) { f.input.row(8)[2] = bad; });
  refused(ErrorKind::kInput, "row 1 of the output", [&](auto& f) { f.output.row(0)[0] = -bad; });
  refused(ErrorKind::kInput, "the dimension", [](auto& f) { f.dim = -1; });
  refused(ErrorKind::kInput, "the sampling", [](auto& f) { f.sample = std::nan(""); });
  refused(ErrorKind::kInput, "zero byte", [](auto& f) {
    f.labels.add("a\0b"sv);
    f.label_counts.push_back(1);
  });
  refused(ErrorKind::kInput, "at least one word", [](auto& f) { f.words = Names(); });
  refused(ErrorKind::kUsage, "4 counts", [](auto& f) { f.counts.pop_back(); });
  refused(ErrorKind::kUsage, "1 counts", [](auto& f) { f.label_counts.pop_back(); });
  refused(ErrorKind::kUsage, "5 buckets", [](auto& f) { ++f.buckets; });
  refused(ErrorKind::kUsage, "4 dimensions", [](auto& f) { ++f.dim; });
  refused(ErrorKind::kUsage, "an output of 5", [](auto& f) { f.kind = Kind::kSupervised; });
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace kith
