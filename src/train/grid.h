// SPDX-License-Identifier: Apache-2.0
#pragma once
// Steps on single entries of a sparse matrix that any number of threads may share. Rows and columns
// are cut into groups at random, entries into the blocks of row groups x column groups; a round is
// a diagonal of blocks, no two of which share a row or a column, so threads never meet, and the
// result does not depend on how many there are.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/sparse.h"

namespace kith {

struct Entry {
  uint32_t row, column;
  float value;
};

// The entries block by block, each block in random order.
class Grid {
 public:
  struct Groups {
    uint32_t rows, columns;
  };
  // So many groups that the parameters of a block, `bytes` for each row or column, stay in the
  // second cache, and that a round has work for several threads.
  static Groups groups_for(const Sparse& matrix, size_t bytes);

  // `value`: what stands in the entry, as the steps want it.
  Grid(const Sparse& matrix, Groups groups, uint64_t seed,
       const std::function<float(float)>& value);

  uint64_t size() const { return entries_.size(); }
  uint32_t row_groups() const { return groups_.rows; }
  uint32_t column_groups() const { return groups_.columns; }
  std::span<const Entry> entries(uint32_t row_group, uint32_t column_group) const {
    const size_t block = size_t{row_group} * groups_.columns + column_group;
    return {entries_.data() + offsets_[block], entries_.data() + offsets_[block + 1]};
  }
  std::span<const uint32_t> columns_of(uint32_t group) const { return members_[group]; }

 private:
  Groups groups_;
  std::vector<uint64_t> offsets_;
  std::vector<Entry> entries_;
  std::vector<std::vector<uint32_t>> members_;  // columns of each group
};

// An epoch: which groups meet in which round. Groups of columns go alone, or in pairs where columns
// are compared with each other (ranking): the pairs are others in every epoch, so that in time
// every column is compared with every other.
class GridRounds {
 public:
  GridRounds(const Grid& grid, bool pairs, uint64_t seed, uint64_t epoch);
  static uint32_t count(const Grid& grid, bool pairs);
  uint32_t width() const;  // parts of a round
  // The groups of the k-th part of a round; no two parts of one share any.
  uint32_t row_group(uint64_t round, uint32_t k) const {
    return rows_[tall() ? (k + round) % rows_.size() : k];
  }
  std::span<const uint32_t> column_groups(uint64_t round, uint32_t k) const {
    const size_t set = tall() ? k : (k + round) % sets();
    const size_t first = set * together_;
    return std::span(columns_).subspan(first, std::min<size_t>(together_, columns_.size() - first));
  }

 private:
  uint32_t sets() const;  // of columns that go together
  bool tall() const { return rows_.size() >= sets(); }
  std::vector<uint32_t> rows_, columns_;
  uint32_t together_;
};

}  // namespace kith
