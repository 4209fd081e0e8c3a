// SPDX-License-Identifier: Apache-2.0
#include "query/evaluate.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <fstream>

#include "query/eval_files.h"
#include "query/test_space.h"

namespace kith {
namespace {

// A file that goes away with the test.
class EvalFile {
 public:
  explicit EvalFile(std::string_view text)
      : path_(fmt::format("{}kith_eval_{}_{}.txt", testing::TempDir(), getpid(), ++count_)) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~EvalFile() { std::remove(path_.c_str()); }
  EvalFile(const EvalFile&) = delete;
  EvalFile& operator=(const EvalFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  static inline int count_ = 0;
  std::string path_;
};

// Capital = country + (0, 0, 0, 1) with countries far apart; "paris" answers all but for rome's
// twin, which stands nearer to where rome should be.
TestSpace capitals() {
  auto [names, matrix] = named({{"france", {1, 0, 0, 0}},
                                {"paris", {1, 0, 0, 1}},
                                {"italy", {0, 1, 0, 0}},
                                {"rome", {0.1f, 1, 0.4f, 1}},
                                {"germany", {0, 0, 1, 0}},
                                {"berlin", {0, 0, 1, 1}},
                                {"twin", {0, 1, 0, 1}},
                                {"übung", {1, 1, 1, 0}},
                                {"rare", {1, 0, 0.1f, 1}}});
  return {std::move(names), matrix};
}

AnalogyResult analogies_of(std::string_view text, size_t restrict_to = 0, int threads = 1) {
  const TestSpace t = capitals();
  const EvalFile file(text);
  return evaluate_analogies(t.space, file.path(), AnalogyRule::kAdd, restrict_to, threads);
}

SimilarityResult similarity_of(std::string_view text) {
  const TestSpace t = capitals();
  const EvalFile file(text);
  return evaluate_similarity(t.space, file.path());
}

TEST(EvaluateAnalogies, CountsBySection) {
  const AnalogyResult r = analogies_of(
      "# ours\n"
      ": capitals\n"
      "france paris germany berlin\n"
      "France PARIS italy rome\n"  // another case; wrong, since twin is nearer
      ": gram1-plural\r\n"
      "\n"
      "germany\tberlin  france paris\r\n"
      "germany berlin unknown paris\n"
      ": empty");
  ASSERT_EQ(r.sections.size(), 3u);
  EXPECT_EQ(r.sections[0].name, "capitals");
  EXPECT_EQ(r.sections[0].right, 1u);
  EXPECT_EQ(r.sections[0].asked, 2u);
  EXPECT_EQ(r.sections[1].name, "gram1-plural");
  EXPECT_EQ(r.sections[1].right, 1u);
  EXPECT_EQ(r.sections[1].asked, 1u);
  EXPECT_EQ(r.sections[2].name, "empty");
  EXPECT_EQ(r.sections[2].asked, 0u);
  EXPECT_EQ(r.right, 2u);
  EXPECT_EQ(r.asked, 3u);
  EXPECT_EQ(r.skipped, 1u);
  EXPECT_EQ(r.semantic_right, 1u);
  EXPECT_EQ(r.semantic_asked, 2u);
  EXPECT_EQ(r.syntactic_right, 1u);
  EXPECT_EQ(r.syntactic_asked, 1u);
  EXPECT_DOUBLE_EQ(r.accuracy(), 2.0 / 3);
}

TEST(EvaluateAnalogies, RestrictsQuestionsAndAnswers) {
  // Among all nine words twin wins; among the first six it is no answer, and rare is no question.
  const std::string_view text = "france paris italy rome\nfrance rare italy rome\n";
  const AnalogyResult all = analogies_of(text), six = analogies_of(text, 6);
  EXPECT_EQ(all.sections.at(0).name, "");
  EXPECT_EQ(all.right, 0u);
  EXPECT_EQ(all.asked, 2u);
  EXPECT_EQ(six.right, 1u);
  EXPECT_EQ(six.asked, 1u);
  EXPECT_EQ(six.skipped, 1u);
}

TEST(EvaluateAnalogies, AGivenWordIsNeverTheAnswer) {
  const AnalogyResult r = analogies_of("france paris france paris\n");
  EXPECT_EQ(r.asked, 1u);
  EXPECT_EQ(r.right, 0u);
}

TEST(EvaluateAnalogies, LowerCaseKnowsUnicode) {
  EXPECT_EQ(analogies_of("Übung paris ÜBUNG berlin\n").asked, 1u);
  EXPECT_EQ(query::lower_case("ÄÖ\xff"
                              "A\xc3"),
            "äö\xff"
            "a\xc3");  // bytes that are no UTF-8 stay
}

TEST(EvaluateAnalogies, ThreadsDoNotChangeTheResult) {
  constexpr uint32_t kWords = 2000;
  const TestSpace t(random_matrix(kWords, 8, 1));
  std::string text = ": random\n";
  Rng rng(2, 0);
  for (int i = 0; i < 3000; ++i) {
    text += fmt::format("w{} w{} w{} w{}\n", rng.below(40), rng.below(40), rng.below(40),
                        rng.below(40));
  }
  const EvalFile file(text);
  for (const AnalogyRule rule : {AnalogyRule::kAdd, AnalogyRule::kMul}) {
    const auto one = evaluate_analogies(t.space, file.path(), rule, 50, 1);
    EXPECT_GT(one.right, 0u);  // chance alone: one in fifty
    EXPECT_EQ(one.asked, 3000u);
    EXPECT_EQ(evaluate_analogies(t.space, file.path(), rule, 50, 8).right, one.right);
  }
}

TEST(EvaluateAnalogies, SaysWhereALineIsWrong) {
  const TestSpace t = capitals();
  const EvalFile file(": a\nfrance paris italy rome\nfrance paris italy\n"), empty(": a\n\n");
  const auto evaluate = [&](const std::string& path) {
    return message_of(ErrorKind::kInput,
                      [&] { evaluate_analogies(t.space, path, AnalogyRule::kAdd, 0, 1); });
  };
  EXPECT_EQ(evaluate(file.path()),
            file.path() +
                ":3: an analogy question has four words, or is a section such as ': capitals'; "
                "found 3 words");
  EXPECT_EQ(evaluate(empty.path()), empty.path() + ": there are no questions in it");
  const EvalFile endless("a b c d\n" + std::string(3 << 20, 'x'));
  EXPECT_EQ(
      evaluate(endless.path()),
      endless.path() + ":2: the line is longer than 65536 bytes, so this is no evaluation file");
  message_of(ErrorKind::kIo, [&] {
    evaluate_analogies(t.space, "/nonexistent/questions", AnalogyRule::kAdd, 0, 1);
  });
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
    const SimilarityResult r = similarity_of(text);
    EXPECT_EQ(r.pairs, 3u) << text;
    EXPECT_EQ(r.skipped, 0u) << text;
    EXPECT_DOUBLE_EQ(r.spearman, 1) << text;
  }
}

TEST(EvaluateSimilarity, SkipsUnknownWordsAndSaysWhenTooFewAreLeft) {
  const SimilarityResult r =
      similarity_of("france paris 1\nnobody paris 2\nfrance italy 3\nx y 4\nparis berlin 2\n");
  EXPECT_EQ(r.pairs, 3u);
  EXPECT_EQ(r.skipped, 2u);
  EXPECT_DOUBLE_EQ(r.spearman, -1);
  const SimilarityResult one = similarity_of("france paris 1\nx y 2\n");
  EXPECT_EQ(one.pairs, 1u);
  EXPECT_TRUE(std::isnan(one.spearman));
  EXPECT_TRUE(std::isnan(similarity_of("x y 2\n").spearman));
}

TEST(EvaluateSimilarity, SaysWhereALineIsWrong) {
  const auto said = [](std::string_view text) {
    const TestSpace t = capitals();
    const EvalFile file(text);
    const std::string message =
        message_of(ErrorKind::kInput, [&] { evaluate_similarity(t.space, file.path()); });
    EXPECT_TRUE(message.starts_with(file.path())) << message;
    return message.substr(std::min(file.path().size(), message.size()));
  };
  const std::string columns =
      ": a line has two words and a score, separated by tabs, semicolons, commas or spaces; found ";
  const std::string third = ": the third column is not a number, or a word is missing before it";
  EXPECT_EQ(said("france paris 1\nfrance paris\n"), ":2" + columns + "2 columns");
  EXPECT_EQ(said("france\n"), ":1" + columns + "1 columns");
  EXPECT_EQ(said("a b score\nfrance paris high\n"), ":2" + third);  // one header, not two
  EXPECT_EQ(said("# x\na b score\n"), ":2" + third);                // and in line 1 only
  EXPECT_EQ(said("france paris 1\nfrance paris nan\n"), ":2" + third);
  EXPECT_EQ(said("france paris 1\nfrance paris 1x\n"), ":2" + third);
  EXPECT_EQ(said("france paris 1\nfrance,,1\n"), ":2" + third);
  EXPECT_EQ(said("a b score\n"), ": there are no word pairs in it");
  EXPECT_EQ(said(""), ": there are no word pairs in it");
}

TEST(Recognise, TellsTheKindsApart) {
  const auto kind = [](std::string_view text) {
    return recognise_eval_file(EvalFile(text).path());
  };
  EXPECT_EQ(kind(": capitals\n"), EvalKind::kAnalogies);
  EXPECT_EQ(kind("\n# note\na b c d\n"), EvalKind::kAnalogies);
  EXPECT_EQ(kind("a\tb\tc\td\n"), EvalKind::kAnalogies);
  EXPECT_EQ(kind("a b 3.5\n"), EvalKind::kSimilarity);
  EXPECT_EQ(kind("a\tb\t3.5\t4\n"), EvalKind::kSimilarity);
  EXPECT_EQ(kind("New York,big city,3.5\n"), EvalKind::kSimilarity);
  EXPECT_EQ(kind("Word 1,Word 2,Human (mean)\na,b,3\n"), EvalKind::kSimilarity);
  const EvalFile text("It was a dark and stormy night\nand cold\n"), empty("\n");
  EXPECT_EQ(message_of(ErrorKind::kInput, [&] { recognise_eval_file(text.path()); }),
            text.path() + ":2: neither an analogy question (four words) nor two words and a score");
  EXPECT_EQ(message_of(ErrorKind::kInput, [&] { recognise_eval_file(empty.path()); }),
            empty.path() + ": there are no questions and no word pairs in it");
  EXPECT_EQ(message_of(ErrorKind::kUsage, [&] { recognise_eval_file("-"); }),
            "an evaluation file is read twice, so it cannot be standard input; name a file");
}

TEST(Evaluate, ReadsCompressedFiles) {
  const EvalFile file("");
  gzFile out = gzopen(file.path().c_str(), "wb");
  gzputs(out, "france paris germany berlin\n");
  gzclose(out);
  EXPECT_EQ(recognise_eval_file(file.path()), EvalKind::kAnalogies);
  const TestSpace t = capitals();
  EXPECT_EQ(evaluate_analogies(t.space, file.path(), AnalogyRule::kMul, 0, 1).right, 1u);
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

TEST(Lines, PiecesDoNotMatter) {
  const std::string_view text = "\xef\xbb\xbfone\ntwo words\r\n\n\nlast";
  for (size_t size = 1; size < 30; ++size) {
    Drops source(text, size);
    query::Lines lines(source, "drops");
    std::vector<std::string> got;
    for (std::string_view line; lines.next(line);) got.emplace_back(line);
    EXPECT_EQ(got, (std::vector<std::string>{"one", "two words", "", "", "last"})) << size;
    EXPECT_EQ(lines.number(), 5u);
  }
}

TEST(Spearman, KnownValues) {
  const std::vector<double> up{1, 2, 3, 4, 5}, down{50, 40, 30, 20, -10};
  EXPECT_DOUBLE_EQ(spearman(up, up), 1);
  EXPECT_DOUBLE_EQ(spearman(up, down), -1);
  // Without ties 1 - 6 sum d^2 / (n (n^2 - 1)): ranks 2 1 4 3 5, d^2 = 1 1 1 1 0.
  EXPECT_DOUBLE_EQ(spearman(up, std::vector<double>{2, 1, 4, 3, 5}), 1 - 6.0 * 4 / (5 * 24));
  // The textbook's ten pupils (IQ, hours of television): rho = -29 / 165.
  EXPECT_NEAR(spearman(std::vector<double>{106, 86, 100, 101, 99, 103, 97, 113, 112, 110},
                       std::vector<double>{7, 0, 27, 50, 28, 29, 20, 12, 6, 17}),
              -29.0 / 165, 1e-15);
  // Only the order counts.
  EXPECT_DOUBLE_EQ(spearman(up, std::vector<double>{1, 10, 100, 1e4, 1e9}), 1);
}

TEST(Spearman, TiesShareTheirMeanRank) {
  // Ranks 1, 2.5, 2.5, 4 against 1.5, 1.5, 3, 4. By hand: sum xy = 3.75, xx = 4.5, yy = 4.5.
  EXPECT_NEAR(spearman(std::vector<double>{1, 2, 2, 3}, std::vector<double>{7, 7, 8, 9}),
              3.75 / 4.5, 1e-15);
  // All tied but one, against the reverse: ranks 2 2 2 4 against 4 3 2 1.
  EXPECT_NEAR(spearman(std::vector<double>{0, 0, 0, 1}, std::vector<double>{4, 3, 2, 1}),
              -3 / std::sqrt(3.0 * 5), 1e-15);
}

TEST(Spearman, WithoutVariationThereIsNone) {
  EXPECT_TRUE(std::isnan(spearman(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3})));
  EXPECT_TRUE(std::isnan(spearman(std::vector<double>{1}, std::vector<double>{1})));
  EXPECT_TRUE(std::isnan(spearman({}, {})));
  EXPECT_EQ(message_of(ErrorKind::kUsage,
                       [] {
                         spearman(std::vector<double>{1}, std::vector<double>{1, 2});
                       }),
            "a rank correlation needs two lists of one length; got 1 and 2");
}

}  // namespace
}  // namespace kith
