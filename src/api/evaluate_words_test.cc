// SPDX-License-Identifier: Apache-2.0
// Vectors of words against questions with known answers, and pairs with human scores.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/test_models.h"
#include "eval/metrics.h"
#include "eval/question_files.h"
#include "io/test_files.h"
#include "kith/evaluate.h"

namespace kith::test {
namespace {

// Capital = country + (0, 0, 0, 1) with countries far apart; "paris" answers all but for rome's
// twin, which stands nearer to where rome should be.
const Model& capitals() {
  static const Model model = [] {
    const std::string path = shared_folder().path() + "/capitals.kith";
    import_vectors(shared_folder().write("capitals.txt",
                                         "france 1 0 0 0\n"
                                         "paris 1 0 0 1\n"
                                         "italy 0 1 0 0\n"
                                         "rome 0.1 1 0.4 1\n"
                                         "germany 0 0 1 0\n"
                                         "berlin 0 0 1 1\n"
                                         "twin 0 1 0 1\n"
                                         "übung 1 1 1 0\n"
                                         "rare 1 0 0.1 1\n"),
                   path, two_threads());
    return open(path);
  }();
  return model;
}

Report report_of(std::string_view questions, const EvaluateOptions& options = {}) {
  const TestFolder folder;
  const auto reports =
      evaluate(capitals(), {folder.write("q.txt", questions)}, options, {}, two_threads());
  EXPECT_EQ(reports.size(), 1u);
  return reports.front();
}

const Report::Section& section(const Report& report, std::string_view name) {
  const auto at = std::ranges::find(report.sections, name, &Report::Section::name);
  EXPECT_NE(at, report.sections.end()) << name;
  return at == report.sections.end() ? report.sections.front() : *at;
}
void expect_section(const Report& report, std::string_view name, uint64_t right, uint64_t asked) {
  EXPECT_EQ(section(report, name).right, right) << name;
  EXPECT_EQ(section(report, name).asked, asked) << name;
}

TEST(EvaluateAnalogies, CountsBySection) {
  const Report r = report_of(
      "# ours\n"
      ": capitals\n"
      "france paris germany berlin\n"
      "France PARIS italy rome\n"  // another case; wrong, since twin is nearer
      ": gram1-plural\r\n"
      "\n"
      "germany\tberlin  france paris\r\n"
      "germany berlin unknown paris\n"
      ": empty");
  expect_section(r, "capitals", 1, 2);
  expect_section(r, "gram1-plural", 1, 1);
  expect_section(r, "empty", 0, 0);
  expect_section(r, "semantic", 1, 2);
  expect_section(r, "syntactic", 1, 1);
  expect_section(r, "all", 2, 3);
  EXPECT_EQ(r.sections.size(), 6u);
  EXPECT_EQ(r.count("asked"), 3u);
  EXPECT_EQ(r.count("restrict"), 9u);
  EXPECT_EQ(r.rule, "add");
  EXPECT_EQ(r.count("skipped"), 1u);
  EXPECT_DOUBLE_EQ(*r.at("accuracy"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(*r.at("semantic"), 1.0 / 2);
  EXPECT_DOUBLE_EQ(*r.at("syntactic"), 1);
  // Nine words of which three are given.
  EXPECT_DOUBLE_EQ(*r.at("chance", "accuracy"), 1.0 / 6);
}

TEST(EvaluateAnalogies, RestrictsQuestionsAndAnswers) {
  // Among all nine words twin wins; among the first six it is no answer, and rare is no question.
  const std::string_view text = "france paris italy rome\nfrance rare italy rome\n";
  const Report all = report_of(text, {.restrict_to = std::nullopt});
  const Report six = report_of(text, {.restrict_to = 6});
  expect_section(all, "", 0, 2);
  expect_section(all, "all", 0, 2);
  expect_section(six, "all", 1, 1);
  EXPECT_EQ(six.count("skipped"), 1u);
  expect_part("among the 6 most frequent words", six.subtitle);
  EXPECT_DOUBLE_EQ(*six.at("chance", "accuracy"), 1.0 / 3);
}

TEST(EvaluateAnalogies, AGivenWordIsNeverTheAnswer) {
  expect_section(report_of("france paris france paris\n"), "all", 0, 1);
}

// Words without any meaning, and questions without any: right by chance, one in fifty.
struct Noise {
  TestFolder folder;
  Model model;
  std::string questions;
};
Noise noise() {
  std::string vectors, questions = ": random\n";
  for (uint64_t w = 0; w < 200; ++w) {
    Rng rng(1, w);
    vectors += fmt::format("w{}", w);
    for (int k = 0; k < 6; ++k) vectors += fmt::format(" {}", rng.uniform() - 0.5f);
    vectors += "\n";
  }
  Rng rng(2, 0);
  for (int i = 0; i < 4 * 3000; ++i) {
    questions += fmt::format("w{}{}", rng.below(40), i % 4 == 3 ? "\n" : " ");
  }
  const TestFolder folder;
  const std::string path = folder.path() + "/random.kith";
  import_vectors(folder.write("random.txt", vectors), path, two_threads());
  return {{}, open(path), questions};
}

TEST(EvaluateAnalogies, TheRuleCountsAndThreadsDoNot) {
  const Noise n = noise();
  const std::string file = n.folder.write("q.txt", n.questions);
  const auto right = [&](AnalogyRule rule, int threads) {
    const EvaluateOptions options{.restrict_to = 50, .rule = rule};
    const Context context(threads);
    const Report r = evaluate(n.model, {file}, options, {}, context).front();
    expect_part(rule == AnalogyRule::kAdd ? "3CosAdd" : "3CosMul", r.subtitle);
    EXPECT_EQ(section(r, "all").asked, 3000u);
    return section(r, "all").right;
  };
  const uint64_t add = right(AnalogyRule::kAdd, 1), mul = right(AnalogyRule::kMul, 1);
  EXPECT_GT(add, 0u);
  EXPECT_NE(add, mul);
  EXPECT_EQ(right(AnalogyRule::kAdd, 8), add);
  EXPECT_EQ(right(AnalogyRule::kMul, 8), mul);
}

TEST(EvaluateAnalogies, LowerCaseKnowsUnicode) {
  expect_section(report_of("Übung paris ÜBUNG berlin\n"), "all", 0, 1);
  // The same word, its accent stored apart.
  expect_section(report_of("U\xCC\x88"
                           "bung paris U\xCC\x88"
                           "BUNG berlin\n"),
                 "all", 0, 1);
  EXPECT_EQ(eval::lower_case("ÄÖ\xff"
                             "A\xc3"),
            "äö\xff"
            "a\xc3");  // bytes that are no UTF-8 stay
}

// What is wrong with a file, without its name.
std::string said(std::string_view text) {
  const TestFolder folder;
  const std::string path = folder.write("q.txt", text);
  const std::string message =
      input_error([&] { evaluate(capitals(), {path}, {}, {}, two_threads()); });
  EXPECT_TRUE(message.starts_with(path)) << message;
  return message.substr(std::min(path.size(), message.size()));
}

TEST(EvaluateAnalogies, SaysWhereALineIsWrong) {
  EXPECT_EQ(said(": a\nfrance paris italy rome\nfrance paris italy\n"),
            ":3: an analogy question has four words, or is a section such as ': capitals'; found 3 "
            "words");
  EXPECT_EQ(said(": a\nfrance paris italy rome italy\n"),
            ":2: an analogy question has four words, or is a section such as ': capitals'; found 5 "
            "words");
  EXPECT_EQ(said(": a\n\n"), ": there are no questions in it");
  EXPECT_EQ(said("a b c d\n" + std::string(3 << 20, 'x')),
            ":2: the line is longer than 65536 bytes, so this is not an evaluation file");
  io_error([] { evaluate(capitals(), {"/nonexistent/questions"}, {}, {}, two_threads()); });
}

TEST(EvaluateSimilarity, ReadsEverySeparator) {
  // Cosines: france-paris .71, france-italy 0, paris-berlin .5; humans agree on the order.
  for (const std::string_view text :
       {"france\tparis\t9\nfrance\titaly\t1.5\nparis\tberlin\t+4e0\n",
        "france,paris,9\r\nfrance, italy, 1.5\r\nparis,berlin,4\r\n",
        "france;paris;9\nfrance;italy;1.5\nparis;berlin;4",
        "  france  paris 9\nfrance italy 1.5\n\nparis berlin 4\n",
        "# comment\nFrance\tParis\t9\t10\t8\nfrance\titaly\t1.5\t1\t2\nparis\tberlin\t4\t4\t4\n",
        "\xef\xbb\xbfWord 1,Word 2,Human "
        "(mean)\nfrance,paris,9\nfrance,italy,1\nparis,berlin,4\n"}) {
    const Report r = report_of(text);
    EXPECT_EQ(r.count("pairs"), 3u) << text;
    EXPECT_EQ(r.count("skipped"), 0u) << text;
    EXPECT_DOUBLE_EQ(*r.at("spearman"), 1) << text;
    EXPECT_DOUBLE_EQ(*r.at("chance", "deviation"), std::sqrt(0.5));
  }
}

TEST(EvaluateSimilarity, SkipsUnknownWordsAndSaysWhenTooFewAreLeft) {
  const Report r =
      report_of("france paris 1\nnobody paris 2\nfrance italy 3\nx y 4\nparis berlin 2\n");
  EXPECT_EQ(r.count("pairs"), 3u);
  EXPECT_EQ(r.count("skipped"), 2u);
  EXPECT_DOUBLE_EQ(*r.at("spearman"), -1);
  const Report one = report_of("france paris 1\nx y 2\n");
  EXPECT_EQ(one.count("pairs"), 1u);
  EXPECT_TRUE(std::isnan(*one.at("spearman")));
}

TEST(EvaluateSimilarity, SaysWhereALineIsWrong) {
  const std::string columns =
      ": a line has two words and a score, separated by tabs, semicolons, commas or spaces; found ";
  const std::string third = ": the third column is not a number, or a word is missing before it";
  EXPECT_EQ(said("france paris 1\nfrance paris\n"), ":2" + columns + "2 columns");
  EXPECT_EQ(said("france paris 1\nfrance paris nan\n"), ":2" + third);
  EXPECT_EQ(said("france paris 1\nfrance paris 1x\n"), ":2" + third);
  EXPECT_EQ(said("france paris 1\nfrance,,1\n"), ":2" + third);
  EXPECT_EQ(said("a b score\nc d 1\nfrance paris high\n"), ":3" + third);  // one header, not two
}

TEST(EvaluateWords, TellsTheKindsOfFilesApart) {
  const auto measure = [](std::string_view text) {
    const Report r = report_of(text);
    return r.at("accuracy") ? "accuracy" : r.at("spearman") ? "spearman" : "nothing";
  };
  EXPECT_STREQ(measure(": capitals\nfrance paris italy rome\n"), "accuracy");
  EXPECT_STREQ(measure("\n# note\nfrance paris italy rome\n"), "accuracy");
  EXPECT_STREQ(measure("france\tparis\titaly\trome\n"), "accuracy");
  EXPECT_STREQ(measure("france paris 3.5\n"), "spearman");
  EXPECT_STREQ(measure("france\tparis\t3.5\t4\n"), "spearman");
  EXPECT_STREQ(measure("New York,big city,3.5\nfrance,paris,1\n"), "spearman");
  EXPECT_STREQ(measure("Word 1,Word 2,Human (mean)\nfrance,paris,3\n"), "spearman");
  EXPECT_EQ(said("It was a dark and stormy night\nand cold\n"),
            ":2: neither an analogy question (four words) nor two words and a score");
  EXPECT_EQ(said("\n"), ": there are no questions and no word pairs in it");
  EXPECT_EQ(usage_error([] { evaluate(capitals(), {"-"}, {}, {}, two_threads()); }),
            "an evaluation file is read twice, so it cannot be standard input; name a file");
}

TEST(EvaluateWords, OneReportAFile) {
  const TestFolder folder;
  const std::string a = folder.write("a.txt", "france paris germany berlin\n");
  const std::string b = folder.write("b.txt", "france paris 3\nparis berlin 2\n");
  const auto reports = evaluate(capitals(), {a, b}, {}, {}, two_threads());
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].title, a);
  EXPECT_EQ(reports[1].title, b);
  EXPECT_TRUE(reports[0].at("accuracy") && reports[1].at("spearman"));
}

TEST(EvaluateWords, ReadsCompressedFiles) {
  const Report r = report_of(testing::gzip("france paris germany berlin\n"));
  expect_section(r, "all", 1, 1);
}

TEST(EvaluateWords, AnySideOfTheVectors) {
  const TestFolder folder;
  const std::string file = folder.write(
      "q.txt",
      "ship sail 9\nship oven 2\nbread choir 1\nsnow slope 7\nchord tempo 8\nthe rope 3\n");
  const auto spearman = [&](Side side) {
    return *evaluate(words(), {file}, {.vectors = side}, {}, two_threads()).front().at("spearman");
  };
  EXPECT_GT(spearman(Side::kInput), 0.5);
  EXPECT_NE(spearman(Side::kInput), spearman(Side::kOutput));
  usage_error([&] { evaluate(capitals(), {file}, {.vectors = Side::kSum}, {}, two_threads()); });
}

TEST(EvaluateWords, WhatIsForTablesAndRatingsIsRefused) {
  const std::string file = text_file();
  EXPECT_EQ(usage_error([&] { evaluate(words(), {file}, {.target = "x"}, {}, two_threads()); }),
            "eval with --target, --given or --train is for models that complete rows of a table; " +
                words().path() + " holds word2vec, which does not");
  usage_error([&] { evaluate(words(), {file}, {.given = "x"}, {}, two_threads()); });
  usage_error([&] { evaluate(words(), {file}, {.train = "x"}, {}, two_threads()); });
  usage_error([&] { evaluate(ratings(), {ratings_file()}, {.target = "x"}, {}, two_threads()); });
  expect_part("eval with --delimiter is for models that complete rows of a table or rate items",
              usage_error([&] {
                evaluate(words(), {file}, {}, Settings{text("delimiter", "#")}, two_threads());
              }));
}

TEST(EvaluateWords, StopsWhenAsked) {
  const TestFolder folder;
  const std::string file = folder.write("q.txt", "france paris germany berlin\n");
  Context context(1);
  context.cancel();
  message_of(ErrorKind::kCancelled, [&] { evaluate(capitals(), {file}, {}, {}, context); });
}

// Gives a text in pieces of a few bytes, as a slow pipe would.
class Drops : public ByteSource {
 public:
  Drops(std::string_view text, size_t size) : text_(text), size_(size) {}
  std::span<const char> next() override {
    piece_ = text_.substr(0, size_);
    text_.remove_prefix(piece_.size());
    return {piece_.data(), piece_.size()};
  }
  double share() const override { return -1; }

