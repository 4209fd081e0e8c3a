// SPDX-License-Identifier: Apache-2.0
#pragma once
// Training that gives the same bits with any number of threads. A round is a fixed number of
// blocks. Each is trained on private copies of the rows that it touches, all from the same state;
// then, row by row, the changes are added to the table in the order of the blocks. Which thread did
// what leaves no trace.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/job.h"
#include "core/matrix.h"

namespace kith {

// Private copies of the rows that one block touches. A row is copied when it is first asked for.
class RowOverlay {
 public:
  RowOverlay(size_t rows, size_t stride) : slot_(rows, kUntouched), stride_(stride) {}
  void start(Rows base) {
    for (const uint32_t id : touched_) slot_[id] = kUntouched;
    touched_.clear();
    base_ = base;
  }
  float* row(uint32_t id) {
    if (slot_[id] == kUntouched) touch(id);
    return pages_[slot_[id] / kPage].view().row(slot_[id] % kPage);
  }
  std::span<const uint32_t> touched() const { return touched_; }
  const float* copy(size_t slot) const { return pages_[slot / kPage].view().row(slot % kPage); }

 private:
  static constexpr uint32_t kUntouched = 0xffffffff;
  static constexpr size_t kPage = 1024;  // rows; pages never move, so pointers stay good
  void touch(uint32_t id) {
    const auto slot = static_cast<uint32_t>(touched_.size());
    if (slot / kPage == pages_.size()) pages_.emplace_back(kPage, stride_);
    slot_[id] = slot;
    touched_.push_back(id);
    const float* const from = base_.row(id);
    std::copy(from, from + stride_, pages_[slot / kPage].view().row(slot % kPage));
  }

  std::vector<uint32_t> slot_;     // by row
  std::vector<uint32_t> touched_;  // by slot
  std::vector<Matrix> pages_;
  Rows base_{};
  size_t stride_;
};

// Which blocks of a round touched which rows.
class RoundChains {
 public:
  explicit RoundChains(size_t rows) : head_(rows, kNone), tail_(rows, kNone) {}

  // `touched(b)` gives the rows that block b touched, by the slots of its copies. Then, for every
  // row, merge(row, worker, each), where each(f) calls f(block, slot) in the order of the blocks.
  template <class Touched, class Merge>
  void for_each_row(size_t blocks, const Touched& touched, const Job& job, const Merge& merge) {
    constexpr size_t kRowsPerShard = 512;
    changes_.clear();
    first_.clear();
    for (uint32_t b = 0; b < blocks; ++b) {
      const std::span<const uint32_t> rows = touched(b);
      for (uint32_t slot = 0; slot < rows.size(); ++slot) add(rows[slot], b, slot);
    }
    const size_t shards = (first_.size() + kRowsPerShard - 1) / kRowsPerShard;
    job.for_each_shard(shards, [&](size_t shard, size_t worker) {
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
    });
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

// Adds to the table what the blocks of a round changed in their copies.
void add_changes(std::span<const RowOverlay> overlays, Rows table, RoundChains& chains,
                 const Job& job);

}  // namespace kith
