// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every exact search shares: the best so far, blocks of rows turned into panels, and the cut
// into tiles of questions and ranges of rows. Private to query/.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "query/index.h"

namespace kith::query {

// The order of answers: higher score first, then lower row. Total, so the best `top` of a set do
// not depend on the order or the pieces in which it is seen.
inline bool better(const Hit& a, const Hit& b) {
  return a.score > b.score || (a.score == b.score && a.row < b.row);
}

// The best `top` of the neighbours offered so far.
class TopList {
 public:
  explicit TopList(size_t top) : top_(top) {}
  // While rows are offered in rising order, a score that is not above this cannot enter.
  float threshold() const;
  void offer(const Hit& candidate);
  std::span<const Hit> unordered() const { return heap_; }
  std::vector<Hit> take();  // best first; the list is empty afterwards

 private:
  size_t top_;
  std::vector<Hit> heap_;  // the worst in front
};

// Copies a vector scaled to length 1; zeros and false if it has no direction.
bool copy_unit(std::span<const float> from, std::span<float> to);

// What the cosines of a row count: its trust; 0 for one that makes no sense, as a mapped file may
// have.
float trust_in(const Vectors& vectors, size_t row);

// A block of rows as panels, small enough for the second cache.
class RowBlock {
 public:
  RowBlock(ConstRows rows, size_t dim);          // scores are products with the rows
  explicit RowBlock(const Vectors& vectors);     // with the rows scaled to length 1, or their trust
  size_t capacity() const { return capacity_; }  // rows, a multiple of kPanelRows
  void load(size_t first, size_t count);
  size_t first() const { return first_; }
  size_t count() const { return count_; }
  // Products of `query_count` vectors with the rows, into scores of capacity() columns. That of a
  // row without a direction is -infinity.
  void score(ConstRows queries, size_t query_count, Rows scores);

 private:
  void set_sizes();
  const Vectors* vectors_ = nullptr;
  ConstRows rows_;  // from `offset_` on
  size_t offset_ = 0;
  size_t dim_, capacity_ = 0, first_ = 0, count_ = 0;
  bool packed_ = false;  // a single query does without
  Matrix panels_;
  Matrix read_;     // rows of the vectors
  Matrix inverse_;  // one row: their trust / their lengths, 0 for one without a direction
};

// Offers scored rows to a list, without those that may not answer.
class Collector {
 public:
  explicit Collector(size_t block_rows) : positions_(block_rows) {}
  // `scores` are those of the rows in `block`; `excluded` is sorted.
  void collect(const RowBlock& block, const float* scores, std::span<const uint32_t> excluded,
               TopList& best);

 private:
  std::vector<uint32_t> positions_;
};

// A piece of work: some questions against some rows.
struct Tile {
  size_t first, last;          // questions
  size_t row_first, row_last;  // rows
};
// Cuts `questions` into tiles of at most `tile_size`, and the rows into ranges when there are too
// few tiles for the threads; calls body(tile, one list per question) and merges.
std::vector<std::vector<Hit>> search_tiles(
    size_t rows, size_t questions, size_t tile_size, const SearchOptions& options,
    const Context& context, const std::function<void(const Tile&, std::span<TopList>)>& body);

// The rows that may answer, of so many: the first `restrict_to`, or all for 0.
size_t rows_asked(size_t rows, size_t restrict_to);

// Throws Error(kUsage) unless the queries fit rows of `dim` and `exclude` has a list each or none.
void check_queries(size_t dim, const Matrix& queries,
                   std::span<const std::vector<uint32_t>> exclude);

}  // namespace kith::query
