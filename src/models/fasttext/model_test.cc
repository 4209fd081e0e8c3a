// SPDX-License-Identifier: Apache-2.0
#include "models/fasttext/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "io/fasttext_bin.h"
#include "io/test_files.h"
#include "models/test_model.h"
#include "train/test_corpus.h"

namespace kith::fasttext {
namespace {

using test::same_bits;

// Words of two topics: a stem says which, and no two words are alike but for it. Sentences never
// mix topics.
std::string word_of(const std::string& stem, uint32_t i) {
  return stem + std::string(1, static_cast<char>('a' + i % 26)) +
         std::string(1, static_cast<char>('a' + i / 26 % 26));
}
std::string two_stems(int lines, uint32_t words = 60) {
  std::string text;
  Rng rng(1, 0);
  for (int i = 0; i < lines; ++i) {
    const std::string stem = i % 2 == 0 ? "flumi" : "gorda";
    for (int j = 0; j < 12; ++j) text += word_of(stem, rng.below(words)) + " ";
    text += "\n";
  }
  return text;
}

double cosine(std::span<const float> x, std::span<const float> y) {
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += double{x[i]} * y[i];
    xx += double{x[i]} * x[i];
    yy += double{y[i]} * y[i];
  }
  return xy / std::sqrt(xx * yy);
}

Config small() {
  Config out;
  out.dim = 16;
  out.sample = 0;
  out.epochs = 4;
  return out;
}

FastText trained(const Corpus& corpus, const Config& config, int threads = 1,
                 bool deterministic = false) {
  FastText m;
  m.config() = config;
  Job job(threads);
  job.deterministic = deterministic;
  m.train(corpus, job);
  EXPECT_TRUE(m.finished());
  return m;
}

std::vector<float> spelled(const FastText& m, std::string_view word) {
  std::vector<float> out(m.dim());
  EXPECT_TRUE(m.spell(word, out)) << word;
  return out;
}

std::vector<float> vector_of(const FastText& m, std::string_view word) {
  const auto row = m.word_vectors().row(*m.names().find(word));
  return {row.begin(), row.end()};
}

bool same_model(const FastText& a, const FastText& b) {
  return same_bits(a.input(), b.input()) && same_bits(a.output(), b.output()) &&
         same_bits(a.word_vectors(), b.word_vectors()) &&
         a.state().held_out == b.state().held_out && a.state().loss == b.state().loss;
}

// A word that stands nowhere in the text belongs where its stem does.
TEST(FastText, AnUnseenWordIsWhereItsPartsSay) {
  const Corpus corpus = corpus_of(two_stems(1500));
  for (const Ngrams ngrams : {Ngrams::kHashed, Ngrams::kExplicit}) {
    for (const words::Gradient gradient : {words::Gradient::kExact, words::Gradient::kReference}) {
      for (const bool deterministic : {false, true}) {
        Config config = small();
        config.ngrams = ngrams;
        config.gradient = gradient;
        const FastText m = trained(corpus, config, 2, deterministic);
        const auto unseen = spelled(m, "flumizz");
        EXPECT_FALSE(m.names().find("flumizz"));
        const std::string what = fmt::format("{} {} {}", static_cast<int>(ngrams),
                                             static_cast<int>(gradient), deterministic);
        EXPECT_GT(cosine(unseen, vector_of(m, word_of("flumi", 3))), 0.7) << what;
        EXPECT_LT(cosine(unseen, vector_of(m, word_of("gorda", 3))), 0.4) << what;
      }
    }
  }
}

TEST(FastText, NothingIsKnownOfAWordWithoutAKnownPart) {
  const FastText m = trained(corpus_of(two_stems(50)), small());
  std::vector<float> out(16);
  EXPECT_FALSE(m.spell("xyxyxy", out));
}

TEST(FastText, AWordIsTheMeanOfItsRows) {
  const FastText m = trained(corpus_of(two_stems(100)), small());
  const auto bags = m.subwords().bags(m.names());
  for (uint32_t w = 0; w < m.names().size(); w += 7) {
    for (size_t k = 0; k < 16; ++k) {
      double sum = 0;
      for (const uint32_t r : bags.of(w)) sum += m.input().row(r)[k];
      EXPECT_NEAR(m.word_vectors().row(w)[k], sum / static_cast<double>(bags.of(w).size()), 1e-6);
    }
  }
}

TEST(FastText, CbowLearns) {
  Config config = small();
  config.objective = words::Objective::kCbow;
  config.epochs = 10;
  const FastText m = trained(corpus_of(two_stems(1500)), config);
  EXPECT_GT(cosine(spelled(m, "flumizz"), vector_of(m, word_of("flumi", 3))), 0.7);
  EXPECT_LT(cosine(spelled(m, "flumizz"), vector_of(m, word_of("gorda", 3))), 0.4);
}

TEST(FastText, TheSameBits) {
  const Corpus corpus = corpus_of(two_stems(1000), 1, 300);
  EXPECT_TRUE(same_model(trained(corpus, small()), trained(corpus, small())));
  const FastText one = trained(corpus, small(), 1, true);
  for (const int threads : {2, 8}) {
    EXPECT_TRUE(same_model(one, trained(corpus, small(), threads, true))) << threads;
  }
}

TEST(FastText, SavedAndLoadedIsTheSame) {
  for (const Ngrams ngrams : {Ngrams::kHashed, Ngrams::kExplicit}) {
    Config config = small();
    config.ngrams = ngrams;
    const FastText m = trained(corpus_of(two_stems(200)), config);
    const FastText loaded = test::through_file(m, "fasttext");
    EXPECT_TRUE(same_model(m, loaded));
    EXPECT_EQ(spelled(m, "flumizz"), spelled(loaded, "flumizz"));
    test::expect_same_file(m, "fasttext");
  }
}

TEST(FastText, ResumedRunEqualsUninterruptedOne) {
  const Corpus corpus = corpus_of(two_stems(1500), 1, 200);
  Config config = small();
  config.early_stop = 5;
  for (const bool deterministic : {false, true}) {
    const FastText whole = trained(corpus, config, 1, deterministic);
    for (int stop = 1; stop <= 3; ++stop) {
      const FastText second =
          test::interrupted<FastText>(config, corpus, "fasttext", stop, deterministic);
      EXPECT_TRUE(same_model(whole, second)) << stop << " deterministic " << deterministic;
    }
  }
}

TEST(FastText, GoesOnWithNewWordsAndTheirParts) {
  for (const Ngrams ngrams : {Ngrams::kHashed, Ngrams::kExplicit}) {
    Config config = small();
    config.ngrams = ngrams;
    FastText m = trained(corpus_of(two_stems(800)), config);
    const auto base = std::any_cast<Vocabulary>(m.known());
    const auto part = [&](std::string_view word, size_t i) {
      const auto row = m.input().row(m.names().size() + *m.subwords().rows_of(word).at(i));
      return std::vector<float>(row.begin(), row.end());
    };
    const size_t parts = m.subwords().size();
    const auto before = part(word_of("gorda", 3), 0);
    const Corpus more = corpus_of("flumiaa flumiba zwackelig zwackelei\n", 1, 0, &base);
    m.config().epochs = 0;
    m.reopen();
    Job job;
    m.train(more, job);
    EXPECT_GT(m.subwords().size(), parts);
    EXPECT_EQ(part(word_of("gorda", 3), 0), before) << "it keeps what it learned";
    EXPECT_TRUE(std::ranges::any_of(part("zwackelig", 3), [](float x) { return x != 0; }));
    m.config().max_n = 5;
    m.reopen();
    EXPECT_THROW(m.train(more, job), Error);
  }
}

TEST(FastText, WithoutPartsItIsWord2Vec) {
  Config config = small();
  config.max_n = 0;
  const FastText m = trained(corpus_of(two_stems(100)), config);
  EXPECT_EQ(m.input().rows(), m.names().size());
  EXPECT_TRUE(same_bits(m.input(), m.word_vectors()));
  std::vector<float> out(16);
  EXPECT_FALSE(m.spell("flumizz", out));
}

TEST(FastText, PartsThatCannotBeAreRefused) {
  Config config = small();
  config.min_n = 5;
  config.max_n = 4;
  FastText m;
  m.config() = config;
  Job job;
  EXPECT_EQ(message_of(ErrorKind::kUsage, [&] { m.train(corpus_of(two_stems(20)), job); }),
            "--min-n 5 is more than --max-n 4");
}

// Through a file of fastText and back: every row, and the vectors of unseen words.
TEST(FastText, AFileOfFastTextHoldsAllOfIt) {
  Config config = small();
  config.buckets = 5000;
  const FastText m = trained(corpus_of(two_stems(300)), config);
  const test::ScratchFile file;
  m.write_fasttext(file.path, Context(1));
  const FastTextFile read = read_fasttext_bin(file.path);
  EXPECT_EQ(read.input.rows(), m.names().size() + 5000);
  EXPECT_EQ(read.min_n, 3);
  EXPECT_EQ(read.max_n, 6);
  EXPECT_EQ(read.counts, std::any_cast<Vocabulary>(m.known()).counts);
  const auto back = model_of(read_fasttext_bin(file.path));
  const auto& other = dynamic_cast<const FastText&>(*back);
  EXPECT_TRUE(same_bits(m.input(), other.input()));
  EXPECT_TRUE(same_bits(m.output(), other.output()));
  EXPECT_TRUE(same_bits(m.word_vectors(), other.word_vectors()));
  EXPECT_EQ(spelled(m, "flumizz"), spelled(other, "flumizz"));
  test::expect_same_file(other, "fasttext");
}

// A file as fastText writes it, with numbers that a model here has no use for.
FastTextFile of_fasttext(FastTextHeader::Loss loss, int32_t max_n) {
  FastTextFile file;
  file.dim = 4, file.window = 3, file.epochs = 7, file.min_count = 2, file.negatives = 6;
  file.loss = loss, file.min_n = 3, file.max_n = max_n, file.buckets = max_n > 0 ? 50 : 0;
  file.lr_update_rate = 50, file.sample = 3e-5, file.tokens = 165763;
  for (const char* word : {"</s>", "gorda", "flumi"}) file.words.add(word);
  file.counts = {900, 60, 50};
  file.input = Matrix(file.input_rows(), 4);
  file.output = Matrix(3, 4);
  Rng rng(1, 0);
  for (Matrix* const m : {&file.input, &file.output}) {
    for (size_t r = 0; r < m->rows(); ++r) {
      for (float& x : m->row(r)) x = rng.uniform() - 0.5f;
    }
  }
  return file;
}

TEST(FastText, AFileOfFastTextComesOutAsItWas) {
  using Loss = FastTextHeader::Loss;
  for (const Loss loss : {Loss::kHs, Loss::kNs, Loss::kSoftmax, Loss::kOva}) {
    for (const int32_t max_n : {0, 6}) {
      const FastTextFile file = of_fasttext(loss, max_n);
      const test::ScratchFile before, after;
      write_fasttext_bin(before.path, file);
      const auto model = model_of(read_fasttext_bin(before.path));
      const FastText saved = test::through_file(dynamic_cast<FastText&>(*model), "fasttext");
      saved.write_fasttext(after.path, Context(1));
      EXPECT_EQ(testing::get(before.path), testing::get(after.path))
          << static_cast<int>(loss) << " " << max_n;
    }
  }
}

TEST(FastText, NodesOfATreeAreNoVectorsOfWords) {
  const auto model = model_of(of_fasttext(FastTextHeader::Loss::kHs, 6));
  FastText m = test::through_file(dynamic_cast<FastText&>(*model), "fasttext");
  EXPECT_EQ(m.vectors(Side::kInput).size(), 1u);
  for (const Side side : {Side::kOutput, Side::kSum}) {
    EXPECT_NE(message_of(ErrorKind::kUsage, [&] { m.vectors(side); }).find("-loss hs"),
              std::string::npos);
  }
  m.reopen();  // it goes on with rows of words, and they begin at 0
  for (size_t r = 0; r < m.output().rows(); ++r) {
    for (const float x : m.output().row(r)) EXPECT_EQ(x, 0);
  }
  EXPECT_EQ(m.vectors(Side::kOutput).size(), 1u);
  const test::ScratchFile file;
  m.write_fasttext(file.path, Context(1));
  EXPECT_EQ(read_fasttext_bin(file.path).loss, FastTextHeader::Loss::kNs);
}

TEST(FastText, WhatAFileOfFastTextCannotHaveSaidIsADamagedFile) {
  const auto model = model_of(of_fasttext(FastTextHeader::Loss::kHs, 6));
  ArchiveWriter out = test::file_of(dynamic_cast<FastText&>(*model), "fasttext");
  const std::string good = out.metadata.at("fasttext.header");
  EXPECT_EQ(good, "1 3 7 2 6 1 3 50 3e-05 165763");
  for (const char* bad : {"5 3 7 2 6 1 3 50 3e-05 165763", "1 3 7 2 6 1 3 50 3e-05",
                          "1 3 7 2 6 1 3 50 3e-05 165763 1", "1 3.5 7 2 6 1 3 50 3e-05 165763",
                          "1 -3 7 2 6 1 3 50 3e-05 165763", "1 3 7 2 6 1 3 50 3e-05 1e300",
                          "1 3 2147483648 2 6 1 3 50 3e-05 165763"}) {
    out.metadata["fasttext.header"] = bad;
    EXPECT_THROW(test::loaded(out), Error) << bad;
  }
  out.metadata["fasttext.header"] = good;
  EXPECT_NO_THROW(test::loaded(out));
}

TEST(FastText, OwnRowsForEachPartAreNoFileOfFastText) {
  Config config = small();
  config.ngrams = Ngrams::kExplicit;
  const FastText m = trained(corpus_of(two_stems(20)), config);
  const test::ScratchFile file;
  EXPECT_THROW(m.write_fasttext(file.path, Context(1)), Error);
  EXPECT_FALSE(std::filesystem::exists(file.path));
}

TEST(FastText, BucketsOutOfOrderAreADamagedFile) {
  FastText m = trained(corpus_of(two_stems(20)), small());
  ArchiveWriter out = test::file_of(m, "fasttext");
  std::vector<uint32_t> buckets(m.subwords().buckets().begin(), m.subwords().buckets().end());
  std::swap(buckets[0], buckets[1]);
  out.tensors["subwords.buckets"] = tensor_of(std::span<const uint32_t>(buckets));
  EXPECT_THROW(test::loaded(out), Error);
}

}  // namespace
}  // namespace kith::fasttext
