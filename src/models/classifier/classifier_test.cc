// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "core/vectors.h"
#include "models/classifier/kernel.h"
#include "models/classifier/model.h"
#include "models/classifier/test_reference.h"
#include "models/test_model.h"

namespace kith::classifier {
namespace {

using reference::planted;
using reference::read_text;
using test::same_bits;

Classifier trained(const Labelled& data, const Config& config, int threads = 1,
                   bool deterministic = false) {
  Classifier m;
  m.config() = config;
  Job job(threads);
  job.deterministic = deterministic;
  EXPECT_TRUE(m.train(data, job));
  return m;
}

std::vector<float> likely(const Classifier& m, std::span<const uint32_t> words) {
  std::vector<float> out(m.labels().size());
  m.classify(words, out);
  return out;
}

double accuracy(const Classifier& m, const Documents& texts) {
  double right = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<float> p = likely(m, texts.words_of(i));
    const auto guess = static_cast<uint32_t>(std::ranges::max_element(p) - p.begin());
    right += std::ranges::count(texts.labels_of(i), guess) > 0;
  }
  return right / static_cast<double>(texts.size());
}

constexpr Config kSmall{.dim = 10, .epochs = 10};

TEST(Classifier, LearnsWhichWordsALabelHas) {
  const Labelled data = read_text(planted(2000, 4), 0.25);
  for (const LabelLoss loss :
       {LabelLoss::kSoftmax, LabelLoss::kOneVsAll, LabelLoss::kHierarchical}) {
    for (const Optimiser optimiser : {Optimiser::kRowAdaGrad, Optimiser::kSgd}) {
      for (const bool deterministic : {false, true}) {
        Config config = kSmall;
        config.loss = loss;
        config.optimiser = optimiser;
        const Classifier m = trained(data, config, 2, deterministic);
        EXPECT_GT(accuracy(m, data.held_out()), 0.99)
            << int(loss) << int(optimiser) << deterministic;
      }
    }
  }
}

// Which of two words comes first says the label; words alone say nothing.
TEST(Classifier, RunsOfWordsKnowTheOrder) {
  std::string text;
  Rng rng(1, 0);
  for (int i = 0; i < 1000; ++i) {
    const bool first = rng.below(2) == 0;
    text += first ? "__label__ab" : "__label__ba";
    for (int k = 0; k < 3; ++k) text += " w" + std::to_string(rng.below(5));
    text += first ? " a b\n" : " b a\n";
  }
  const Labelled data = read_text(text, 0.3);
  Config config = kSmall;
  EXPECT_GT(accuracy(trained(data, config), data.held_out()), 0.99);
  config.word_ngrams = 1;
  EXPECT_LT(accuracy(trained(data, config), data.held_out()), 0.7);
}

TEST(Classifier, ProbabilitiesSumToOneUnlessLabelsStandForThemselves) {
  const Labelled data = read_text(planted(300, 5));
  for (const LabelLoss loss :
       {LabelLoss::kSoftmax, LabelLoss::kOneVsAll, LabelLoss::kHierarchical}) {
    Config config = kSmall;
    config.loss = loss;
    const Classifier m = trained(data, config);
    EXPECT_EQ(m.exclusive(), loss != LabelLoss::kOneVsAll);
    double worst = 0;
    for (size_t i = 0; i < data.train().size(); ++i) {
      const std::vector<float> p = likely(m, data.train().words_of(i));
      for (const float x : p) EXPECT_TRUE(x >= 0 && x <= 1);
      const double sum = std::accumulate(p.begin(), p.end(), 0.0);
      worst = std::max(worst, std::abs(sum - 1));
    }
    if (m.exclusive()) {
      EXPECT_LT(worst, 1e-6);
    }
  }
}

// Of texts with the labels A and B, A alone and B alone one-vs-all knows both; softmax halves.
TEST(Classifier, SeveralLabels) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += "__label__A __label__B both of\n__label__A one\n__label__B other\n";
  }
  const Labelled data = read_text(text);
  Config config = kSmall;
  const auto of_both = data.train().words_of(0);
  for (const float p : likely(trained(data, config), of_both)) EXPECT_NEAR(p, 0.5, 0.05);
  config.loss = LabelLoss::kOneVsAll;
  for (const float p : likely(trained(data, config), of_both)) EXPECT_GT(p, 0.9);
}

