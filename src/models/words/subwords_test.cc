// SPDX-License-Identifier: Apache-2.0
#include "models/words/subwords.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "io/fasttext_bin.h"

namespace kith::words {
namespace {

Names names_of(std::initializer_list<std::string_view> words) {
  Names out;
  for (const auto word : words) out.add(word);
  return out;
}

constexpr SubwordSettings kHashed{3, 4, 1000}, kOwn{3, 4, 0};

TEST(Subwords, AWordIsItselfAndItsParts) {
  for (const auto& settings : {kHashed, kOwn}) {
    const Names words = names_of({"cat", "a"});
    const Subwords parts(settings, words, {});
    EXPECT_EQ(parts.size(), 6u);  // <ca cat at> <cat cat>; <a>
    const Bags bags = parts.bags(words);
    EXPECT_EQ(bags.longest, 6u);
    ASSERT_EQ(bags.of(0).size(), 6u);
    EXPECT_EQ(bags.of(0)[0], 0u);
    EXPECT_EQ(bags.of(1)[0], 1u);
    for (const uint32_t row : bags.of(0).subspan(1)) {
      EXPECT_GE(row, 2u);
      EXPECT_LT(row, 8u);
    }
  }
}

TEST(Subwords, WordsThatAreSpelledAlikeShareRows) {
  for (const auto& settings : {kHashed, kOwn}) {
    const Names words = names_of({"walking", "talking"});
    const Bags bags = Subwords(settings, words, {}).bags(words);
    const auto a = bags.of(0), b = bags.of(1);
    const auto shared = std::ranges::count_if(
        a, [&](uint32_t row) { return std::ranges::find(b, row) != b.end(); });
    EXPECT_EQ(shared, 9);  // alk lki kin ing ng> and alki lkin king ing>
  }
}

TEST(Subwords, BucketsAreThoseOfFastText) {
  const Subwords parts(kHashed, names_of({"cat"}), {});
  std::vector<uint32_t> expected;
  for (const auto part : {"<ca", "cat", "at>", "<cat", "cat>"}) {
    expected.push_back(fasttext_hash(part) % 1000);
  }
  std::ranges::sort(expected);
  EXPECT_TRUE(std::ranges::equal(parts.buckets(), expected));
}

TEST(Subwords, PartsThatNobodyHasSeenHaveNoRow) {
  for (const auto& settings : {kHashed, kOwn}) {
    const Subwords parts(settings, names_of({"cat"}), {});
    const auto rows = parts.rows_of("cab");  // <ca cab ab> <cab cab>
    ASSERT_EQ(rows.size(), 5u);
    EXPECT_EQ(std::ranges::count_if(rows, [](const auto& r) { return r.has_value(); }), 1);
    EXPECT_TRUE(rows[0].has_value());
  }
}

TEST(Subwords, TheEndOfALineHasNone) {
  EXPECT_TRUE(Subwords(kHashed, names_of({"</s>"}), {}).rows_of("</s>").empty());
}

TEST(Subwords, AListThatGrowsFindsWhatItHad) {
  for (const auto& settings : {kHashed, kOwn}) {
    const Names words = names_of({"cat", "dog"});
    const Subwords before(settings, words, {});
    const Subwords after(settings, names_of({"cat", "zebra"}), before);
    EXPECT_GT(after.size(), before.size());
    const auto old = before.rows_of("dog"), now = after.rows_of("dog");
    for (size_t i = 0; i < old.size(); ++i) {
      EXPECT_TRUE(now[i]) << "dog is no word of the longer list, its parts stay";
      EXPECT_EQ(after.find(before, *old[i]), now[i]);
    }
  }
}

}  // namespace
}  // namespace kith::words
