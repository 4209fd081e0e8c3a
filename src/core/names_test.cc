// SPDX-License-Identifier: Apache-2.0
#include "core/names.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/rng.h"

namespace kith {
namespace {

std::vector<uint64_t> offsets_of(const Names& names) {
  return {names.offsets().begin(), names.offsets().end()};
}

TEST(Names, KeepsNumbersThroughGrowth) {
  Names names;
  EXPECT_FALSE(names.find("x"));
  for (uint32_t i = 0; i < 20'000; ++i) ASSERT_EQ(names.add(fmt::format("name {}", i)), i);
  for (uint32_t i = 0; i < 20'000; ++i) {
    const std::string name = fmt::format("name {}", i);
    ASSERT_EQ(names.add(name), i) << "a name that is there is not added again";
    ASSERT_EQ(names.find(name), i);
    ASSERT_EQ(names[i], name);
  }
  EXPECT_EQ(names.size(), 20'000u);
  EXPECT_FALSE(names.find("name 20000"));
  EXPECT_FALSE(names.find(""));
}

TEST(Names, AnyBytesAreAName) {
  using namespace std::string_literals;
  const std::vector<std::string> all{"",     "a",        "a\0"s,
                                     "\0a"s, "\xFF\xFE", std::string(100'000, 'x')};
  Names names;
  for (uint32_t i = 0; i < all.size(); ++i) EXPECT_EQ(names.add(all[i]), i);
  for (uint32_t i = 0; i < all.size(); ++i) EXPECT_EQ(names.find(all[i]), i);
}

TEST(Names, SurvivesTheLayoutOfTheFile) {
  Names names;
  for (int i = 0; i < 1000; ++i) names.add(fmt::format("{}", i * i));
  const Names again = Names::from_parts(std::string(names.bytes()), offsets_of(names), "file");
  ASSERT_EQ(again.size(), names.size());
  for (uint32_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(again[i], names[i]);
    EXPECT_EQ(again.find(names[i]), i);
  }
  Names grown = Names::from_parts(std::string(names.bytes()), offsets_of(names), "file");
  for (uint32_t i = 0; i < 5000; ++i) ASSERT_EQ(grown.add(fmt::format("new {}", i)), 1000 + i);
  EXPECT_EQ(grown.find("961"), 31u);
  EXPECT_EQ(Names::from_parts("", {0}, "file").size(), 0u);
}

TEST(Names, RefusesPartsThatDoNotFit) {
  const auto error = [](std::string bytes, std::vector<uint64_t> offsets) {
    try {
      Names::from_parts(std::move(bytes), std::move(offsets), "words.kith");
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kInput);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  const std::string damaged =
      "words.kith: the offsets of the names do not fit their bytes; the file is damaged";
  EXPECT_EQ(error("abc", {}), damaged);
  EXPECT_EQ(error("abc", {0}), damaged);
  EXPECT_EQ(error("abc", {1, 3}), damaged);
  EXPECT_EQ(error("abc", {0, 2}), damaged);
  EXPECT_EQ(error("abc", {0, 4}), damaged);
  EXPECT_EQ(error("abc", {0, 2, 1, 3}), damaged);
  EXPECT_EQ(error("abc", {0, UINT64_MAX, 3}), damaged);
  EXPECT_EQ(error("abab", {0, 2, 4}), "words.kith: the name ab occurs twice");
  EXPECT_EQ(error("", {0, 0, 0}), "words.kith: the name  occurs twice");
  EXPECT_EQ(error("abc", {0, 0, 3}), "accepted");
}

// By its definition, without the table: the least over the first steps.
size_t naive_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const auto x = a.substr(1), y = b.substr(1);
  size_t best = std::min(
      {naive_distance(x, b) + 1, naive_distance(a, y) + 1, naive_distance(x, y) + (a[0] != b[0])});
  if (!x.empty() && !y.empty() && a[0] == b[1] && a[1] == b[0]) {
    best = std::min(best, naive_distance(a.substr(2), b.substr(2)) + 1);
  }
  return best;
}

TEST(EditDistance, EqualsItsDefinition) {
  Rng rng(1, 0);
  for (int i = 0; i < 300; ++i) {
    std::string a(rng.below(6), ' '), b(rng.below(6), ' ');
    for (char& c : a) c = static_cast<char>('a' + rng.below(3));
    for (char& c : b) c = static_cast<char>('a' + rng.below(3));
    EXPECT_EQ(edit_distance(a, b), naive_distance(a, b)) << a << ' ' << b;
  }
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("dmi", "dim"), 1u);
}

TEST(SimilarSpellings, NearestFirstThenMostFrequent) {
  Names names;
  for (const char* const name : {"the", "kind", "king", "kings", "queen", "sing", "elephant"}) {
    names.add(name);
  }
  using Found = std::vector<std::string>;
  EXPECT_EQ(similar_spellings("kng", names), (Found{"king"}));
  EXPECT_EQ(similar_spellings("kinf", names), (Found{"kind", "king"}));
  EXPECT_EQ(similar_spellings("ding", names), (Found{"king", "sing"}));
  EXPECT_EQ(similar_spellings("ding", names, 1), (Found{"king"}));
  EXPECT_EQ(similar_spellings("elefant", names), (Found{"elephant"}));
  EXPECT_EQ(similar_spellings("zzzzzz", names), Found{});
  EXPECT_EQ(similar_spellings("x", Names()), Found{});
}

TEST(BorrowedNames, AreFoundFewOrMany) {
  const auto store = std::make_shared<std::pair<std::string, std::vector<uint64_t>>>();
  store->second.push_back(0);
  for (int i = 0; i < 500; ++i) {
    store->first += fmt::format("n{}", i);
    store->second.push_back(store->first.size());
  }
  const Names names = Names::borrowed(store->first, store->second, store, "f");
  ASSERT_EQ(names.size(), 500u);
  for (int round = 0; round < 3; ++round) {  // by looking, then by the table
    for (uint32_t i = 0; i < 500; i += 7) {
      EXPECT_EQ(names.find(fmt::format("n{}", i)), i);
      EXPECT_EQ(names.find(fmt::format("m{}", i)), std::nullopt);
    }
  }
  Names more = names;  // to add to it, it must become its own
  EXPECT_EQ(more.add("n3"), 3u);
  EXPECT_EQ(more.add("new"), 500u);
  EXPECT_EQ(more.find("new"), 500u);
  EXPECT_EQ(names.size(), 500u);
  EXPECT_EQ(more[499], "n499");
}

TEST(BorrowedNames, AreCheckedBeforeTheyAreUsed) {
  const std::vector<uint64_t> beyond{0, 9}, falling{0, 2, 1, 3};
  EXPECT_THROW(Names::borrowed("abc", beyond, nullptr, "f"), Error);
  EXPECT_THROW(Names::borrowed("abc", falling, nullptr, "f"), Error);
  EXPECT_THROW(Names::borrowed("abc", {}, nullptr, "f"), Error);
}

TEST(BorrowedNames, ManyThreadsMayAskAtOnce) {
  std::string bytes;
  std::vector<uint64_t> offsets{0};
  for (int i = 0; i < 2000; ++i) {
    bytes += fmt::format("w{}", i);
    offsets.push_back(bytes.size());
  }
  const Names names = Names::borrowed(bytes, offsets, nullptr, "f");
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (uint32_t i = 0; i < 2000; i += 5) wrong += names.find(fmt::format("w{}", i)) != i;
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace kith