 private:
  std::string_view text_;
  std::string piece_;  // a copy: what a source gave before is gone
  size_t size_;
};

TEST(QuestionLines, PiecesDoNotMatter) {
  const std::string_view text = "one\ntwo words\r\n\n\nlast";
  for (size_t size = 1; size < 30; ++size) {
    Drops source(text, size);
    eval::Lines lines(source, "drops");
    Strings got;
    for (std::string_view line; lines.next(line);) got.emplace_back(line);
    EXPECT_EQ(got, (Strings{"one", "two words", "", "", "last"})) << size;
    EXPECT_EQ(lines.number(), 5u);
  }
}

using Numbers = std::vector<double>;

TEST(RankCorrelation, KnownValues) {
  const Numbers up{1, 2, 3, 4, 5};
  // Without ties 1 - 6 sum d^2 / (n (n^2 - 1)): ranks 2 1 4 3 5, d^2 = 1 1 1 1 0.
  EXPECT_DOUBLE_EQ(eval::spearman(up, Numbers{2, 1, 4, 3, 5}), 1 - 6.0 * 4 / (5 * 24));
  // The textbook's ten pupils (IQ, hours of television): rho = -29 / 165.
  EXPECT_NEAR(eval::spearman(Numbers{106, 86, 100, 101, 99, 103, 97, 113, 112, 110},
                             Numbers{7, 0, 27, 50, 28, 29, 20, 12, 6, 17}),
              -29.0 / 165, 1e-15);
  // Only the order counts.
  EXPECT_DOUBLE_EQ(eval::spearman(up, Numbers{1, 10, 100, 1e4, 1e9}), 1);
}

TEST(RankCorrelation, TiesShareTheirMeanRank) {
  // Ranks 1, 2.5, 2.5, 4 against 1.5, 1.5, 3, 4. By hand: sum xy = 3.75, xx = 4.5, yy = 4.5.
  EXPECT_NEAR(eval::spearman(Numbers{1, 2, 2, 3}, Numbers{7, 7, 8, 9}), 3.75 / 4.5, 1e-15);
  // All tied but one, against the reverse: ranks 2 2 2 4 against 4 3 2 1.
  EXPECT_NEAR(eval::spearman(Numbers{0, 0, 0, 1}, Numbers{4, 3, 2, 1}), -3 / std::sqrt(3.0 * 5),
              1e-15);
}

TEST(RankCorrelation, WithoutVariationThereIsNone) {
  EXPECT_TRUE(std::isnan(eval::spearman(Numbers{1}, Numbers{1})));
  EXPECT_TRUE(std::isnan(eval::spearman(Numbers{}, Numbers{})));
}

TEST(EvaluateWords, QuestionsAboutNothingThatIsKnownAreAnError) {
  const TestFolder folder;
  const auto asked = [&](const std::string& text) {
    const std::string file = folder.write("questions.txt", text);
    return input_error([&] { evaluate(capitals(), {file}, {}, {}, two_threads()); });
  };
  expect_part("the model knows both words of none of its 2 pairs", asked("u1 i1 3\nu1 i2 4\n"));
  expect_part("the model knows the words of none of its 1 questions", asked("a b c d\n"));
}

}  // namespace
}  // namespace kith::test
