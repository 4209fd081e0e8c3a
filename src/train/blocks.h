// SPDX-License-Identifier: Apache-2.0
#pragma once
// A corpus cut into blocks, each thinned out by itself. Whether an occurrence is kept is a pure
// function of seed, epoch and position, so two blocks agree about the words at their border: every
// word is the centre in exactly one block, and a long line loses no pair to the cut.

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/rng.h"
#include "data/text/corpus.h"

namespace kith {

// Subsampling of frequent words. A word of share f of the text is kept with probability
// sqrt(t / f) + t / f, the rule of the word2vec program (the paper's is sqrt(t / f)).
class Thinning {
 public:
  Thinning(std::span<const uint64_t> counts, double threshold, uint64_t seed);
  double probability(WordId word) const { return keep_[row_of(word)]; }
  bool keep(WordId word, uint64_t epoch, uint64_t position) const {
    const float p = keep_[row_of(word)];
    if (p >= 1) return true;
    const uint64_t bits = mix64(mix64(seed_ + epoch) + position * 0x9e3779b97f4a7c15);
    return static_cast<float>(bits >> 40) * 0x1p-24f < p;
  }

 private:
  std::vector<float> keep_;
  uint64_t seed_;
};

// Where the words of a block come from: the stream of a corpus, or words in memory.
class BlockReader {
 public:
  struct Block {
    std::span<const WordId> words;  // kept words and sentence ends; valid until the next read
    size_t begin, end;              // the block proper; around it up to `reach` kept neighbours
    uint64_t seen;                  // words of the block before thinning
  };

  using Read = std::function<void(uint64_t begin, std::span<WordId> out)>;
  BlockReader(uint64_t length, Read read, const Thinning& thinning, size_t reach)
      : length_(length), copy_(std::move(read)), thinning_(thinning), reach_(reach) {}
  BlockReader(const Corpus& corpus, const Thinning& thinning, size_t reach)
      : BlockReader(
            corpus.length(),
            [&corpus](uint64_t begin, std::span<WordId> out) { corpus.read(begin, out); }, thinning,
            reach) {}

  // Stream positions [begin, end) as they are in this epoch.
  Block read(uint64_t epoch, uint64_t begin, uint64_t end);

 private:
  void read_before(uint64_t epoch, uint64_t begin);
  void read_after(uint64_t epoch, uint64_t end);

  const uint64_t length_;
  const Read copy_;
  const Thinning& thinning_;
  const size_t reach_;
  std::vector<WordId> raw_, words_;
};

}  // namespace kith