TEST(Classifier, AnUnknownTextGetsTheSharesOfTheLabels) {
  const Labelled data = read_text("__label__x a\n__label__x b\n__label__x c\n__label__y d\n");
  const Classifier m = trained(data, kSmall);
  std::vector<float> p(2);
  EXPECT_FALSE(m.classify({}, p));
  EXPECT_EQ(p, (std::vector<float>{0.75f, 0.25f}));
  const uint32_t unknown = kUnknownWord;
  EXPECT_FALSE(m.classify({&unknown, 1}, p));
  const uint32_t known = 0;
  EXPECT_TRUE(m.classify({&known, 1}, p));
}

// Ten times as many texts of one label: words that both have point to it, unless labels weigh the
// same.
TEST(Classifier, BalancedWeightsMakeLabelsEven) {
  std::string text;
  for (int i = 0; i < 330; ++i) text += i % 11 == 0 ? "__label__rare w\n" : "__label__usual w\n";
  const Labelled data = read_text(text);
  Config config{.dim = 4, .epochs = 40};
  const uint32_t word = 0;
  EXPECT_LT(likely(trained(data, config), {&word, 1})[1], 0.2);
  config.class_weights = "balanced";
  EXPECT_NEAR(likely(trained(data, config), {&word, 1})[1], 0.5, 0.1);
  config.class_weights = "rare=10";
  EXPECT_NEAR(likely(trained(data, config), {&word, 1})[1], 0.5, 0.1);
}

TEST(Classifier, TheSameBits) {
  const Labelled data = read_text(planted(1500, 6), 0.1);
  for (const Optimiser optimiser : {Optimiser::kRowAdaGrad, Optimiser::kSgd}) {
    Config config = kSmall;
    config.optimiser = optimiser;
    config.epochs = 3;
    const Classifier one = trained(data, config);
    EXPECT_TRUE(same_bits(one.input(), trained(data, config).input()));
    const Classifier first = trained(data, config, 1, true);
    for (const int threads : {2, 8}) {
      const Classifier more = trained(data, config, threads, true);
      EXPECT_TRUE(same_bits(first.input(), more.input())) << threads;
      EXPECT_TRUE(same_bits(first.output(), more.output())) << threads;
    }
    test::expect_same_file(one, "classifier");
  }
}

TEST(Classifier, ARunThatWasStoppedGoesOnToTheSameBits) {
  const Labelled data = read_text(planted(600, 3), 0.2);
  for (const int early_stop : {0, 2}) {
    for (const bool deterministic : {false, true}) {
      Config config{.dim = 6, .epochs = 8, .lr = 3.0, .early_stop = early_stop};
      config.loss = early_stop ? LabelLoss::kHierarchical : LabelLoss::kSoftmax;
      const Classifier whole = trained(data, config, 1, deterministic);
      Classifier part;
      part.config() = config;
      for (int stops = 0; stops < 200; ++stops) {
        Job job(1);
        job.deterministic = deterministic;
        int reports = 0;
        job.on_progress = [&](const Progress&) {
          if (++reports == 2) job.cancel();
        };
        if (part.train(data, job)) break;
        part = test::through_file(part, "classifier", true);
      }
      ASSERT_TRUE(part.finished());
      EXPECT_TRUE(same_bits(whole.input(), part.input())) << early_stop << deterministic;
      EXPECT_TRUE(same_bits(whole.output(), part.output())) << early_stop << deterministic;
      test::expect_same_file(part, "classifier");
    }
  }
}

// Labels by chance: the held-out loss is best early on.
std::string noise(size_t texts) {
  std::string out;
  Rng rng(3, 0);
  for (size_t i = 0; i < texts; ++i) {
    out += "__label__" + std::to_string(rng.below(2));
    for (int k = 0; k < 8; ++k) out += " w" + std::to_string(rng.below(200));
    out += "\n";
  }
  return out;
}

