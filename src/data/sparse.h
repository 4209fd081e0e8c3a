// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kith {

// A sparse matrix by rows; the columns of a row rise. 8 bytes an entry and 8 a row.
struct Sparse {
  uint32_t columns = 0;
  std::vector<uint64_t> offsets{0};  // row r is entries [offsets[r], offsets[r + 1])
  std::vector<uint32_t> column;
  std::vector<float> value;

  struct Row {
    std::span<const uint32_t> columns;
    std::span<const float> values;
    size_t size() const { return columns.size(); }
  };
  uint32_t rows() const { return static_cast<uint32_t>(offsets.size() - 1); }
  uint64_t size() const { return column.size(); }
  Row row(uint32_t r) const {
    const uint64_t begin = offsets[r], count = offsets[r + 1] - begin;
    return {{column.data() + begin, count}, {value.data() + begin, count}};
  }
};

Sparse transposed(const Sparse& a);
// All entries of both; of one that is in both, that of `more`.
Sparse merged(const Sparse& before, const Sparse& more);

}  // namespace kith
