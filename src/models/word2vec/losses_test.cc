// SPDX-License-Identifier: Apache-2.0
// What is learned with losses besides negative sampling, from one side, with a bilinear score.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/rng.h"
#include "models/test_model.h"
#include "models/word2vec/model.h"
#include "models/words/kernel.h"
#include "train/huffman.h"
#include "train/test_corpus.h"

namespace kith::word2vec {
namespace {

using test::same_bits;
using words::Form;
using words::Neighbours;
using words::Relations;
using words::WordLoss;

constexpr WordLoss kOthers[] = {WordLoss::kNce, WordLoss::kSoftmax, WordLoss::kHierarchical};

std::string two_topics(int lines) {
  std::string text;
  Rng rng(1, 0);
  for (int i = 0; i < lines; ++i) {
    for (int j = 0; j < 12; ++j) text += (i % 2 ? "b" : "a") + std::to_string(rng.below(10)) + " ";
    text += "\n";
  }
  return text;
}

Word2Vec trained(const Corpus& corpus, const Config& config, int threads, bool deterministic) {
  Word2Vec m;
  m.config() = config;
  Job job(threads);
  job.deterministic = deterministic;
  m.train(corpus, job);
  EXPECT_TRUE(m.finished());
  return m;
}

bool same_model(const Word2Vec& a, const Word2Vec& b) {
  return same_bits(a.input(), b.input()) && same_bits(a.output(), b.output()) &&
         same_bits(a.form(), b.form()) && std::ranges::equal(a.biases(), b.biases()) &&
         a.state().held_out == b.state().held_out && a.state().loss == b.state().loss &&
         a.words_seen() == b.words_seen() && a.pairs() == b.pairs();
}

double dot(std::span<const float> x, std::span<const float> y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x[i]) * y[i];
  return sum;
}
double cosine(const Word2Vec& m, size_t a, size_t b) {
  const auto x = m.input().row(a), y = m.input().row(b);
  return dot(x, y) / std::sqrt(dot(x, x) * dot(y, y));
}

void expect_topics(const Word2Vec& m, const std::string& what) {
  double within = 0, across = 0;
  for (size_t a = 0; a < 20; ++a) {
    for (size_t b = 0; b < 20; ++b) {
      if (m.names()[a][0] != m.names()[b][0]) {
        across += cosine(m, a, b) / 200;
      } else if (a != b) {
        within += cosine(m, a, b) / 180;
      }
    }
  }
  EXPECT_GT(within, 0.75) << what;
  EXPECT_LT(across, 0.35) << what;
}

Config small(WordLoss loss) { return {.dim = 16, .sample = 0, .epochs = 10, .loss = loss}; }

template <class E>
std::string_view name_of(E value) {
  return EnumNames<E>::names[static_cast<size_t>(value)];
}

struct Variant {
  std::string name;
  Config config;
};
// Each loss, each optimiser, each kind of form.
std::vector<Variant> variants() {
  std::vector<Variant> out;
  const auto add = [&](std::string_view name, const auto& change) {
    out.push_back({std::string(name), small(WordLoss::kNs)});
    change(out.back().config);
  };
  for (const WordLoss loss : kOthers) add(name_of(loss), [&](Config& c) { c.loss = loss; });
  for (const Optimiser o : {Optimiser::kSgd, Optimiser::kMomentum, Optimiser::kNesterov,
                            Optimiser::kAdaGrad, Optimiser::kAdam}) {
    add(name_of(o), [&](Config& c) { c.optimiser = o; });
  }
  for (const Form form : {Form::kDiagonal, Form::kFull}) {
    for (const Relations r : {Relations::kOne, Relations::kSide, Relations::kPlace}) {
      add(fmt::format("{} {}", name_of(form), name_of(r)), [&](Config& c) {
        c.form = form;
        c.relations = r;
        c.epochs = 5;
      });
    }
  }
  add("adam nce", [](Config& c) {
    c.optimiser = Optimiser::kAdam;
    c.loss = WordLoss::kNce;
  });
  add("adagrad hierarchical", [](Config& c) {
    c.optimiser = Optimiser::kAdaGrad;
    c.loss = WordLoss::kHierarchical;
  });
  return out;
}

TEST(Word2VecLosses, EachFindsTheTopics) {
  const Corpus corpus = corpus_of(two_topics(1500));
  for (const Variant& variant : variants()) {
    for (const Objective objective : {Objective::kSkipGram, Objective::kCbow}) {
      Config config = variant.config;
      if (config.loss == WordLoss::kSoftmax && objective == Objective::kCbow) continue;
      for (const bool deterministic : {false, true}) {
        config.objective = objective;
        const Word2Vec m = trained(corpus, config, 2, deterministic);
        const auto what = fmt::format("{} {} deterministic {}", variant.name,
                                      static_cast<int>(objective), deterministic);
        expect_topics(m, what);
        EXPECT_EQ(m.words_seen(), static_cast<uint64_t>(config.epochs) * corpus.words()) << what;
      }
    }
  }
}

TEST(Word2VecLosses, SameBitsForAnyNumberOfThreads) {
  const Corpus corpus = corpus_of(two_topics(600), 1, 500);
  for (const auto& [name, config] : variants()) {
    const Word2Vec one = trained(corpus, config, 1, true);
    for (const int threads : {2, 8}) {
      EXPECT_TRUE(same_model(one, trained(corpus, config, threads, true)))
          << name << " with " << threads;
    }
    EXPECT_TRUE(same_model(trained(corpus, config, 1, false), trained(corpus, config, 1, false)));
  }
}

TEST(Word2VecLosses, SavedLoadedAndResumed) {
  const Corpus corpus = corpus_of(two_topics(1000), 1, 200);
  for (const Variant& variant : variants()) {
    Config config = variant.config;
    config.epochs = 3;
    config.early_stop = 5;
    for (const bool deterministic : {false, true}) {
      const Word2Vec whole = trained(corpus, config, 1, deterministic);
      EXPECT_TRUE(same_model(whole, test::through_file(whole, "word2vec")));
      test::expect_same_file(whole, "word2vec");
      for (int stop = 1; stop <= 3; ++stop) {
        const Word2Vec second = test::interrupted<Word2Vec>(config, corpus, "word2vec", stop,
                                                            deterministic, deterministic ? 3 : 1);
        EXPECT_TRUE(same_model(whole, second)) << variant.name << " at " << stop;
      }
    }
  }
}

// Each word is followed by one of its own three, so what comes next is known: with dimensions
// enough, log p(next | word) is what each loss must come to.
struct Chain {
  explicit Chain(size_t length) {
    Rng rng(3, 3);
    uint32_t last = 0;
    for (size_t i = 0; i < length; ++i) {
      const uint32_t draw = rng.below(6);
      const uint32_t next = (last * 2 + (draw < 3 ? 1 : draw < 5 ? 4 : 6)) % 9;
      if (i > 0) n["w" + std::to_string(last)]["w" + std::to_string(next)] += 1;
      text += "w" + std::to_string(next) + " ";
      last = next;
    }
  }
  std::string text;
  std::map<std::string, std::map<std::string, double>> n;  // by word, then the next
};

Config next_word(WordLoss loss) {
  return {.dim = 16,
          .window = 1,
          .fixed_window = true,
          .negatives = 8,
          .alpha = 1,
          .noise = Noise::kPair,
          .sample = 0,
          .epochs = 40,
          .lr = 0.1,
          .adapt_rate = 0,
          .loss = loss,
          .side = Neighbours::kLeft};
}

// p(next | word) as the model has it.
double probability(const Word2Vec& m, WordLoss loss, size_t word, size_t next) {
  const auto x = m.input().row(word);
  if (loss == WordLoss::kHierarchical) {
    const Tree tree(std::any_cast<Vocabulary>(m.known()).counts);
    double p = 1;
    for (const Tree::Step s : tree.path(static_cast<uint32_t>(next))) {
      const double right = 1 / (1 + std::exp(-dot(x, m.output().row(s.node))));
      p *= s.right ? right : 1 - right;
    }
    return p;
  }
  const auto e = [&](size_t c) {
    return std::exp(dot(x, m.output().row(c)) + static_cast<double>(m.biases()[c]));
  };
  if (loss == WordLoss::kNce) return e(next);  // it learns to be normalised
  double sum = 0;
  for (size_t c = 0; c < m.names().size(); ++c) sum += e(c);
  return e(next) / sum;
}

TEST(Word2VecLosses, EachLearnsHowLikelyTheNextWordIs) {
  const Chain chain(60000);
  const Corpus corpus = corpus_of(chain.text);
  for (const WordLoss loss : kOthers) {
    const Word2Vec m = trained(corpus, next_word(loss), 1, false);
    double worst = 0;
    for (size_t w = 0; w < m.names().size(); ++w) {
      const auto& row = chain.n.at(std::string(m.names()[w]));
      double all = 0;
      for (const auto& [next, n] : row) all += n;
      for (size_t c = 0; c < m.names().size(); ++c) {
        const auto found = row.find(std::string(m.names()[c]));
        const double truth = found == row.end() ? 0 : found->second / all;
        worst = std::max(worst, std::abs(probability(m, loss, w, c) - truth));
      }
    }
    // Shares are 1/2, 1/3 and 1/6; steps at a rate that falls to 0 end within a few hundredths.
    EXPECT_LT(worst, 0.06) << static_cast<int>(loss);
  }
}

// From the right a word is told by the one that follows it: another question, another answer.
TEST(Word2VecLosses, SidesDiffer) {
  const Corpus corpus = corpus_of(Chain(20000).text);
  for (const WordLoss loss : {WordLoss::kNs, WordLoss::kSoftmax}) {
    std::vector<Word2Vec> models;
    for (const Neighbours side : {Neighbours::kBoth, Neighbours::kLeft, Neighbours::kRight}) {
      Config config = next_word(loss);
      config.side = side;
      models.push_back(trained(corpus, config, 1, false));
    }
    const uint64_t one = models[1].pairs();
    EXPECT_NEAR(static_cast<double>(models[0].pairs()), 2.0 * static_cast<double>(one), 100);
    EXPECT_EQ(models[2].pairs(), one);
    EXPECT_FALSE(same_bits(models[1].input(), models[2].input()));
  }
}

// x'Iy is x'y: not one bit may differ while B stays what it is, scoring included.
TEST(Word2VecForm, TheIdentityGivesTheBitsOfWord2Vec) {
  const Corpus corpus = corpus_of(two_topics(400), 1, 300);
  for (const Objective objective : {Objective::kSkipGram, Objective::kCbow}) {
    for (const Noise noise : {Noise::kPool, Noise::kPair}) {
      for (const WordLoss loss : {WordLoss::kNs, WordLoss::kNce, WordLoss::kHierarchical}) {
        Config config = small(loss);
        config.objective = objective;
        config.noise = noise;
        config.dim = 19;
        config.epochs = 2;
        const Word2Vec plain = trained(corpus, config, 1, false);
        for (const Form form : {Form::kDiagonal, Form::kFull}) {
          config.form = form;
          config.form_rate = 0;
          const Word2Vec m = trained(corpus, config, 1, false);
          EXPECT_TRUE(same_bits(plain.input(), m.input()));
          EXPECT_TRUE(same_bits(plain.output(), m.output()));
          EXPECT_EQ(plain.state().held_out, m.state().held_out);
          for (size_t k = 0; k < 19; ++k)
            EXPECT_EQ(m.form().row(form == Form::kFull ? k : 0)[k], 1);
          // In a whole window a word that stands on both sides of another has two copies, and the
          // sums are in another order. Pairs are windows of their own.
          if (objective == Objective::kCbow || noise != Noise::kPair) continue;
          if (loss == WordLoss::kHierarchical) continue;
          for (const Relations relations : {Relations::kSide, Relations::kPlace}) {
            config.relations = relations;
            EXPECT_TRUE(same_bits(plain.input(), trained(corpus, config, 1, false).input()));
          }
          config.relations = Relations::kOne;
        }
        config.form = Form::kNone;
      }
    }
  }
}

// A B for each side, or each place of the window: all of them move, each in its own way.
TEST(Word2VecForm, EachRelationLearnsItsOwn) {
  const Corpus corpus = corpus_of(Chain(20000).text);
  Config config = small(WordLoss::kNs);
  config.window = 3;
  config.form = Form::kFull;
  for (const Relations relations : {Relations::kOne, Relations::kSide, Relations::kPlace}) {
    config.relations = relations;
    const Word2Vec m = trained(corpus, config, 1, false);
    const size_t forms = words::FormTable::count(relations, 3);
    ASSERT_EQ(m.form().rows(), forms * 16);
    for (size_t f = 0; f < forms; ++f) {
      EXPECT_NE(m.form().row(f * 16)[0], 1) << "it was learned";
      for (size_t other = 0; other < f; ++other) {
        EXPECT_FALSE(std::ranges::equal(m.form().row(f * 16), m.form().row(other * 16)));
      }
    }
  }
}

TEST(Word2VecForm, GoesOnWithItsOwn) {
  const Corpus corpus = corpus_of(two_topics(100));
  Config config = small(WordLoss::kNs);
  config.form = Form::kDiagonal;
  config.relations = Relations::kPlace;
  Word2Vec m = trained(corpus, config, 1, false);
  const auto refused = [&](const auto& change) {
    Word2Vec other = test::through_file(m, "word2vec");
    other.reopen();
    change(other.config());
    Job job;
    EXPECT_NE(
        message_of(ErrorKind::kUsage, [&] { other.train(corpus, job); }).find("its own --form"),
        std::string::npos);
  };
  refused([](Config& c) {
    c.form = Form::kNone;
    c.relations = Relations::kOne;
  });
  refused([](Config& c) { c.form = Form::kFull; });
  refused([](Config& c) { c.relations = Relations::kSide; });
  refused([](Config& c) { c.window = 4; });
  m.reopen();
  Job job;
  m.train(corpus, job);
  EXPECT_EQ(m.form().rows(), 10u);
}

// Optimisers begin anew with each run, whatever the run before went by.
TEST(Word2VecLosses, GoesOnWithAnyOptimiser) {
  const Corpus corpus = corpus_of(two_topics(200));
  Word2Vec m = trained(corpus, small(WordLoss::kNs), 1, false);
  for (const Optimiser o : {Optimiser::kAdam, Optimiser::kMomentum, Optimiser::kRowAdaGrad}) {
    m = test::through_file(m, "word2vec");
    const auto base = std::any_cast<Vocabulary>(m.known());
    const Corpus more = corpus_of(two_topics(200) + "a1 anew a2\n", 1, 0, &base);
    m.reopen();
    m.config().optimiser = o;
    Job job;
    m.train(more, job);
    expect_topics(m, std::string(name_of(o)));
    EXPECT_EQ(m.names().size(), 21u);
  }
}

TEST(Word2VecLosses, WhatDoesNotGoTogetherIsRefused) {
  const Corpus corpus = corpus_of(two_topics(50));
  const auto refused = [&](const Config& config) {
    Word2Vec m;
    m.config() = config;
    Job job;
    message_of(ErrorKind::kUsage, [&] { m.train(corpus, job); });
    message_of(ErrorKind::kUsage, [&] { m.memory_needed(corpus, job); });
  };
  for (const WordLoss loss : kOthers) refused({.noise = Noise::kCentre, .loss = loss});
  refused({.objective = Objective::kCbow, .loss = WordLoss::kSoftmax});
  refused({.loss = WordLoss::kSoftmax, .form = Form::kFull});
  refused({.noise = Noise::kCentre, .form = Form::kDiagonal});
  refused({.relations = Relations::kSide});
  refused({.form = Form::kFull, .optimiser = Optimiser::kAdam});
  refused({.loss = WordLoss::kSoftmax, .optimiser = Optimiser::kSgd});
  std::string many;
  for (int i = 0; i < 33000; ++i) many += "w" + std::to_string(i) + " ";
  Word2Vec m;
  m.config().loss = WordLoss::kSoftmax;
  Job job;
  const Corpus large = corpus_of(many);
  EXPECT_NE(message_of(ErrorKind::kUsage, [&] { m.train(large, job); }).find("--max-vocab"),
            std::string::npos);
}

// Windows longer than the text, one dimension, two words, a word that nothing stands beside.
TEST(Word2VecLosses, SmallThings) {
  for (const WordLoss loss : kOthers) {
    for (const char* const text : {"a b\n", "a b a b c\nd\n", "a\nb\n"}) {
      Config config = small(loss);
      config.dim = 1;
      config.window = 100;
      const Word2Vec m = trained(corpus_of(text), config, 1, false);
      EXPECT_TRUE(std::isfinite(m.input().row(0)[0]));
    }
  }
}

TEST(Word2VecLosses, GoesOnWithItsOwnLoss) {
  const Corpus corpus = corpus_of(two_topics(200));
  for (const WordLoss loss : kOthers) {
    Word2Vec m = trained(corpus, small(loss), 1, false);
    const auto base = std::any_cast<Vocabulary>(m.known());
    const Corpus more = corpus_of(two_topics(100) + "a1 anew a2\n", 1, 0, &base);
    m.reopen();
    Job job;
    if (loss == WordLoss::kHierarchical) {
      message_of(ErrorKind::kUsage, [&] { m.train(more, job); });
      message_of(ErrorKind::kUsage, [&] { m.vectors(Side::kOutput); });
      continue;
    }
    m.config().loss = WordLoss::kNs;
    message_of(ErrorKind::kUsage, [&] { m.train(more, job); });
    m.config().loss = loss;
    m.train(more, job);
    EXPECT_EQ(m.biases().size(), 21u);
    EXPECT_LT(m.biases()[20], -5) << "it is rare";
  }
}

}  // namespace
}  // namespace kith::word2vec
