// SPDX-License-Identifier: Apache-2.0
#pragma once
// Training that gives the same bits with any number of threads. A round is a fixed number of
// blocks. Each is trained on private copies of the rows that it touches, all from the same state;
// then, row by row, the changes are combined in the order of the blocks and added to the tables.
// Which thread did what leaves no trace.

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/job.h"
#include "models/word2vec/kernel.h"
#include "train/overlay.h"

namespace kith::word2vec {

class Rounds {
 public:
  static constexpr size_t kBlocks = 8;  // in a round: what up to 8 threads can share

  // `block`: positions in a block; `touches`: rows of one table that it can touch at most.
  Rounds(const Settings& settings, size_t rows, size_t block, size_t touches);

  // Trains blocks 0 .. count - 1 (count <= kBlocks). `work(b)` gives the words of a block; it is
  // called from several threads at once, each time with another b.
  Tally run(size_t count, const std::function<Work(size_t)>& work, Table contexts, Table centres,
            const Job& job);

  static uint64_t memory_needed(const Config& config, size_t rows, size_t touches);

 private:
  void combine(std::vector<Overlay>& overlays, size_t count, Table table, const Job& job);

  const Settings& settings_;
  const Job alone_;  // one thread, for rounds so short that starting more costs more
  const bool short_rounds_;
  std::vector<Overlay> contexts_, centres_;  // one per block
  std::vector<Scratch> scratch_;
  Matrix sums_;  // a row per worker: the changes of a row added up
  RoundChains chains_;
};

}  // namespace kith::word2vec