TEST(Classifier, StopsEarlyKeepsTheBestEpochAndThenTakesEverything) {
  const Labelled data = read_text(noise(800), 0.3);
  Config config{.dim = 5, .epochs = 30, .early_stop = 2, .refit = false};
  const Classifier kept = trained(data, config);
  ASSERT_TRUE(kept.state().kept);
  const uint64_t best = *kept.state().kept;
  EXPECT_LT(best, 10u);
  EXPECT_LT(kept.state().held_out.size(), 30u);
  // The kept parameters are those that were scored.
  EXPECT_EQ(
      *std::ranges::min_element(kept.state().held_out.begin() + 1, kept.state().held_out.end()),
      *kept.state().held_out_now());
  config.refit = true;
  const Classifier all = trained(data, config);
  EXPECT_EQ(all.state().refit, best);
  EXPECT_GT(all.features().rows(), kept.features().rows());  // runs of what was held out
  const auto counts = all.label_counts();
  EXPECT_EQ(counts[0] + counts[1], 800u);
}

TEST(Classifier, WhatAFileIsForIsNeverLearnedFrom) {
  const TestFolder folder;
  LabelledOptions options;
  options.validation = folder.write("v.txt", planted(100, 2, 9));
  const Labelled data = read_text(planted(200, 2), {}, options);
  const Classifier m = trained(data, {.dim = 5, .epochs = 20, .early_stop = 2});
  EXPECT_FALSE(m.state().refit);
  EXPECT_GT(m.state().held_out.size(), 1u);
  const auto counts = m.label_counts();
  EXPECT_EQ(counts[0] + counts[1], 200u);
}

TEST(Classifier, WordsAndLabelsHaveVectors) {
  const Labelled data = read_text(planted(200, 3));
  Config config = kSmall;
  const Classifier m = trained(data, config);
  const auto groups = m.vectors(Side::kInput);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].vectors->rows(), m.words().size());
  EXPECT_TRUE(same_bits(read_all(*groups[1].vectors), m.output()));
  EXPECT_EQ(message_of(ErrorKind::kUsage, [&] { m.vectors(Side::kOutput); }),
            "a classifier has one vector for each word; leave --vectors out");
  config.loss = LabelLoss::kHierarchical;  // nodes of a tree have no names
  EXPECT_EQ(trained(data, config).vectors(Side::kInput).size(), 1u);
}

TEST(Classifier, MemoryIsThatOfTheRunsThatOccur) {
  const Labelled data = read_text(planted(200, 3));
  Classifier m;
  const Job job(1);
  const uint64_t few = m.memory_needed(data, job);
  EXPECT_LT(few, uint64_t{16} << 20);  // fastText takes 0.8 GB
  m.config().dim = 1000;
  EXPECT_GT(m.memory_needed(data, job), few + 1000 * data.vocabulary().words.size());
}

TEST(Classifier, OtherTextsThanThoseOfTheCheckpointAreRefused) {
  Classifier part;
  part.config() = kSmall;
  Job job(1);
  job.on_progress = [&](const Progress&) { job.cancel(); };
  ASSERT_FALSE(part.train(read_text(planted(200, 3)), job));
  Job again(1);
  const std::string told = message_of(
      ErrorKind::kInput, [&] { part.train(read_text("__label__x a\n__label__y b\n"), again); });
  EXPECT_NE(told.find("the texts have 2 words and 2 labels, the checkpoint"), std::string::npos)
      << told;
}

TEST(Classifier, DamagedPartsAreRefused) {
  const Labelled data = read_text(planted(60, 3));
  Classifier m = trained(data, kSmall);
  const auto refused = [&](const std::function<void(ArchiveWriter&)>& damage) {
    ArchiveWriter file = test::file_of(m, "classifier");
    damage(file);
    message_of(ErrorKind::kInput, [&] { test::loaded(file, Loader::Mode::kMapped); });
    return message_of(ErrorKind::kInput, [&] { test::loaded(file); });
  };
  const std::vector<uint32_t> buckets = m.features().runs().list();
  std::vector<uint32_t> swapped = buckets, large = buckets;
  std::swap(swapped[0], swapped[1]);
  large.back() = 0xffffffff;
  for (const auto& bad : {swapped, large}) {
    EXPECT_NE(refused([&](ArchiveWriter& f) {
                f.tensors["run.buckets"] = tensor_of(std::span<const uint32_t>(bad));
              }).find("not in order"),
              std::string::npos);
  }
  for (const char* runs : {"0", "4294967295", "18446744073709551615"}) {
    refused([&](ArchiveWriter& f) { f.metadata["runs"] = runs; });
  }
  Names one;
  one.add("alone");
  EXPECT_NE(refused([&](ArchiveWriter& f) { f.add_names("labels", one); }).find("two labels"),
            std::string::npos);
}

}  // namespace
}  // namespace kith::classifier
