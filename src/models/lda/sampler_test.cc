// SPDX-License-Identifier: Apache-2.0
// What the samplers draw, beside what they should draw, by enumeration.
#include <numeric>

#include "models/lda/kernel.h"
#include "models/lda/test_corpora.h"

namespace kith::lda {
namespace {

using namespace kith::lda::test;

// Six words in three documents, in each a word twice or three different ones.
const Documents kTiny{{0, 0}, {0, 1, 2}, {2}};
const Priors kTinyPriors{{0.5, 1.0}, 0.4};
constexpr size_t kTinyTokens = 6, kTinyStates = 64;

// The topics of all tokens as bits of a number, in the order of documents.
uint32_t code_of(const Assignments& state) {
  uint32_t out = 0;
  const Layout& layout = state.layout();
  for (uint64_t i = 0; i < layout.tokens(); ++i) out |= state.topic(layout.place[i]) << i;
  return out;
}
void decode(uint32_t code, Assignments& state) {
  const Layout& layout = state.layout();
  for (uint64_t i = 0; i < layout.tokens(); ++i) {
    std::fill_n(state.record(layout.place[i]), state.stride(),
                static_cast<uint16_t>(code >> i & 1));
  }
}

// log p(words, topics), a word after the other: each topic as often as before it in its document,
// each word as often as before it in its topic (Polya's urns).
double log_by_urns(const Assignments& state, const Priors& priors) {
  const Layout& layout = state.layout();
  const size_t words = layout.words.size() - 1, topics = state.topics();
  std::vector<std::vector<double>> by_word(words, std::vector<double>(topics, 0.0));
  std::vector<double> totals(topics, 0.0);
  double out = 0;
  for (size_t d = 0; d + 1 < layout.documents.size(); ++d) {
    std::vector<double> here(topics, 0.0);
    for (uint64_t i = layout.documents[d]; i < layout.documents[d + 1]; ++i) {
      const uint32_t k = state.topic(layout.place[i]);
      const auto w = static_cast<size_t>(std::ranges::upper_bound(layout.words, layout.place[i]) -
                                         layout.words.begin()) -
                     1;
      const auto before = static_cast<double>(i - layout.documents[d]);
      out += std::log((here[k] + priors.alpha[k]) / (before + priors.alpha_sum()));
      out += std::log((by_word[w][k] + priors.beta) /
                      (totals[k] + priors.beta * static_cast<double>(words)));
      ++here[k];
      ++by_word[w][k];
      ++totals[k];
    }
  }
  return out;
}

std::vector<double> exact_posterior(Assignments& state, const Priors& priors) {
  std::vector<double> out(kTinyStates);
  for (uint32_t code = 0; code < kTinyStates; ++code) {
    decode(code, state);
    out[code] = std::exp(log_by_urns(state, priors));
  }
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& p : out) p /= sum;
  return out;
}

struct Tiny {
  explicit Tiny(size_t stride = 1)
      : counts(counts_of(kTiny, 3)),
        layout(layout_of(counts)),
        state(layout, packed, 2, stride, context) {
    state.draw(1);
  }
  Context context{1};
  Sparse counts;
  Layout layout;
  std::vector<uint32_t> packed;
  Assignments state;
};

TEST(LdaAssignments, TheLikelihoodIsThatOfPolyasUrns) {
  Generated truth{.alpha = {0.3, 0.7, 0.2}, .words = 30, .documents = 20, .length = 50};
  const Sparse counts = counts_of(truth.draw(), 30);
  const Layout layout = layout_of(counts);
  for (const int threads : {1, 3}) {
    const Context context(threads);
    std::vector<uint32_t> packed;
    Assignments state(layout, packed, 3, 2, context);
    state.draw(7);
    const Priors priors{{0.3, 1.7, 0.02}, 0.13};
    // Sums of a few thousand logarithms in another order.
    EXPECT_NEAR(state.log_likelihood(priors), log_by_urns(state, priors), 1e-8);
  }
}

// Collapsed Gibbs sampling has the posterior as its stationary distribution: over many sweeps each
// of the 64 assignments comes as often as the enumeration says. Sweeps that lie ten apart are
// independent, nearly.
TEST(LdaGibbs, DrawsFromThePosterior) {
  Tiny tiny;
  const std::vector<double> truth = exact_posterior(tiny.state, kTinyPriors);
  GibbsCounts counts;
  counts.words = Matrix(3, 2);
  counts.rows = Matrix(4, 2);
  counts.here.assign(2, 0);
  counts.totals = tiny.state.totals();
  counts.beta = static_cast<float>(kTinyPriors.beta);
  counts.all_beta = 3 * kTinyPriors.beta;
  tiny.state.add_counts(counts.words);
  for (size_t k = 0; k < 2; ++k) {
    counts.rows.row(GibbsCounts::kPrior)[k] = static_cast<float>(kTinyPriors.alpha[k]);
    counts.rows.row(GibbsCounts::kInverse)[k] =
        static_cast<float>(1 / (static_cast<double>(counts.totals[k]) + counts.all_beta));
  }
  std::vector<double> seen(kTinyStates, 0.0);
  for (uint64_t sweep = 0; sweep < 400000; ++sweep) {
    for (uint32_t d = 0; d < 3; ++d) {
      const std::vector<uint32_t>& words = kTiny[d];
      std::vector<uint16_t> topics;
      const uint32_t* const place = tiny.layout.place.data() + tiny.layout.documents[d];
      for (size_t i = 0; i < words.size(); ++i) topics.push_back(*tiny.state.record(place[i]));
      Rng rng(5, sweep * 3 + d);
      gibbs_document(words, topics.data(), counts, rng);
      for (size_t i = 0; i < words.size(); ++i) *tiny.state.record(place[i]) = topics[i];
    }
    if (sweep % 10 == 9) ++seen[code_of(tiny.state)];
  }
  EXPECT_LT(chi_square(seen, truth), far(kTinyStates));
  // What was kept beside it are the counts of the state.
  EXPECT_EQ(counts.totals, tiny.state.totals());
  Matrix again(3, 2);
  tiny.state.add_counts(again);
  EXPECT_TRUE(same_bits(again, counts.words));
}

std::vector<double> seen_by_warp(Tiny& tiny, int sweeps) {
  PassCounts pass;
  Warp warp(tiny.state, pass, 3);
  std::vector<double> seen(kTinyStates, 0.0);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (const bool by_word : {false, true}) {
      warp.begin_pass(by_word);
      warp.set_priors(kTinyPriors, by_word);
      const auto shards = by_word ? tiny.state.word_shards() : tiny.state.document_shards();
      for (const Shard& s : shards) {
        by_word ? warp.visit_words(s, static_cast<uint64_t>(sweep), 0, nullptr)
                : warp.visit_documents(s, static_cast<uint64_t>(sweep), 0);
      }
    }
    ++seen[code_of(tiny.state)];
  }
  for (double& s : seen) s /= sweeps;
  return seen;
}

