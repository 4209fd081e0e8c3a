// SPDX-License-Identifier: Apache-2.0
#include "models/lda/model.h"

#include <thread>

#include "models/lda/test_corpora.h"

namespace kith::lda {
namespace {

using namespace kith::lda::test;

Generated five_topics() {
  return {.alpha = {0.2, 0.2, 0.2, 0.2, 0.2}, .words = 100, .documents = 400, .length = 80};
}

// 400 documents of 80 words say what each of 5 topics is to some hundredths: 6400 words a topic in
// 100 kinds, and doubt about which word is of which topic.
TEST(Lda, FindsTheTopicsThatDocumentsWereDrawnFrom) {
  for (const Method method : kMethods) {
    for (const uint64_t seed : {1, 2}) {
      Generated truth = five_topics();
      truth.seed = static_cast<unsigned>(seed);
      const Bags data = bags_of(truth.draw(), 100);
      const Lda m = trained({.topics = 5, .method = method}, data, 2, seed);
      EXPECT_LT(distance(truth.topics, m.word_topics()), 0.1) << name_of(method) << " " << seed;
      // Topics were given to documents all alike.
      if (method == Method::kOnline) continue;
      EXPECT_NEAR(m.priors().alpha_sum(), 1, 0.25) << name_of(method);
    }
  }
}

TEST(Lda, LearnsWhichTopicsAreFrequent) {
  Generated truth = five_topics();
  truth.alpha = {0.05, 0.1, 0.2, 0.4, 0.8};
  truth.documents = 1500;
  const Bags data = bags_of(truth.draw(), 100);
  for (const Method method : {Method::kWarp, Method::kGibbs}) {
    const Lda m = trained({.topics = 5, .method = method, .epochs = 200}, data, 2);
    std::vector<double> alpha = m.priors().alpha;
    std::ranges::sort(alpha);
    for (size_t k = 0; k < 5; ++k) {
      EXPECT_NEAR(alpha[k], truth.alpha[k], 0.3 * truth.alpha[k]) << name_of(method) << " " << k;
    }
    EXPECT_NEAR(m.priors().beta, 0.1, 0.03) << name_of(method);
  }
}

// The chains go to the same place: their likelihoods differ by less than those of two seeds.
TEST(Lda, WarpSamplingReachesTheLikelihoodOfGibbsSampling) {
  const Bags data = bags_of(five_topics().draw(), 100);
  std::vector<double> losses;
  for (const Method method : {Method::kWarp, Method::kGibbs}) {
    Config config{.topics = 5, .method = method, .epochs = 300, .alpha = 0.2, .beta = 0.1};
    double sum = 0;
    Lda m;
    m.config() = config;
    Job job(2);
    job.on_progress = [&](const Progress& p) {
      if (p.epoch_done && p.epoch > 200) sum += p.loss;
    };
    m.train(data, job);
    losses.push_back(sum / 100);
  }
  EXPECT_NEAR(losses[0], losses[1], 0.003 * losses[1]);
}

TEST(Lda, OneTopicIsHowOftenWordsAre) {
  const Documents documents{{0, 0, 0, 1}, {}, {2, 1, 0}, {0}};
  const Bags data = bags_of(documents, 4);  // word 3 is nowhere
  for (const Method method : kMethods) {
    for (const int proposals : {1, 2}) {
      const Lda m = trained({.topics = 1,
                             .method = method,
                             .epochs = 5,
                             .beta = 0.25,
                             .proposals = proposals,
                             .batch = 10,
                             .kappa = 0},
                            data);
      const double counts[]{5, 2, 1, 0};
      for (size_t w = 0; w < 4; ++w) {
        EXPECT_NEAR(m.word_topics().row(w)[0], (counts[w] + 0.25) / 9, 1e-5) << name_of(method);
      }
      for (size_t d = 0; d < 4; ++d) EXPECT_FLOAT_EQ(m.mixtures().row(d)[0], 1);
    }
  }
}

TEST(Lda, TheSameBitsForAnyNumberOfThreads) {
  Documents documents = five_topics().draw();
  documents.emplace_back(Assignments::kLong + 9000, 50);  // a word that is cut
  documents.emplace_back();
  const Bags data = bags_of(documents, 100);
  for (const Method method : kMethods) {
    const Config config{.topics = 20, .method = method, .epochs = 12, .burn_in = 2, .batch = 50};
    const Lda one = trained(config, data, 1);
    for (const int threads : {2, 3, 8}) {
      expect_same(one, trained(config, data, threads),
                  fmt::format("{} {}", name_of(method), threads));
    }
    EXPECT_FALSE(same_bits(one.word_topics(), trained(config, data, 1, 2).word_topics())) << "seed";
    expect_same_file(one, "lda");
  }
}

TEST(Lda, ARunThatIsStoppedGoesOnToTheSameBits) {
  const Bags data = bags_of(five_topics().draw(), 100);
  for (const Method method : kMethods) {
    const Config config{
        .topics = 7, .method = method, .epochs = 12, .burn_in = 3, .average = 6, .batch = 64};
    const Lda whole = trained(config, data, 2);
    // Both passes of a sweep end at a safe point, and the last one ends the run.
    for (int stop = 1; stop < (method == Method::kWarp ? 24 : 12); ++stop) {
      const Lda again = interrupted<Lda>(config, data, "lda", stop, false, 3);
      expect_same(whole, again, fmt::format("{} stopped at {}", name_of(method), stop));
    }
  }
}

// Wherever a cancel meets it.
TEST(Lda, ARunThatIsCancelledAtAnyTimeGoesOnToTheSameBits) {
  Generated truth = five_topics();
  truth.documents = 2000;
  const Bags data = bags_of(truth.draw(), 100);
  for (const Method method : kMethods) {
    const Config config{.topics = 30, .method = method, .epochs = 16, .burn_in = 3, .average = 16};
    const Lda whole = trained(config, data, 2);
    Lda m;
    m.config() = config;
    int stops = 0;
    for (bool done = false; !done;) {
      Job job(2);
      std::thread canceller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5 + 3 * stops));
        job.cancel();
      });
      done = m.train(data, job);
      canceller.join();
      if (!done) m = through_file(m, "lda", true);
      ++stops;
    }
    expect_same(whole, m, fmt::format("{} stopped {} times", name_of(method), stops));
  }
}

