// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is like this? Cosine neighbours over named vectors: exact, by tiles of rows and queries, or
// approximate through an HNSW graph whose recall is measured against the exact answer.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix.h"
#include "core/names.h"

namespace kith {

struct Neighbour {
  uint32_t row;
  float score;
};

// Named vectors scaled to length 1. A row that has no direction (zero, or with a value that is not
// finite) becomes zero and never matches anything. Borrows the names, one per row.
class Space {
 public:
  Space(const Names& names, const Matrix& vectors);  // copies and normalises
  const Names& names() const { return *names_; }
  const Matrix& unit() const { return unit_; }
  size_t size() const { return unit_.rows(); }
  size_t dim() const { return unit_.cols(); }
  // The row of a name; Error(kInput) with the nearest spellings if there is none.
  uint32_t row(std::string_view name) const;
  // Rows without a direction, rising.
  std::span<const uint32_t> zero_rows() const { return zero_rows_; }

 private:
  const Names* names_;
  Matrix unit_;
  std::vector<uint32_t> zero_rows_;
};

struct SearchOptions {
  size_t top = 10;
  size_t restrict_to = 0;  // answers among the first (most frequent) rows only; 0 for all
  int threads = 1;
};

// The `top` rows with the highest cosine to each query row, best first, ties by row number; rows in
// `exclude[q]` are left out (`exclude` has one list per query, or none at all). Queries need not be
// of length 1; a zero query has no neighbours. The answer does not depend on the number of threads
// or of other queries. Cost: queries x rows x dim multiply-adds, memory queries x top and one tile.
std::vector<std::vector<Neighbour>> exact_neighbours(const Space& space, const Matrix& queries,
                                                     std::span<const std::vector<uint32_t>> exclude,
                                                     const SearchOptions& options);

// The same with the plain product instead of the cosine: lengths count, and any query is answered.
std::vector<std::vector<Neighbour>> highest_products(const Matrix& rows, const Matrix& queries,
                                                     std::span<const std::vector<uint32_t>> exclude,
                                                     const SearchOptions& options);

// An HNSW graph over the rows, in memory only: the vectors once more and about 9 bytes x links a
// row. The same contract as exact_neighbours, approximate: scores are exact, but a row may be
// missed. One thread builds the same graph every time; several do not. Borrows the space.
class HnswIndex {
 public:
  explicit HnswIndex(const Space& space, int threads = 1, int links = 16, int effort = 200);
  ~HnswIndex();
  // `beam` is how many candidates a search keeps. Asked to restrict the answers to some rows, the
  // graph steps aside for the exact search, which is then cheap.
  std::vector<std::vector<Neighbour>> search(const Matrix& queries,
                                             std::span<const std::vector<uint32_t>> exclude,
                                             const SearchOptions& options, int beam = 100) const;
  // Share of the exact top 10 that the graph finds, over `sample` rows spread evenly.
  double recall(size_t sample = 1000, int beam = 100) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// True when building a graph and asking it is cheaper than asking exactly, all queries at once:
// many queries against many rows.
bool graph_pays(size_t rows, size_t queries);

}  // namespace kith