// Counts of the other side and of topics are those of the last pass, so the passes of six words,
// where each one is a large part of every count, do not end in the posterior itself. But near it:
// by total variation, three times nearer than draws that are all alike.
TEST(LdaWarp, IsNearThePosteriorEvenOfSixWords) {
  for (const size_t stride : {2, 5}) {
    Tiny tiny(stride);
    const std::vector<double> truth = exact_posterior(tiny.state, kTinyPriors);
    tiny.state.draw(1);
    const std::vector<double> seen = seen_by_warp(tiny, 200000);
    double variation = 0;
    for (size_t i = 0; i < kTinyStates; ++i) variation += std::abs(seen[i] - truth[i]) / 2;
    double alike = 0;
    for (const double p : truth) alike += std::abs(1.0 / kTinyStates - p) / 2;
    EXPECT_LT(variation, alike / 3) << stride - 1 << " proposals";
  }
}

// A word of a document of its own, all others fixed: its conditional distribution is known. If its
// topic comes from that, and what is proposed to it from the counts of its word without it, then a
// pass by document leaves its topic distributed as it was.
TEST(LdaWarp, AStepKeepsTheTargetAsItIs) {
  const Documents documents{{0, 0, 0, 0, 1, 1, 2}, {0, 2, 2, 2}, {0}};
  const std::vector<uint32_t> fixed{0, 0, 1, 2, 1, 2, 2, 2, 0, 1, 1};
  const Priors priors{{0.2, 0.9, 0.5}, 0.3};
  const Sparse counts = counts_of(documents, 3);
  const Layout layout = layout_of(counts);
  const Context context(1);
  for (const size_t proposals : {1, 3}) {
    std::vector<uint32_t> packed;
    Assignments state(layout, packed, 3, proposals + 1, context);
    state.draw(1);
    PassCounts pass;
    Warp warp(state, pass, 9);
    // Of the others: word 0 has topics 0, 0, 1, 2 and 2; topics have 3, 4 and 4 tokens.
    const std::vector<double> of_word{2.3, 1.3, 2.3};
    const std::vector<double> target{0.2 * 2.3 / 3.9, 0.9 * 1.3 / 4.9, 0.5 * 2.3 / 4.9};
    std::mt19937 random(4);
    std::discrete_distribution<uint16_t> from_target(target.begin(), target.end());
    std::discrete_distribution<uint16_t> from_word(of_word.begin(), of_word.end());
    std::vector<double> seen(3, 0.0);
    for (uint64_t trial = 0; trial < 60000; ++trial) {
      for (uint64_t i = 0; i < fixed.size(); ++i) {
        std::fill_n(state.record(layout.place[i]), proposals + 1, static_cast<uint16_t>(fixed[i]));
      }
      Topic* const last = state.record(layout.place[fixed.size()]);
      last[0] = from_target(random);
      for (size_t m = 1; m <= proposals; ++m) last[m] = from_word(random);
      warp.begin_pass(false);
      warp.set_priors(priors, false);
      for (const Shard& s : state.document_shards()) warp.visit_documents(s, trial, 0);
      ++seen[*last];
    }
    EXPECT_LT(chi_square(seen, target), far(3)) << proposals;
  }
}

