// SPDX-License-Identifier: Apache-2.0
#include "data/sparse.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace kith {
namespace {

using Entries = std::vector<std::tuple<uint32_t, uint32_t, float>>;

Sparse sparse_of(uint32_t rows, uint32_t columns, const Entries& entries) {
  Sparse out;
  out.columns = columns;
  for (uint32_t r = 0; r < rows; ++r) {
    for (const auto& [row, column, value] : entries) {
      if (row != r) continue;
      out.column.push_back(column);
      out.value.push_back(value);
    }
    out.offsets.push_back(out.column.size());
  }
  return out;
}

Entries entries_of(const Sparse& a) {
  Entries out;
  for (uint32_t r = 0; r < a.rows(); ++r) {
    const Sparse::Row row = a.row(r);
    for (size_t i = 0; i < row.size(); ++i) out.emplace_back(r, row.columns[i], row.values[i]);
  }
  return out;
}

TEST(Sparse, MergedHasAllOfBothAndWhatIsInBothOnceAsItIsNow) {
  const Sparse before = sparse_of(2, 3, {{0, 0, 1}, {0, 2, 2}, {1, 1, 3}});
  const Sparse more = sparse_of(3, 4, {{0, 1, 4}, {0, 2, 5}, {1, 0, 6}, {1, 1, 7}, {2, 3, 8}});
  const Sparse both = merged(before, more);
  EXPECT_EQ(both.columns, 4u);
  EXPECT_EQ(entries_of(both),
            (Entries{{0, 0, 1}, {0, 1, 4}, {0, 2, 5}, {1, 0, 6}, {1, 1, 7}, {2, 3, 8}}));
  EXPECT_EQ(entries_of(merged(before, before)), entries_of(before));
  EXPECT_EQ(entries_of(merged(before, Sparse())), entries_of(before));
}

TEST(Sparse, TransposedTwiceItIsItself) {
  const Sparse a = sparse_of(2, 3, {{0, 0, 1}, {0, 2, 2}, {1, 0, 3}});
  const Sparse turned = transposed(a);
  EXPECT_EQ(turned.columns, 2u);
  EXPECT_EQ(entries_of(turned), (Entries{{0, 0, 1}, {0, 1, 3}, {2, 0, 2}}));
  EXPECT_EQ(entries_of(transposed(turned)), entries_of(a));
}

}  // namespace
}  // namespace kith