TEST(Lda, AveragedTopicsForetellWordsBetter) {
  Generated truth = five_topics();
  truth.words = 1000;
  Bags data = bags_of(truth.draw(), 1000);
  data.hold_out(0.2);
  const auto held_out = [&](std::optional<int> average) {
    return *trained({.topics = 10, .epochs = 200, .average = average}, data, 2)
                .state()
                .held_out_now();
  };
  EXPECT_LT(held_out({}), held_out(1) - 0.003);
}

TEST(Lda, AnAverageOfOneSweepIsOfWholeCounts) {
  const Bags data = bags_of(five_topics().draw(), 100);
  for (const Method method : {Method::kWarp, Method::kGibbs}) {
    const Lda m = trained(
        {.topics = 5, .method = method, .epochs = 3, .alpha = 0.1, .beta = 0.5, .average = 1},
        data);
    double all = 0;
    for (size_t k = 0; k < 5; ++k) {
      // phi_wk = (c_wk + beta) / (c_k + V beta), and some word is never of the topic.
      double sum = 0, least = 1;
      for (size_t w = 0; w < 100; ++w) {
        sum += m.word_topics().row(w)[k];
        least = std::min<double>(least, m.word_topics().row(w)[k]);
      }
      EXPECT_NEAR(sum, 1, 1e-5);
      for (size_t w = 0; w < 100; ++w) {
        const double n = 0.5 * m.word_topics().row(w)[k] / least - 0.5;
        EXPECT_NEAR(n, std::round(n), 2e-3) << w;
        all += n;
      }
    }
    EXPECT_NEAR(all, 400 * 80, 1) << name_of(method);
  }
}