// The same of a pass by word: what a document proposes is decided by the word.
TEST(LdaWarp, AStepByWordKeepsTheTargetAsItIs) {
  const Documents documents{{0, 1, 1, 1, 1, 1}, {2, 2, 2}};
  const Sparse counts = counts_of(documents, 3);
  const Layout layout = layout_of(counts);
  const Context context(1);
  const Priors priors{{0.2, 0.9, 0.5}, 0.3};
  const std::vector<uint32_t> fixed{0, 0, 1, 2, 2, 0, 1, 1};  // of all but the first
  std::vector<uint32_t> packed;
  Assignments state(layout, packed, 3, 2, context);
  state.draw(1);
  PassCounts pass;
  Warp warp(state, pass, 9);
  // Of the others: its document has topics 0, 0, 1, 2 and 2, topics have 3, 3 and 2.
  const std::vector<double> of_document{2.2, 1.9, 2.5};
  const std::vector<double> target{2.2 / 3.9, 1.9 / 3.9, 2.5 / 2.9};
  std::mt19937 random(4);
  std::discrete_distribution<uint16_t> from_target(target.begin(), target.end());
  std::discrete_distribution<uint16_t> from_document(of_document.begin(), of_document.end());
  std::vector<double> seen(3, 0.0);
  for (uint64_t trial = 0; trial < 60000; ++trial) {
    for (uint64_t i = 0; i < fixed.size(); ++i) {
      std::fill_n(state.record(layout.place[i + 1]), 2, static_cast<uint16_t>(fixed[i]));
    }
    Topic* const first = state.record(layout.place[0]);
    first[0] = from_target(random);
    first[1] = from_document(random);
    warp.begin_pass(true);
    warp.set_priors(priors, true);
    for (const Shard& s : state.word_shards()) warp.visit_words(s, trial, 0, nullptr);
    ++seen[*first];
  }
  EXPECT_LT(chi_square(seen, target), far(3));
}

