// SPDX-License-Identifier: Apache-2.0
#include "models/word2vec/rounds.h"

#include <algorithm>

namespace kith::word2vec {
namespace {

constexpr size_t kLongBlock = 100;

}  // namespace

Rounds::Rounds(const Settings& settings, size_t rows, size_t block, size_t touches)
    : settings_(settings), short_rounds_(block < kLongBlock), chains_(rows) {
  const auto dim = static_cast<size_t>(settings.config.dim);
  for (size_t b = 0; b < kBlocks; ++b) {
    contexts_.emplace_back(rows, dim, touches);
    centres_.emplace_back(rows, dim, touches);
    scratch_.emplace_back(settings.config, padded(dim));
  }
}

uint64_t Rounds::memory_needed(const Config& config, size_t rows, size_t touches) {
  const uint64_t row = padded(static_cast<size_t>(config.dim)) * sizeof(float) + 8;
  const uint64_t overlay = rows * sizeof(uint32_t) + std::min(rows, touches) * row;
  return 2 * kBlocks * overlay + 2 * rows * sizeof(uint32_t);
}

Tally Rounds::run(size_t count, const std::function<Work(size_t)>& work, Table contexts,
                  Table centres, const Job& all) {
  const Job& job = short_rounds_ ? alone_ : all;
  const auto workers = static_cast<size_t>(std::max(1, job.threads));
  if (sums_.rows() < workers) sums_ = Matrix(workers, contexts.rows.stride);
  std::vector<Tally> tallies(count);
  job.for_each_shard(count, [&](size_t b) {
    contexts_[b].start(contexts);
    centres_[b].start(centres);
    Work block = work(b);
    tallies[b] = train_block(settings_, block, contexts_[b], centres_[b], scratch_[b]);
  });
  combine(contexts_, count, contexts, job);
  combine(centres_, count, centres, job);
  Tally total;
  for (const Tally& t : tallies) total += t;
  return total;
}

void Rounds::combine(std::vector<Overlay>& overlays, size_t count, Table table, const Job& job) {
  chains_.for_each_row(
      count, [&](size_t b) { return overlays[b].touched(); }, job,
      [&](uint32_t row, size_t worker, const auto& each) {
        float* const change = sums_.view().row(worker);
        float* const base = table.rows.row(row);
        const float energy = table.energy[row];
        std::fill_n(change, table.rows.stride, 0.0f);
        each([&](uint32_t block, uint32_t slot) {
          add_change(overlays[block].row(slot), base, change, table.rows.stride);
          table.energy[row] += overlays[block].energy(slot) - energy;
        });
        add(change, base, table.rows.stride);
      });
}

}  // namespace kith::word2vec
