// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip-gram with the whole softmax, p(c | w) = e^(<x_w, y_c> + b_c) / sum over all words. Its
// log-likelihood is a function of how often words stand together, N(w, c), and of nothing else in
// the text: so the text is counted once, and each pass goes over the words instead.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/ids.h"
#include "core/matrix.h"
#include "data/sparse.h"
#include "data/text/corpus.h"
#include "models/words/config.h"
#include "train/run.h"

namespace kith::words {

class WordsModel;

// A pass takes words^2 dim steps: a minute and more for so many.
inline constexpr size_t kMostWordsOfSoftmax = 32768;

// Counts pairs (w, c) where w is in the window of c, in units of 1 / window: a pair at distance d
// counts window + 1 - d, how likely it is that the drawn radius reaches so far; with a fixed window
// all count `window`.
class PairCounts {
 public:
  PairCounts(const Config& config, size_t words) : config_(config), words_(words) {}
  // words[begin..end) are the centres.
  void add(std::span<const WordId> words, size_t begin, size_t end);
  Sparse take();  // N(w, c), row w

 private:
  struct Entry {
    uint64_t pair, count;
  };
  void add_pair(WordId w, WordId c, uint64_t count);
  void merge();

  const Config config_;
  size_t words_;
  std::vector<Entry> entries_;
  size_t merged_ = 0;  // of the entries, in front
};

// The parameters, and room for the work of one thread.
struct Softmax {
  ConstRows input, output;
  std::span<const float> bias;
  std::span<const uint32_t> all;  // 0, 1, 2, ...: the words

  // -sum over c of N(w, c) log p(c | w). `residual` gets p(c | w) - N(w, c) / N(w) for all c.
  double loss(uint32_t w, const Sparse& pairs, float* residual) const;
};
// The mean over all pairs.
double mean_loss(const Softmax& softmax, const Sparse& pairs, const Context& context);

std::unique_ptr<Trainer> softmax_trainer(WordsModel& model, const Corpus& corpus, Job& job);
// Besides the tables.
uint64_t memory_of_softmax(const Corpus& corpus, const Config& config);

}  // namespace kith::words