// Topics are proposed in proportion to the counts of the row without the token, and the prior. The
// chain is at rest: what was proposed is what each token has.
TEST(LdaWarp, ProposesFromTheCountsWithoutTheToken) {
  const Documents documents{{0, 0, 0, 1, 1}, {0, 0, 2, 2, 2, 2, 2, 1}};
  const std::vector<uint32_t> topics{0, 1, 1, 2, 0, 1, 3, 3, 3, 0, 1, 2, 2};
  const Sparse counts = counts_of(documents, 3);
  const Layout layout = layout_of(counts);
  const Context context(1);
  const Priors priors{{0.4, 0.1, 1.2, 0.3}, 0.7};
  std::vector<uint32_t> packed;
  Assignments state(layout, packed, 4, 2, context);
  for (const bool by_word : {false, true}) {
    state.draw(1);
    PassCounts pass;
    Warp warp(state, pass, 11);
    std::vector<std::vector<double>> seen(topics.size(), std::vector<double>(4, 0.0));
    for (uint64_t trial = 0; trial < 300000; ++trial) {
      for (uint64_t i = 0; i < topics.size(); ++i) {
        std::fill_n(state.record(layout.place[i]), 2, static_cast<uint16_t>(topics[i]));
      }
      warp.begin_pass(by_word);
      warp.set_priors(priors, by_word);
      const auto shards = by_word ? state.word_shards() : state.document_shards();
      for (const Shard& s : shards) {
        by_word ? warp.visit_words(s, trial, 0, nullptr) : warp.visit_documents(s, trial, 0);
      }
      for (uint64_t i = 0; i < topics.size(); ++i) ++seen[i][state.record(layout.place[i])[1]];
    }
    for (uint64_t i = 0; i < topics.size(); ++i) {
      std::vector<double> truth = by_word ? std::vector<double>(4, priors.beta) : priors.alpha;
      const auto row_of = [&](uint64_t token) {
        const auto& offsets = by_word ? layout.words : layout.documents;
        return std::ranges::upper_bound(offsets, by_word ? layout.place[token] : token) -
               offsets.begin();
      };
      for (uint64_t j = 0; j < topics.size(); ++j) {
        if (j != i && row_of(i) == row_of(j)) ++truth[topics[j]];
      }
      EXPECT_LT(chi_square(seen[i], truth), far(4)) << (by_word ? "word" : "document") << " " << i;
    }
  }
}

// A word with so many tokens that it is cut: by its counts when the pass began. One of its tokens
// has a topic of its own, which nothing but the prior proposes to that token.
TEST(LdaWarp, ProposesFromTheCountsOfALongWord) {
  constexpr uint64_t kTokens = Assignments::kLong + 20000;
  Sparse counts;
  counts.columns = 2;
  counts.column = {0, 1};
  counts.value = {static_cast<float>(kTokens), 3};
  counts.offsets = {0, 2};
  const Layout layout = layout_of(counts);
  const Context context(2);
  std::vector<uint32_t> packed;
  Assignments state(layout, packed, 4, 2, context);
  state.draw(1);
  EXPECT_EQ(state.word_shards().size(), 3u);  // two parts of it, and the other word
  const double beta = 9000;
  const Priors priors{{0.5, 0.5, 0.5, 0.5}, beta};
  PassCounts pass;
  Warp warp(state, pass, 11);
  std::vector<std::vector<double>> seen(4, std::vector<double>(4, 0.0));
  std::vector<double> whole(4, 0.0);
  for (uint64_t trial = 0; trial < 4; ++trial) {
    for (uint64_t i = 0; i < layout.tokens(); ++i) {
      std::fill_n(state.record(i), 2, static_cast<uint16_t>(i == 77 ? 3 : i % 5 % 3));
    }
    whole.assign(4, 0.0);
    for (uint64_t i = 0; i < kTokens; ++i) ++whole[state.topic(i)];
    warp.begin_pass(true);
    EXPECT_EQ(pass.longs.size(), 4u);
    warp.set_priors(priors, true);
    for (const Shard& s : state.word_shards()) warp.visit_words(s, trial, 0, nullptr);
    for (uint64_t i = 0; i < kTokens; ++i) ++seen[state.topic(i)][state.record(i)[1]];
  }
  for (size_t k = 0; k < 3; ++k) {
    std::vector<double> truth = whole;
    --truth[k];
    for (double& t : truth) t += beta;
    EXPECT_LT(chi_square(seen[k], truth), far(4)) << k;
  }
}

