// SPDX-License-Identifier: Apache-2.0
#pragma once
// Training that gives the same bits with any number of threads. A round is a fixed number of
// blocks. Each is trained on private copies of the rows that it touches, all from the same state;
// then, row by row, the changes are added to the table in the order of the blocks. Which thread did
// what leaves no trace.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/job.h"
#include "core/matrix.h"
#include "core/parallel.h"
#include "train/optimiser.h"

namespace kith {

// Rows that are trained, with a number for each beside them if the model has one.
struct RowTable {
  Rows rows;
  float* energy = nullptr;
  Optimiser optimiser = Optimiser::kSgd;  // one whose blocks add_up()
  std::optional<size_t> apart{};  // of adagrad-row: a column with squares of its own, behind h
  size_t energies = std::numeric_limits<size_t>::max();  // so many rows have one, the first ones
  bool has_energy(size_t row) const { return energy && row < energies; }
};

// Whether blocks of steps that were taken side by side, from the same state, make up what they
// would have made one after the other, about. AdaGrad's do: steps at lr / sqrt(h) grow shorter with
// the squares h that all of them add to, and what a block moved can be held to that. Momentum,
// Adam's averages and rates that do not fall do not: where eight blocks head for the same place,
// they arrive eight times as far.
constexpr bool adds_up(Optimiser optimiser) {
  return optimiser == Optimiser::kAdaGrad || optimiser == Optimiser::kRowAdaGrad;
}

// Private copies of the rows that one block touches. A row is copied when it is first asked for.
class RowOverlay {
 public:
  RowOverlay(size_t rows, size_t stride)
      : slot_(rows, kUntouched), stride_(stride), step_(stride + kRowPad) {}
  void start(RowTable base) {
    for (const uint32_t id : touched_) slot_[id] = kUntouched;
    touched_.clear();
    base_ = base;
  }

  struct Copy {
    float* row;
    float* energy;
  };
  Copy at(uint32_t id) {
    if (slot_[id] == kUntouched) touch(id);
    float* const p = place(slot_[id]);
    return {p, p + stride_};
  }
  float* row(uint32_t id) { return at(id).row; }
  std::span<const uint32_t> touched() const { return touched_; }
  const float* copy(size_t slot) const { return place(slot); }
  float energy(size_t slot) const { return place(slot)[stride_]; }

 private:
  static constexpr uint32_t kUntouched = 0xffffffff;
  static constexpr size_t kPage = 1024;  // rows; pages never move, so pointers stay good
  float* place(size_t slot) const { return pages_[slot / kPage] + slot % kPage * step_; }
  void touch(uint32_t id) {
    const auto slot = static_cast<uint32_t>(touched_.size());
    if (slot / kPage == pages_.size()) {
      store_.emplace_back(kPage, step_);
      pages_.push_back(store_.back().view().data);
    }
    slot_[id] = slot;
    touched_.push_back(id);
    const float* const from = base_.rows.row(id);
    float* const to = place(slot);
    std::copy(from, from + stride_, to);
    if (base_.has_energy(id)) to[stride_] = base_.energy[id];
  }

  std::vector<uint32_t> slot_;     // by row
  std::vector<uint32_t> touched_;  // by slot
  std::vector<Matrix> store_;
  std::vector<float*> pages_;  // of the store: kPage rows, each with its energy behind it
  RowTable base_{};
  size_t stride_, step_;
};

// Which blocks of a round touched which rows.
class RoundChains {
 public:
  explicit RoundChains(size_t rows) : head_(rows, kNone), tail_(rows, kNone) {}

