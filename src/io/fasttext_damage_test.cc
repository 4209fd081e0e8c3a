// SPDX-License-Identifier: Apache-2.0
// Models of fastText that are cut off, damaged or contradict themselves.

#include <cmath>
#include <limits>

#include "core/error.h"
#include "io/test_fasttext.h"

namespace kith {
namespace {

using namespace kith::testing;  // NOLINT(google-build-using-namespace)

TEST(FastTextBin, EveryTruncationIsRefused) {
  const TempFolder folder;
  const std::string whole[] = {std::string(kOfFastText), quantised(true, true, true),
                               written(sample(Kind::kSupervised, Loss::kOva))};
  for (const std::string& bytes : whole) {
    for (size_t n = 0; n < bytes.size(); ++n) {
      const auto failure =
          failure_of([&] { read_fasttext_bin(put(folder / "cut.bin", bytes.substr(0, n))); });
      EXPECT_EQ(failure.kind, ErrorKind::kInput) << n << ": " << failure.message;
      EXPECT_TRUE(contains(failure.message, "cut.bin: ")) << n << ": " << failure.message;
      if (n < 4 || n % 9 != 0) continue;  // a size that nobody knows
      EXPECT_FAILURE(read_fasttext_bin(put(folder / "cut.bin", gzip(bytes.substr(0, n)))),
                     ErrorKind::kInput, "cut off");
    }
    EXPECT_FAILURE(read_bytes(bytes + '\0'), ErrorKind::kInput, "bytes follow the end");
    EXPECT_FAILURE(read_bytes(gzip(bytes + "\n")), ErrorKind::kInput, "bytes follow the end");
  }
}

TEST(FastTextBin, EveryFlippedBitIsReadOrRefused) {
  const TempFolder folder;
  size_t read = 0, refused = 0;
  for (const std::string& bytes : {std::string(kOfFastText), quantised(true, true, true)}) {
    for (size_t bit = 0; bit < 8 * bytes.size(); bit += bit < 8 * 400 ? 1 : 97) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      try {
        expect_sound(read_fasttext_bin(put(folder / "f", flipped)));
        ++read;
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::kInput) << e.what();
        EXPECT_FALSE(contains(e.what(), "\n")) << e.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(read, 0u);
  EXPECT_GT(refused, 0u);
}

TEST(FastTextBin, WhatContradictsItselfIsRefused) {
  const auto refused = [](const std::string& bytes, std::string_view part) {
    EXPECT_FAILURE(read_bytes(bytes), ErrorKind::kInput, part);
    EXPECT_FAILURE(read_bytes(gzip(bytes)), ErrorKind::kInput, part);
  };
  const std::string_view good = kOfFastText;
  refused("2 3\na 1 2 3\n", "not a fastText model");
  refused(with(good, 4, 10), "version 10");
  refused(with(good, 4, 13), "version 13");
  refused(with(good, kDim, 0), "the dimension must be from 1 to 1048576; found 0");
  refused(with(good, kDim, 3), "must have 5 x 3 values");
  refused(with(good, kDim, 1 << 21), "found 2097152");
  refused(with(good, kLoss, 5), "the loss must be from 1 to 4; found 5");
  refused(with(good, kKind, 0), "the kind of model must be from 1 to 3; found 0");
  refused(with(good, kBuckets, -1), "the number of buckets must be from 0");
  refused(with(good, kBuckets, 0), "no buckets for them");
  refused(with(good, kMinN, -3), "found -3");
  refused(with(good, 56, std::nan("")), "the sampling threshold");
  refused(with(good, kTokens, int64_t{-1}), "the number of tokens");
  refused(with(good, kEntries, 5), "5 entries with 3 words and 1 labels");
  refused(with(with(good, kEntries, 1), kWords, 0), "1 entries with 0 words and 1 labels");
  refused(with(with(good, kWords, 6), kWords + 4, -2), "6 words and -2 labels");
  refused(with(with(good, kWords, 2), kWords + 4, 2), "\"</s>\", must be a label");
  refused(with(good, kCount, int64_t{-2}), "entry 1 of the dictionary, \"a\"");
  refused(with(good, kType, uint8_t{1}), "must be a word with a count; found type 1");
  refused(with(good, kPruned, int64_t{-2}), "-2 buckets");
  refused(with(good, kInputFlag, uint8_t{2}), "must be 0 or 1; found 2");
  refused(with(good, kInputRows, int64_t{4}), "must have 5 x 2 values");
  refused(with(good, kInputCols, int64_t{-2}), "found 5 x -2");
  refused(with(good, kInput + 8, std::nanf("")), "row 2 of the input table");
  refused(with(good, kInput + 12, std::numeric_limits<float>::infinity()), "not finite");
  refused(with(good, kOutputFlag, uint8_t{7}), "whether the output is quantised");
  refused(with(good, kOutputRows, int64_t{4}), "the output table must have 3 x 2 values");
  refused(with(good, kNames, 'a') + std::string(70'000, 'a'), "bytes follow");
  refused(std::string(good.substr(0, kNames)) + std::string(70'000, 'a'), "does not end within");
}

TEST(FastTextBin, ClaimsCostNothing) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  // As many entries, buckets, rows and codes as can be said; no memory for them is asked for.
  std::string entries = with(with(kOfFastText, kEntries, kMost), kWords, kMost);
  entries = with(entries, kWords + 4, 0);
  std::string rows = with(with(kOfFastText, kBuckets, kMost - 3), kInputRows, int64_t{kMost});
  std::string wide = with(with(rows, kDim, 1 << 20), kInputCols, int64_t{1} << 20);
  std::string pruned = with(kOfFastText, kPruned, std::numeric_limits<int64_t>::max());
  std::string codes = quantised(false, false, false);
  const size_t size_of_codes = codes_in(codes);
  codes = with(codes, size_of_codes, kMost);
  for (const std::string& bytes : {entries, rows, wide, pruned, codes}) {
    EXPECT_FAILURE(read_bytes(bytes), ErrorKind::kInput, "claims");
    EXPECT_FAILURE(read_bytes(gzip(bytes)), ErrorKind::kInput, "f.bin: ");
  }
  EXPECT_FAILURE(read_bytes(with(codes, size_of_codes, -1)), ErrorKind::kInput, "-1 bytes");
}

TEST(FastTextBin, CodesMustFitTheirTable) {
  const std::string good = quantised(false, false, false);
  const size_t codes = codes_in(good);
  const size_t book = codes + 4 + 14;
  EXPECT_FAILURE(read_bytes(with(good, book, 4)), ErrorKind::kInput, "codes for 4 values");
  EXPECT_FAILURE(read_bytes(with(good, book + 4, 3)), ErrorKind::kInput, "in 3 parts");
  EXPECT_FAILURE(read_bytes(with(good, book + 8, 0)), ErrorKind::kInput, "of 0");
  EXPECT_FAILURE(read_bytes(with(good, book + 12, 2)), ErrorKind::kInput, "the last of 2");
  std::string one_part = with(with(with(good, book + 4, 1), book + 8, 3), book + 12, 3);
  EXPECT_FAILURE(read_bytes(one_part), ErrorKind::kInput, "14 bytes of codes for 7 rows of 1");
  std::string short_codes = with(good, codes, 13);
  short_codes.erase(codes + 4, 1);
  EXPECT_FAILURE(read_bytes(short_codes), ErrorKind::kInput, "13 bytes of codes");
  // The last centroid of all is that of no code, so it may be anything.
  const size_t last = book + 16 + (3 * 256 - 1) * 4;
  EXPECT_EQ(read_bytes(with(good, last, std::nanf(""))).input.rows(), 7u);
  EXPECT_FAILURE(read_bytes(with(good, book + 16 + 200 * 8, std::nanf(""))), ErrorKind::kInput,
                 "row 1 of the input table");
}

TEST(FastTextBin, PartsOfCodesHaveALimit) {
  FastTextFile f = sample(Kind::kSupervised, Loss::kSoftmax, 3, 65);
  std::string bytes = written(f);
  bytes.resize(bytes.size() - 1 - 16 - 7 * 260 - 1 - 16 - 2 * 260);
  bytes += "\1" + bytes_of_number(false) + bytes_of_number(int64_t{7}) +
           bytes_of_number(int64_t{65}) + bytes_of_number(7) + std::string(7, '\3');
  bytes += codebook(65, 65, std::vector<float>(65 * 256));
  EXPECT_FAILURE(read_bytes(bytes), ErrorKind::kInput, "parts of at most 64");
}

TEST(FastTextBin, PrunedBucketsPointIntoTheTable) {
  const std::string good = quantised(true, false, true);
  const size_t pairs = good.find(bytes_of_number(3) + bytes_of_number(0) + bytes_of_number(1));
  ASSERT_NE(pairs, std::string::npos);
  EXPECT_EQ(read_bytes(good).input_rows(), 5u);
  EXPECT_FAILURE(read_bytes(with(good, pairs, 4)), ErrorKind::kInput, "bucket 4 of 4");
  EXPECT_FAILURE(read_bytes(with(good, pairs, -1)), ErrorKind::kInput, "bucket -1");
  EXPECT_FAILURE(read_bytes(with(good, pairs, 1)), ErrorKind::kInput, "bucket 1 has two rows");
  EXPECT_FAILURE(read_bytes(with(good, pairs + 4, 2)), ErrorKind::kInput, "row 2 of 2");
  EXPECT_FAILURE(read_bytes(with(good, pairs + 4, -1)), ErrorKind::kInput, "row -1 of 2");
  EXPECT_FAILURE(read_bytes(with(good, pairs + 4, 1)), ErrorKind::kInput, "row 1 of 2");
  EXPECT_FAILURE(read_bytes(with(good, kPruned, int64_t{0})), ErrorKind::kInput, "");
  // Files of tables that are not quantised never are, and fastText refuses them as well.
  EXPECT_FAILURE(read_bytes(with(kOfFastText, kPruned, int64_t{0})), ErrorKind::kInput,
                 "not quantised");
  const TempFolder folder;
  EXPECT_FAILURE(write_fasttext_bin(folder / "f", read_bytes(good)), ErrorKind::kInput,
                 "only some buckets");
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace kith
