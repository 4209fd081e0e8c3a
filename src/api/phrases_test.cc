// SPDX-License-Identifier: Apache-2.0
#include "kith/phrases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "api/phrase_pairs.h"
#include "api/test_models.h"

namespace kith::test {
namespace {

struct Joined {
  std::string text;
  PhrasesFound found;
};
Joined joined(const std::string& text, PhraseOptions options, Observer* observer = nullptr) {
  const TestFolder folder;
  const std::string output = folder.path() + "/out.txt";
  const Context context(1);
  PhrasesFound found =
      join_phrases({folder.write("in.txt", text)}, output, options, context, observer);
  return {bytes_of(output), std::move(found)};
}

// "new york" in one line of three, and words that fall as they may.
std::string planted(size_t lines = 600) {
  std::string out;
  Rng rng(1, 0);
  for (size_t i = 0; i < lines; ++i) {
    for (int k = 0; k < 6; ++k) out += fmt::format("w{} ", rng.below(12));
    // A word of chance before each, so that none belongs to the one before it.
    if (i % 3 == 0) out += fmt::format("new york w{} ", rng.below(12));
    if (i % 7 == 0) out += fmt::format("state of the art w{} ", rng.below(12));
    if (i % 5 == 0) out += fmt::format("new w{} w{} york ", rng.below(12), rng.below(12));
    out.back() = '\n';
  }
  return out;
}

std::set<std::string> names(const PhrasesFound& found) {
  std::set<std::string> out;
  for (const Phrase& p : found.best) out.insert(p.text);
  return out;
}

TEST(Phrases, TheFormulas) {
  // 7 words; a: 3, b: 2, c: 1, d: 1; the pairs a b (twice), b a, b c, and no d over the line.
  const std::string text = "a b a b c\nd a\n";
  const PhrasesFound word2phrase =
      joined(text,
             {.score = PhraseScore::kWord2phrase, .threshold = -10, .min_count = 1, .delta = 0.5})
          .found;
  const PhrasesFound npmi = joined(text, {.threshold = -2, .min_count = 1}).found;
  EXPECT_EQ(word2phrase.words, 7u);
  EXPECT_EQ(word2phrase.lines, 2u);
  const std::map<std::string, std::array<double, 3>> counts{
      {"a_b", {3, 2, 2}}, {"b_a", {2, 3, 1}}, {"b_c", {2, 1, 1}}, {"d_a", {1, 3, 1}}};
  ASSERT_EQ(word2phrase.best.size(), counts.size());
  ASSERT_EQ(npmi.best.size(), counts.size());
  for (const Phrase& p : word2phrase.best) {
    const auto [a, b, ab] = counts.at(p.text);
    EXPECT_DOUBLE_EQ(p.score, (ab - 0.5) * 7 / (a * b)) << p.text;
    EXPECT_EQ(p.count, static_cast<uint64_t>(ab)) << p.text;
  }
  for (const Phrase& p : npmi.best) {
    const auto [a, b, ab] = counts.at(p.text);
    EXPECT_NEAR(p.score, std::log(ab / 7 / (a / 7 * b / 7)) / -std::log(ab / 7), 1e-12) << p.text;
  }
  for (const PhrasesFound* found : {&word2phrase, &npmi}) {
    for (size_t i = 1; i < found->best.size(); ++i) {
      EXPECT_GE(found->best[i - 1].score, found->best[i].score);
    }
  }
}

TEST(Phrases, WhatWasPlantedIsFoundAndChanceIsNot) {
  for (const PhraseScore score : {PhraseScore::kNpmi, PhraseScore::kWord2phrase}) {
    const Joined done =
        joined(planted(), {.score = score, .threshold = score == PhraseScore::kNpmi ? 0.4 : 4});
    EXPECT_EQ(names(done.found),
              (std::set<std::string>{"new_york", "state_of", "of_the", "the_art"}));
    expect_part(" new_york", done.text);
    EXPECT_EQ(done.text.find("new york"), std::string::npos);
    expect_part("state_of the_art", done.text);
    expect_part("new w", done.text);
  }
}

TEST(Phrases, AnotherPassJoinsLongerOnes) {
  const Joined twice = joined(planted(), {.threshold = 0.4, .passes = 2});
  expect_part(" state_of_the_art", twice.text);
  EXPECT_TRUE(names(twice.found).contains("state_of_the_art"));
  for (const Phrase& p : twice.found.best) {
    EXPECT_EQ(p.pass, p.text == "state_of_the_art" ? 2 : 1) << p.text;
  }
  EXPECT_TRUE(joined(planted(), {.threshold = 0.4, .passes = 3}).text == twice.text);
}

TEST(Phrases, OfOverlappingPairsTheFirst) {
  const PhraseOptions all{.threshold = -2, .min_count = 1};
  EXPECT_EQ(joined("a b c d e\na a a\n", all).text, "a_b c_d e\na_a a\n");
}

TEST(Phrases, LittleMemoryGivesTheSame) {
  const Joined whole = joined(planted(), {.threshold = 0.1, .passes = 2, .top = 1000});
  ASSERT_GT(whole.found.phrases, 4u);
  for (const int64_t pairs : {20, 60}) {
    const Joined little =
        joined(planted(), {.threshold = 0.1, .passes = 2, .top = 1000, .pairs = pairs});
    EXPECT_TRUE(little.text == whole.text) << pairs;
    EXPECT_EQ(names(little.found), names(whole.found)) << pairs;
  }
}

TEST(Phrases, LinesStayLines) {
  const PhraseOptions none{.threshold = 1e6};
  for (const char* text : {"a b\n\n\nc\n", "\na\n", "a  b\n", "\n\n\na\n\n"}) {
    std::string wanted = text;
    if (const size_t two = wanted.find("  "); two != std::string::npos) wanted.erase(two, 1);
    EXPECT_EQ(joined(text, none).text, wanted);
  }
  EXPECT_EQ(joined("a b", none).text, "a b\n");  // a last line without an end
  EXPECT_EQ(joined("a b\n \t", none).text, "a b\n\n");
}

TEST(Phrases, SettingsMatter) {
  const auto count = [](const PhraseOptions& options) {
    return joined(planted(), options).found.phrases;
  };
  EXPECT_EQ(count({.threshold = 0.4, .min_count = 150}), 1u);
  EXPECT_EQ(count({.threshold = 0.4, .min_count = 1000}), 0u);
  EXPECT_EQ(count({.score = PhraseScore::kWord2phrase, .threshold = 4, .delta = 1e6}), 0u);
  EXPECT_EQ(joined("The cat, the cat.\n",
                   {.threshold = -2, .min_count = 1, .join = "+", .tokens = Tokens::kWords})
                .text,
            "the+cat the+cat\n");
  EXPECT_EQ(joined(planted(), {.threshold = 0.4, .top = 2}).found.best.size(), 2u);
  EXPECT_EQ(joined("caf\xe9 caf\xe9\n", {.threshold = 1e6, .encoding = TextEncoding::kLatin1}).text,
            "caf\xc3\xa9 caf\xc3\xa9\n");
}

TEST(Phrases, WhatIsRefused) {
  const TestFolder folder;
  const std::string text = folder.write("in.txt", "a b\n"), output = folder.path() + "/out.txt";
  const Context context(1);
  const auto run = [&](const std::vector<std::string>& sources, const std::string& to,
                       const PhraseOptions& options = {}) {
    join_phrases(sources, to, options, context);
  };
  expect_part("no words in it", input_error([&] { run({folder.write("e.txt", " \n")}, output); }));
  expect_part("is both read and written", usage_error([&] { run({text}, text); }));
  expect_part("nowhere.txt", io_error([&] { run({folder.path() + "/nowhere.txt"}, output); }));
  expect_part("--join", usage_error([&] { run({text}, output, {.join = " "}); }));
  expect_part("--join", usage_error([&] { run({text}, output, {.join = ""}); }));
  expect_part("name a file without that ending", usage_error([&] { run({text}, output + ".gz"); }));
  expect_part("--delta", usage_error([&] { run({text}, output, {.delta = 1}); }));
  expect_part("no text was given", usage_error([&] { run({}, output); }));
  EXPECT_FALSE(std::filesystem::exists(output));
  Context stopped(1);
  stopped.cancel();
  message_of(ErrorKind::kCancelled, [&] { join_phrases({text}, output, {}, stopped); });
  EXPECT_FALSE(std::filesystem::exists(output));
}

}  // namespace
}  // namespace kith::test
