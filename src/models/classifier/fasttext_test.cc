// SPDX-License-Identifier: Apache-2.0
// Classifiers of fastText: what it would say of a text, written down plainly beside it.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/test_errors.h"
#include "io/test_fasttext.h"
#include "models/classifier/model.h"
#include "models/classifier/test_reference.h"
#include "models/test_model.h"

namespace kith::classifier {
namespace {

using testing::Kind;
using testing::Loss;
using testing::sample;
using Words = std::vector<std::string_view>;

// Five words, two labels, three dimensions, four buckets; runs of two words, of 3 to 6 letters.
FastTextFile labelled(Loss loss) {
  FastTextFile f = sample(Kind::kSupervised, loss);
  f.output.row(1)[0] = -3.5f;  // the labels differ in more than a shift
  return f;
}

const Classifier& as_classifier(const ModelBase& m) { return dynamic_cast<const Classifier&>(m); }

// Dictionary::getLine of fastText: rows by number, of the file.
std::vector<size_t> rows_of(const FastTextFile& f, Words text) {
  std::vector<size_t> out;
  std::vector<int32_t> hashes;
  const auto push = [&](uint64_t bucket) {
    const auto id = static_cast<int32_t>(bucket % static_cast<uint64_t>(f.buckets));
    if (!f.pruned) return out.push_back(f.words.size() + static_cast<size_t>(id));
    for (const auto& [kept, row] : *f.pruned) {
      if (kept == id) out.push_back(f.words.size() + static_cast<size_t>(row));
    }
  };
  text.push_back("</s>");
  for (const std::string_view word : text) {
    if (word.starts_with("__label__")) continue;
    if (const auto at = f.words.find(word)) out.push_back(*at);
    if (word != "</s>") {
      const std::string marked = "<" + std::string(word) + ">";  // of ASCII alone
      for (size_t i = 0; i < marked.size(); ++i) {
        for (size_t n = 3; n <= 6 && f.max_n > 0 && i + n <= marked.size(); ++n) {
          push(fasttext_hash(marked.substr(i, n)));
        }
      }
    }
    hashes.push_back(static_cast<int32_t>(fasttext_hash(word)));
  }
  for (size_t i = 0; i + 1 < hashes.size() && f.word_ngrams > 1; ++i) {
    push(static_cast<uint64_t>(hashes[i]) * 116049371 + static_cast<uint64_t>(hashes[i + 1]));
  }
  return out;
}

double score(const FastTextFile& f, const std::vector<size_t>& rows, size_t output) {
  double out = 0;
  for (const size_t r : rows) {
    for (size_t k = 0; k < 3; ++k) out += double{f.input.row(r)[k]} * f.output.row(output)[k];
  }
  return out / static_cast<double>(rows.size());
}

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

double expected(const FastTextFile& f, const Words& text) {  // of the first label
  const auto rows = rows_of(f, text);
  const double first = score(f, rows, 0), second = score(f, rows, 1);
  if (f.loss == Loss::kSoftmax) return sigma(first - second);
  if (f.loss == Loss::kHs) return sigma(first);  // two labels, one node: the first is on the right
  return sigma(first);
}

double told(const Classifier& m, const Words& text) {
  std::vector<uint32_t> numbers;
  m.numbering()(text, numbers);
  std::vector<float> out(m.labels().size());
  EXPECT_TRUE(m.classify(numbers, out));
  return out[0];
}

const std::vector<Words> kTexts{
    {"w0", "w3", "w4"}, {"w0", "never", "seen", "w0"}, {}, {"w2", "__label__a", "w3"}};

TEST(ClassifierOfFastText, SaysWhatFastTextSays) {
  for (const Loss loss : {Loss::kSoftmax, Loss::kOva, Loss::kNs, Loss::kHs}) {
    for (const auto& [runs, letters] : {std::pair{2, 6}, {2, 0}, {1, 6}}) {
      FastTextFile f = labelled(loss);
      f.word_ngrams = runs, f.max_n = letters;
      FastTextFile other = labelled(loss);
      other.word_ngrams = runs, other.max_n = letters;
      const auto model = classifier_of(std::move(other), "f.bin");
      const Classifier& c = as_classifier(*model);
      EXPECT_EQ(c.labels()[1], "ü");
      EXPECT_EQ(c.exclusive(), loss == Loss::kSoftmax || loss == Loss::kHs);
      for (const Words& text : kTexts) {
        if (rows_of(f, text).empty()) continue;  // then it says how frequent labels are
        EXPECT_NEAR(told(c, text), expected(f, text), 1e-5) << int(loss) << runs << letters;
      }
      test::expect_same_file(c, "classifier");
    }
  }
}

TEST(ClassifierOfFastText, BucketsThatWereNotKeptCountForNothing) {
  using Kept = std::vector<std::pair<int32_t, int32_t>>;
  for (const Kept& kept : {Kept{{3, 1}, {1, 0}}, Kept{}}) {
    for (const int32_t runs : {1, 2}) {
      FastTextFile f = labelled(Loss::kSoftmax);
      f.word_ngrams = runs;
      f.pruned = kept;
      f.input = Matrix(f.input_rows(), 3);
      testing::fill(f.input, 0.25f);
      FastTextFile same = labelled(Loss::kSoftmax);
      same.word_ngrams = runs;
      same.pruned = f.pruned;
      same.input = f.input.copy();
      const auto model = classifier_of(std::move(same), "f.ftz");
      for (const Words& text : kTexts) {
        if (rows_of(f, text).empty()) continue;
        EXPECT_NEAR(told(as_classifier(*model), text), expected(f, text), 1e-5);
      }
      test::expect_same_file(as_classifier(*model), "classifier");
      const test::ScratchFile file;
      EXPECT_THROW(as_classifier(*model).write_fasttext(file.path, Context(1)), Error);
    }
  }
}

// Joined from the last label on, and nodes before labels that are as frequent. By hand:
// (3, 2) -> node 0; (1, node 0) -> node 1; (0, node 1) -> node 2.
TEST(Tree, OfFastText) {
  const std::vector<uint64_t> counts{5, 3, 3, 2};
  const Tree tree(counts, Tree::Rule::kFastText);
  std::vector<float> out(4);
  tree.probabilities(std::vector<float>{0.1f, 0.2f, 0.4f}, out);
  EXPECT_FLOAT_EQ(out[0], 0.6f);
  EXPECT_FLOAT_EQ(out[1], 0.4f * 0.8f);
  EXPECT_FLOAT_EQ(out[2], 0.4f * 0.2f * 0.1f);
  EXPECT_FLOAT_EQ(out[3], 0.4f * 0.2f * 0.9f);
}

// Whatever a file says of counts, there is a tree with a way to every label.
TEST(Tree, OfFastTextFromCountsThatAreNoOrder) {
  for (const std::vector<uint64_t>& counts :
       {std::vector<uint64_t>{0, 0, 0}, {1, 5, 2}, {uint64_t{1} << 60, uint64_t{1} << 60, 1}}) {
    const Tree tree(counts, Tree::Rule::kFastText);
    std::vector<float> out(3);
    tree.probabilities(std::vector<float>{0.5f, 0.25f}, out);
    EXPECT_FLOAT_EQ(out[0] + out[1] + out[2], 1.0f);
    for (uint32_t l = 0; l < 3; ++l) EXPECT_FALSE(tree.path(l).empty());
  }
}

TEST(ClassifierOfFastText, AFileOfFastTextHoldsAllOfIt) {
  for (const Loss loss : {Loss::kSoftmax, Loss::kOva, Loss::kNs, Loss::kHs}) {
    FastTextFile first = labelled(loss);
    // Of a tree the last row is no node, and fastText leaves zeros there.
    if (loss == Loss::kHs) std::ranges::fill(first.output.row(1), 0.0f);
    const test::ScratchFile file;
    write_fasttext_bin(file.path, first);
    const auto model = classifier_of(read_fasttext_bin(file.path), "f.bin");
    test::through_file(dynamic_cast<Classifier&>(*model), "classifier")
        .write_fasttext(file.path, Context(1));
    testing::expect_equal(first, read_fasttext_bin(file.path));
    const auto back = classifier_of(read_fasttext_bin(file.path), file.path);
    for (const Words& text : kTexts) {
      if (text.empty()) continue;  // of which neither knows a thing
      EXPECT_EQ(told(as_classifier(*back), text), told(as_classifier(*model), text));
    }
  }
}

TEST(ClassifierOfFastText, WordsAreTheMeanOfTheirLetters) {
  const FastTextFile f = labelled(Loss::kSoftmax);
  const auto model = classifier_of(labelled(Loss::kSoftmax), "f.bin");
  const Matrix vectors = read_all(*as_classifier(*model).vectors(Side::kInput)[0].vectors);
  ASSERT_EQ(vectors.rows(), 5u);
  // "<w0>" has the runs <w0, w0> and <w0>.
  std::vector<size_t> rows{0};
  for (const char* run : {"<w0", "w0>", "<w0>"}) rows.push_back(5 + fasttext_hash(run) % 4);
  for (size_t k = 0; k < 3; ++k) {
    double mean = 0;
    for (const size_t r : rows) mean += f.input.row(r)[k] / 4.0;
    EXPECT_NEAR(vectors.row(0)[k], mean, 1e-6);
  }
}

TEST(ClassifierOfFastText, FilesThatItCannotBe) {
  FastTextFile one = labelled(Loss::kSoftmax);
  Names label;
  label.add("__label__x");
  one.labels = label;
  EXPECT_EQ(message_of(ErrorKind::kInput, [&] { classifier_of(std::move(one), "f.bin"); }),
            "f.bin: a classifier of fastText with one label; there must be two");
  FastTextFile runs = labelled(Loss::kSoftmax);
  runs.word_ngrams = 21;
  EXPECT_THROW(classifier_of(std::move(runs), "f.bin"), Error);
}

// fastText would look for runs of words elsewhere; of words alone it says the same.
TEST(ClassifierOfFastText, OwnModelsAreWrittenIfFastTextWouldSayTheSame) {
  const Labelled data = reference::read_text(reference::planted(200, 3));
  const test::ScratchFile file;
  Classifier m;
  m.config() = {.dim = 6, .epochs = 2};
  Job job;
  ASSERT_TRUE(m.train(data, job));
  EXPECT_NE(message_of(ErrorKind::kUsage, [&] { m.write_fasttext(file.path, Context(1)); })
                .find("--word-ngrams 1"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file.path));
  Classifier words;
  words.config() = {.dim = 6, .word_ngrams = 1, .epochs = 2};
  ASSERT_TRUE(words.train(data, job));
  words.write_fasttext(file.path, Context(1));
  const auto back = classifier_of(read_fasttext_bin(file.path), file.path);
  std::vector<float> own(3);
  words.classify(data.train().words_of(0), own);
  Words text;
  for (const uint32_t w : data.train().words_of(0)) text.push_back(words.words()[w]);
  EXPECT_NEAR(told(as_classifier(*back), text), own[0], 1e-6);
}

}  // namespace
}  // namespace kith::classifier
