// SPDX-License-Identifier: Apache-2.0
#include "train/grid.h"

#include <algorithm>
#include <utility>

#include "core/rng.h"

namespace kith {
namespace {

constexpr size_t kCache = 1 << 20;      // bytes that the parameters of a block may take
constexpr uint32_t kGroupsAtLeast = 8;  // so that a round has work for several threads
constexpr uint64_t kSmall = 100000;     // entries below which fewer groups do

uint32_t groups_of(uint64_t rows, size_t bytes, uint64_t entries) {
  const uint64_t fit = kCache / 2 / bytes;
  const uint64_t least = entries < kSmall ? 4 : kGroupsAtLeast;
  return static_cast<uint32_t>(std::clamp<uint64_t>((rows + fit - 1) / fit,
                                                    std::min(least, std::max<uint64_t>(1, rows)),
                                                    std::max<uint64_t>(1, rows)));
}

// Which group each row is in: equal sizes, at random.
std::vector<uint32_t> cut(size_t rows, uint32_t groups, uint64_t seed) {
  std::vector<uint32_t> out(rows);
  for (size_t r = 0; r < rows; ++r) out[r] = static_cast<uint32_t>(r % groups);
  Rng rng(seed, 0x6d66);
  for (size_t r = rows; r > 1; --r) std::swap(out[r - 1], out[rng.below(static_cast<uint32_t>(r))]);
  return out;
}

std::vector<uint32_t> shuffled(uint32_t n, uint64_t seed, uint64_t stream) {
  std::vector<uint32_t> out(n);
  for (uint32_t i = 0; i < n; ++i) out[i] = i;
  Rng rng(seed, stream);
  for (uint32_t i = n; i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  return out;
}

uint32_t sets_of(uint32_t groups, uint32_t together) { return (groups + together - 1) / together; }

}  // namespace

Grid::Groups Grid::groups_for(const Sparse& matrix, size_t bytes) {
  return {groups_of(matrix.rows(), bytes, matrix.size()),
          groups_of(matrix.columns, bytes, matrix.size())};
}

Grid::Grid(const Sparse& matrix, Groups groups, uint64_t seed,
           const std::function<float(float)>& value)
    : groups_(groups) {
  const auto row_group = cut(matrix.rows(), groups.rows, seed);
  const auto column_group = cut(matrix.columns, groups.columns, seed + 1);
  members_.resize(groups.columns);
  for (uint32_t i = 0; i < matrix.columns; ++i) members_[column_group[i]].push_back(i);
  offsets_.assign(size_t{groups.rows} * groups.columns + 1, 0);
  const auto block_of = [&](uint32_t r, uint32_t c) {
    return size_t{row_group[r]} * groups.columns + column_group[c];
  };
  for (uint32_t r = 0; r < matrix.rows(); ++r) {
    for (const uint32_t c : matrix.row(r).columns) ++offsets_[block_of(r, c) + 1];
  }
  for (size_t b = 1; b < offsets_.size(); ++b) offsets_[b] += offsets_[b - 1];
  entries_.resize(matrix.size());
  std::vector<uint64_t> next(offsets_.begin(), offsets_.end() - 1);
  for (uint32_t r = 0; r < matrix.rows(); ++r) {
    const Sparse::Row row = matrix.row(r);
    for (size_t k = 0; k < row.size(); ++k) {
      entries_[next[block_of(r, row.columns[k])]++] = {r, row.columns[k], value(row.values[k])};
    }
  }
  for (size_t b = 0; b + 1 < offsets_.size(); ++b) {
    Rng rng(seed, 0x10000 + b);
    for (uint64_t k = offsets_[b + 1]; k > offsets_[b] + 1; --k) {
      const auto other = offsets_[b] + rng.below(static_cast<uint32_t>(k - offsets_[b]));
      std::swap(entries_[k - 1], entries_[other]);
    }
  }
}

GridRounds::GridRounds(const Grid& grid, bool pairs, uint64_t seed, uint64_t epoch)
    : rows_(shuffled(grid.row_groups(), seed, 2 * epoch)),
      columns_(shuffled(grid.column_groups(), seed, 2 * epoch + 1)),
      together_(pairs ? 2 : 1) {}

uint32_t GridRounds::count(const Grid& grid, bool pairs) {
  return std::max(grid.row_groups(), sets_of(grid.column_groups(), pairs ? 2 : 1));
}

uint32_t GridRounds::width() const { return std::min(static_cast<uint32_t>(rows_.size()), sets()); }

uint32_t GridRounds::sets() const {
  return sets_of(static_cast<uint32_t>(columns_.size()), together_);
}

}  // namespace kith
