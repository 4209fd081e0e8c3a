// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is like this? Cosine neighbours over named vectors: exact, by tiles of rows and queries, or
// approximate through an HNSW graph whose recall is measured against the exact answer. One index
// serves words, values, users and rows; it holds no vector of its own.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/matrix.h"
#include "core/names.h"
#include "core/vectors.h"
#include "kith/context.h"

namespace kith {

struct Hit {
  uint32_t row;
  float score;
};

// Named vectors, compared by their directions. A row that has none (zero, or with a value that is
// not finite) never matches anything; one that is trusted less (core/vectors.h) scores that much
// less as an answer, not as a question. Borrows the names, one per row.
class Index {
 public:
  Index(const Names& names, std::shared_ptr<const Vectors> vectors);
  const Names& names() const { return *names_; }
  const Vectors& vectors() const { return *vectors_; }
  size_t size() const { return vectors_->rows(); }
  size_t dim() const { return vectors_->cols(); }
  // The row of a name; Error(kInput) with the nearest spellings if there is none.
  uint32_t row(std::string_view name) const;
  // The vector of a row scaled to length 1; zeros if it has no direction.
  std::vector<float> unit_row(uint32_t row) const;

 private:
  const Names* names_;
  std::shared_ptr<const Vectors> vectors_;
};

struct SearchOptions {
  size_t top = 10;
  size_t restrict_to = 0;  // answers among the first (most frequent) rows only; 0 for all
};

// The `top` rows with the highest cosine, times their trust, to each query row, best first, ties by
// row number; rows in `exclude[q]` are left out (`exclude` has one list per query, or none at all).
// Queries need not be of length 1; a zero query has no neighbours. The answer does not depend on
// the number of threads or of other queries. Cost: queries x rows x dim multiply-adds, memory
// queries x top and one tile.
std::vector<std::vector<Hit>> nearest(const Index& index, const Matrix& queries,
                                      std::span<const std::vector<uint32_t>> exclude,
                                      const SearchOptions& options, const Context& context);

// The same with the plain product instead of the cosine: lengths count, and any query is answered.
std::vector<std::vector<Hit>> highest_products(const Matrix& rows, const Matrix& queries,
                                               std::span<const std::vector<uint32_t>> exclude,
                                               const SearchOptions& options,
                                               const Context& context);

// An HNSW graph over the rows, in memory only: a copy of the vectors and about 9 bytes x links a
// row. The same contract as nearest(), approximate: scores are exact, but a row may be missed. One
// thread builds the same graph every time; several do not. Borrows the index.
class HnswIndex {
 public:
  HnswIndex(const Index& index, const Context& context, int links = 16, int effort = 200);
  ~HnswIndex();
  // `beam` is how many candidates a search keeps. Asked to restrict the answers to some rows, the
  // graph steps aside for the exact search, which is then cheap.
  std::vector<std::vector<Hit>> search(const Matrix& queries,
                                       std::span<const std::vector<uint32_t>> exclude,
                                       const SearchOptions& options, const Context& context,
                                       int beam = 100) const;
  // Share of the exact top 10 that the graph finds, over `sample` rows spread evenly.
  double recall(const Context& context, size_t sample = 1000, int beam = 100) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// True when building a graph and asking it is cheaper than asking exactly, all queries at once:
// many queries against many rows.
bool graph_pays(size_t rows, size_t queries);

}  // namespace kith
