// SPDX-License-Identifier: Apache-2.0
#include "train/grid.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "train/test_matrices.h"

namespace kith {
namespace {

Sparse some_matrix(size_t rows, size_t cols) {
  return test::sampled(test::random_matrix(rows, cols, 1), 0.3, 2);
}

TEST(Grid, HoldsEveryEntryOnce) {
  const Sparse m = some_matrix(50, 31);
  const Grid grid(m, {5, 7}, 3, [](float v) { return 2 * v; });
  std::map<std::pair<uint32_t, uint32_t>, float> seen;
  for (uint32_t r = 0; r < 5; ++r) {
    for (uint32_t c = 0; c < 7; ++c) {
      for (const Entry& e : grid.entries(r, c)) {
        EXPECT_TRUE(seen.emplace(std::pair(e.row, e.column), e.value).second);
      }
    }
  }
  EXPECT_EQ(seen.size(), m.size());
  for (uint32_t r = 0; r < m.rows(); ++r) {
    const Sparse::Row row = m.row(r);
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(seen.at({r, row.columns[i]}), 2 * row.values[i]);
    }
  }
}

// What the promise of equal bits rests on.
TEST(GridRounds, NoTwoPartsOfARoundShareARowOrAColumn) {
  for (const Grid::Groups groups : {Grid::Groups{5, 7}, Grid::Groups{8, 3}, Grid::Groups{4, 4}}) {
    for (const bool pairs : {false, true}) {
      const Grid grid(some_matrix(60, 40), groups, 3, [](float v) { return v; });
      std::multiset<std::pair<uint32_t, uint32_t>> met;
      const GridRounds rounds(grid, pairs, 1, 2);
      for (uint64_t round = 0; round < GridRounds::count(grid, pairs); ++round) {
        std::set<uint32_t> rows, columns;
        for (uint32_t k = 0; k < rounds.width(); ++k) {
          EXPECT_TRUE(rows.insert(rounds.row_group(round, k)).second);
          for (const uint32_t c : rounds.column_groups(round, k)) {
            EXPECT_TRUE(columns.insert(c).second);
            met.emplace(rounds.row_group(round, k), c);
          }
        }
      }
      // An epoch is every block once.
      EXPECT_EQ(met.size(), groups.rows * groups.columns);
      EXPECT_EQ(std::set(met.begin(), met.end()).size(), met.size());
    }
  }
}

TEST(GridRounds, AnotherEpochPairsOtherColumns) {
  const Grid grid(some_matrix(60, 40), {4, 8}, 3, [](float v) { return v; });
  std::set<std::set<uint32_t>> pairs;
  for (uint64_t epoch = 0; epoch < 20; ++epoch) {
    const GridRounds rounds(grid, true, 1, epoch);
    for (uint32_t k = 0; k < rounds.width(); ++k) {
      const auto set = rounds.column_groups(0, k);
      pairs.emplace(set.begin(), set.end());
    }
  }
  EXPECT_GT(pairs.size(), 20u);
}

}  // namespace
}  // namespace kith