  // `touched(b)` gives the rows that block b touched, by the slots of its copies. Then, for every
  // row, merge(row, worker, each), where each(f) calls f(block, slot) in the order of the blocks.
  template <class Touched, class Merge>
  void for_each_row(size_t blocks, const Touched& touched, const Context& context, bool alone,
                    const Merge& merge) {
    constexpr size_t kRowsPerShard = 512;
    changes_.clear();
    first_.clear();
    for (uint32_t b = 0; b < blocks; ++b) {
      const std::span<const uint32_t> rows = touched(b);
      for (uint32_t slot = 0; slot < rows.size(); ++slot) add(rows[slot], b, slot);
    }
    const size_t shards = (first_.size() + kRowsPerShard - 1) / kRowsPerShard;
    const auto some = [&](size_t shard, size_t worker) {
      const size_t end = std::min(first_.size(), (shard + 1) * kRowsPerShard);
      for (size_t i = shard * kRowsPerShard; i < end; ++i) {
        const uint32_t row = touched(changes_[first_[i]].block)[changes_[first_[i]].slot];
        merge(row, worker, [&](const auto& f) {
          for (uint32_t c = first_[i]; c != kNone; c = changes_[c].next) {
            f(changes_[c].block, changes_[c].slot);
          }
        });
        head_[row] = kNone;
      }
    };
    finish_shards(context, shards, some, alone ? 1 : shards);
  }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Change {  // one block's copy of a row
    uint32_t block, slot;
    uint32_t next;  // the same row in a later block
  };
  void add(uint32_t row, uint32_t block, uint32_t slot) {
    const auto change = static_cast<uint32_t>(changes_.size());
    changes_.push_back({block, slot, kNone});
    if (head_[row] == kNone) {
      head_[row] = change;
      first_.push_back(change);
    } else {
      changes_[tail_[row]].next = change;
    }
    tail_[row] = change;
  }
  std::vector<Change> changes_;
  std::vector<uint32_t> first_;        // changes that begin a row's chain
  std::vector<uint32_t> head_, tail_;  // by row: its chain while it is built
};

// A round over one or more tables of the same shape.
class Rounds {
 public:
  static constexpr size_t kBlocks = 8;  // in a round: what up to 8 threads can share
  // Blocks between two safe points: whole rounds, at most `most` blocks but for as many as the
  // threads need, and at least four times in an epoch where it has blocks enough.
  static uint64_t segment(uint64_t most, uint64_t blocks_of_epoch, const Job& job) {
    const uint64_t blocks = std::max<uint64_t>(1, std::min(most, blocks_of_epoch / 4));
    const uint64_t least = job.deterministic ? 1 : 8 * static_cast<uint64_t>(job.threads());
    return (std::max(blocks, least) + kBlocks - 1) / kBlocks * kBlocks;
  }

  Rounds(size_t tables, size_t rows, size_t stride);

  // Calls body(b, overlays), one overlay for each table, for blocks 0 .. count - 1 (at most
  // kBlocks), from several threads at once; then adds what they changed to the tables. `alone`: the
  // round is so short that waking a second thread would cost more. A round is whole or, once the
  // context is cancelled before it began, nothing; false then.
  template <class Body>
  bool run(size_t count, std::span<const RowTable> tables, const Context& context, bool alone,
           const Body& body) {
    if (context.cancelled()) return false;
    finish_shards(
        context, count,
        [&](size_t b) {
          for (size_t t = 0; t < tables.size(); ++t) of_block(b)[t].start(tables[t]);
          body(b, of_block(b));
        },
        alone ? 1 : kBlocks);
    for (size_t t = 0; t < tables.size(); ++t) combine(t, count, tables[t], context, alone);
    return true;
  }

  // `touches`: rows of all tables that a block touches at most.
  static uint64_t memory_needed(size_t tables, size_t rows, size_t stride, uint64_t touches);

 private:
  std::span<RowOverlay> of_block(size_t b) {
    return std::span(overlays_).subspan(b * tables_, tables_);
  }
  void combine(size_t table, size_t count, RowTable to, const Context& context, bool alone);

  size_t tables_;
  std::vector<RowOverlay> overlays_;  // by block, then by table
  RoundChains chains_;
  Matrix sums_;  // a row per worker: the changes of a row added up
};

}  // namespace kith
