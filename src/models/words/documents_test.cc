// SPDX-License-Identifier: Apache-2.0
// A document is one more context of all its words.
#include <gtest/gtest.h>

#include <vector>

#include "models/test_model.h"
#include "models/words/kernel.h"

namespace kith::words {
namespace {

constexpr uint32_t kWords = 6, kRows = 12, kFirst = 7;
constexpr WordId kEnd = kSentenceEnd;
// Documents of two words, of one, of none, of two.
const std::vector<WordId> kText{WordId{1}, WordId{2}, kEnd,      WordId{3}, kEnd,
                                kEnd,      WordId{2}, WordId{4}, kEnd};

struct Tables {
  Tables() : in(kRows, 20), out(kWords, 20), in_energy(kRows, 1.0f), out_energy(kWords, 1.0f) {
    for (Matrix* const m : {&in, &out}) {
      for (size_t r = 0; r < m->rows(); ++r) {
        Rng rng(m == &in ? 1 : 2, r);
        for (float& x : m->row(r)) x = rng.uniform() - 0.5f;
      }
    }
  }
  RowTable input() { return {in.view(), in_energy.data()}; }
  RowTable output() { return {out.view(), out_energy.data()}; }
  Matrix in, out;
  std::vector<float> in_energy, out_energy;
};

struct Step {
  std::vector<uint32_t> contexts;
  uint32_t centre;
};

// All noise is word 0, so that a block is a list of windows that can be given outright.
void expect_windows(Config config, bool neighbours, const std::vector<Step>& steps) {
  config.dim = 20;
  config.window = 2;
  config.fixed_window = true;
  config.adapt_rate = 0;
  config.noise = Noise::kWindow;
  const std::vector<double> weights{1, 0, 0, 0, 0, 0};
  const AliasSampler noise(weights);
  const Settings settings{config, &noise};
  Tables block, given;
  Scratch scratch(config, block.in.stride());
  Work work{kText, 0, kText.size(), 0.1f, Rng(1, 0)};
  work.document = kFirst;
  work.neighbours = neighbours;
  train_block(settings, work, block.input(), block.output(), scratch);
  const std::vector<uint32_t> zeros(static_cast<size_t>(config.negatives), 0);
  for (const Step& s : steps) {
    train_window(settings, {s.contexts, s.centre, zeros}, 0.1f, given.input(), given.output(),
                 scratch);
  }
  EXPECT_TRUE(test::same_bits(block.in, given.in));
  EXPECT_TRUE(test::same_bits(block.out, given.out));
}

TEST(WordsOfDocuments, TheDocumentAlonePredictsItsWords) {
  expect_windows({}, false, {{{7}, 1}, {{7}, 2}, {{8}, 3}, {{10}, 2}, {{10}, 4}});
}

TEST(WordsOfDocuments, TheDocumentStandsBesideTheNeighbours) {
  const std::vector<Step> steps{{{2, 7}, 1}, {{1, 7}, 2}, {{8}, 3}, {{4, 10}, 2}, {{2, 10}, 4}};
  expect_windows({}, true, steps);
  expect_windows({.objective = Objective::kCbow}, true, steps);
}

}  // namespace
}  // namespace kith::words