// What is proposed to the tokens of a long word is decided by its counts when the pass began, from
// its first part to its last: with as many tokens of topic 1 in another word as in this one, and
// none of topic 0, half of the proposals to leave topic 0 for 1 are accepted.
TEST(LdaWarp, DecidesAboutALongWordByItsCountsWhenThePassBegan) {
  constexpr uint64_t kTokens = Assignments::kLong + 20000, kOfOne = kTokens / 4;
  Sparse counts;
  counts.columns = 2;
  counts.column = {0, 1};
  counts.value = {static_cast<float>(kTokens), static_cast<float>(kOfOne)};
  counts.offsets = {0, 2};
  const Layout layout = layout_of(counts);
  const Context context(1);
  std::vector<uint32_t> packed;
  Assignments state(layout, packed, 2, 2, context);
  state.draw(1);
  for (uint64_t i = 0; i < layout.tokens(); ++i) {
    state.record(i)[0] = i < kOfOne || i >= kTokens ? 1 : 0;
    state.record(i)[1] = 1;
  }
  PassCounts pass;
  Warp warp(state, pass, 7);
  warp.begin_pass(true);
  warp.set_priors({{0.5, 0.5}, 0.01}, true);
  for (const Shard& s : state.word_shards()) warp.visit_words(s, 0, 0, nullptr);
  for (const uint64_t first : {kOfOne, kTokens - 15000}) {
    double taken = 0;
    for (uint64_t i = first; i < first + 15000; ++i) taken += state.topic(i);
    EXPECT_NEAR(taken / 15000, 0.5, 0.02) << first;  // five standard deviations
  }
}

// The parts that the passes return add up to the likelihood of the state between them.
TEST(LdaWarp, TellsTheLikelihoodOfTheStateBetweenThePasses) {
  Generated truth{.alpha = {0.3, 0.7, 0.2}, .words = 40, .documents = 30, .length = 60};
  Documents documents = truth.draw();
  documents.push_back({});
  documents.emplace_back(Assignments::kLong + 5000, 7);  // a word that is cut
  const Sparse counts = counts_of(documents, 40);
  const Layout layout = layout_of(counts);
  const Context context(1);
  std::vector<uint32_t> packed;
  Assignments state(layout, packed, 3, 2, context);
  state.draw(2);
  PassCounts pass;
  Warp warp(state, pass, 5);
  const Priors priors{{0.4, 0.3, 0.9}, 0.05};
  for (uint64_t sweep = 0; sweep < 3; ++sweep) {
    double told = 0;
    warp.begin_pass(false);
    warp.set_priors(priors, false);
    for (const Shard& s : state.document_shards()) told += warp.visit_documents(s, sweep, 0);
    const double between = state.log_likelihood(priors);
    warp.begin_pass(true);
    warp.set_priors(priors, true);
    told += warp.log_of_totals();
    for (const Shard& s : state.word_shards()) told += warp.visit_words(s, sweep, 0, nullptr);
    EXPECT_NEAR(told, between, 1e-7 * std::abs(between)) << sweep;
  }
}

}  // namespace
}  // namespace kith::lda