TEST(Lda, SmallAndEmptyThingsAreLearned) {
  for (const Method method : kMethods) {
    const std::string what = name_of(method);
    // A document of one word; words more often than topics are; documents without words.
    for (const Documents& documents :
         {Documents{{0}}, Documents{{}, {1}, {}}, Documents{{0, 0, 0, 0, 0, 0}},
          Documents{{0, 1}, {1, 0}, {}, {0}}}) {
      const Bags data = bags_of(documents, 2);
      const Lda m = trained({.topics = 3, .method = method, .epochs = 4, .burn_in = 1}, data);
      EXPECT_TRUE(m.finished()) << what;
      EXPECT_TRUE(all_finite(m.word_topics()) && all_finite(m.mixtures())) << what;
      EXPECT_TRUE(std::isfinite(m.state().loss)) << what;
    }
    Lda m;
    m.config().method = method;
    Job job;
    EXPECT_EQ(message_of(ErrorKind::kInput,
                         [&] {
                           m.train(bags_of({{}, {}}, 2), job);
                         }),
              "no document has a word to learn from");
  }
}

// `held` documents are not learned from, and are scored.
TEST(Lda, TellsThePerplexityOfWhatIsHeldOut) {
  Bags data = bags_of(five_topics().draw(), 100);
  data.hold_out(0.1);
  ASSERT_GT(data.held_out_documents(), 20u);
  for (const Method method : kMethods) {
    Lda m;
    m.config() = {.topics = 5, .method = method, .epochs = 40};
    Job job(2);
    std::vector<double> scores;
    job.on_progress = [&](const Progress& p) {
      if (p.held_out) scores.push_back(*p.held_out);
    };
    m.train(data, job);
    EXPECT_GE(scores.size(), 20u) << "every second sweep";
    EXPECT_LT(scores.back(), m.state().held_out.front() - 0.1) << name_of(method);
    EXPECT_LT(scores.back(), std::log(100.0));
  }
}

TEST(Lda, ACheckpointOfOtherDataOrDamagedIsRefused) {
  const Bags data = bags_of(five_topics().draw(), 100);
  const auto half = [&](Method method) {
    Lda m;
    m.config() = {.topics = 5, .method = method, .epochs = 6};
    Job job;
    job.on_progress = [&](const Progress& p) {
      if (p.epoch == 3) job.cancel();
    };
    m.train(data, job);
    return m;
  };
  for (const Method method : kMethods) {
    Lda m = half(method);
    Job job;
    Generated other = five_topics();
    other.documents = 399;
    EXPECT_THROW(m.train(bags_of(other.draw(), 100), job), Error);
    other.documents = 400;
    other.length = 79;
    if (method != Method::kOnline) {
      EXPECT_THROW(m.train(bags_of(other.draw(), 100), job), Error);
    }
    ArchiveWriter file = file_of(m, "lda", true);
    std::vector<uint32_t> topics(16000, method == Method::kWarp ? 0x00050000u : 0x00000005u);
    for (const char* const part : {"chain.topics", "chain.sums"}) {
      ArchiveWriter damaged = file;
      if (method == Method::kOnline) {
        damaged.tensors.erase("chain.sums");
      } else if (part == std::string("chain.sums")) {
        damaged.tensors.erase("chain.topics");
      } else {
        topics.resize(method == Method::kWarp ? 32000 : 16000, 0);
        damaged.tensors["chain.topics"] = tensor_of(std::span<const uint32_t>(topics));
      }
      const kith::test::ScratchFile path;
      damaged.save(path.path);
      Lda again;
      restore_checkpoint(again, "lda", Archive::open(path.path));
      EXPECT_EQ(message_of(ErrorKind::kInput, [&] { again.train(data, job); }),
                "the checkpoint lacks what is needed to go on with these data; start over without "
                "--resume");
    }
  }
}

}  // namespace
}  // namespace kith::lda
