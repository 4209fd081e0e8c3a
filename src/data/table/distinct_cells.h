// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many different cells a column has, in bounded memory: exact up to a number of them, beyond it
// estimated from those whose hash begins with enough zeros (Wegman's adaptive sampling; Flajolet
// 1990). With 65,536 kept the error is 0.5 %.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/hash.h"
#include "core/rng.h"

namespace kith {

class DistinctCells {
 public:
  explicit DistinctCells(size_t most) : most_(most) {}

  void add(std::string_view cell) {
    const uint64_t hash = mix64(stable_hash(cell)) | 1;  // 0 marks a free slot
    if (!belongs(hash)) return;
    if (2 * (size_ + 1) > slots_.size()) rebuild(slots_.empty() ? 64 : 2 * slots_.size());
    if (!insert(hash)) return;
    while (size_ > most_) {
      ++zeros_;
      rebuild(slots_.size());
    }
  }

  bool exact() const { return zeros_ == 0; }
  uint64_t count() const { return uint64_t{size_} << zeros_; }

 private:
  bool belongs(uint64_t hash) const { return zeros_ == 0 || hash >> (64 - zeros_) == 0; }

  bool insert(uint64_t hash) {
    const size_t mask = slots_.size() - 1;
    size_t at = (hash >> 1) & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask) {
      if (slots_[at] == hash) return false;
    }
    slots_[at] = hash;
    ++size_;
    return true;
  }

  void rebuild(size_t slots) {
    std::vector<uint64_t> old(slots, 0);
    old.swap(slots_);
    size_ = 0;
    for (const uint64_t hash : old) {
      if (hash != 0 && belongs(hash)) insert(hash);
    }
  }

  size_t most_, size_ = 0;
  unsigned zeros_ = 0;           // at the front of the hashes that are kept
  std::vector<uint64_t> slots_;  // open addressing
};

}  // namespace kith
