// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ratings on their way from a stream into a sparse matrix: in chunks, so that nothing is copied
// while they grow, and given up chunk by chunk. Private to src/data and its tests.

#include <cstdint>
#include <utility>
#include <vector>

#include "data/ratings/ratings.h"
#include "data/sparse.h"

namespace kith {

class Triples {
 public:
  explicit Triples(bool with_times = false) : with_times_(with_times) {}
  explicit Triples(std::vector<Rating> all) : with_times_(false) {
    size_ = all.size();
    chunks_.push_back({std::move(all), {}});
  }
  void add(const Rating& rating, int64_t time) {
    if (size_++ % kChunk == 0) begin_chunk();
    chunks_.back().ratings.push_back(rating);
    if (with_times_) chunks_.back().times.push_back(time);
  }
  uint64_t size() const { return size_; }
  bool with_times() const { return with_times_; }

 private:
  friend struct BuiltSparse build_sparse(Triples& triples, size_t users, size_t items,
                                         Duplicates duplicates);
  static constexpr size_t kChunk = 1 << 16;
  struct Chunk {
    std::vector<Rating> ratings;
    std::vector<int64_t> times;  // if they are kept
  };
  void begin_chunk();
  bool with_times_;
  uint64_t size_ = 0;
  std::vector<Chunk> chunks_;
};

struct BuiltSparse {
  Sparse sparse;
  std::vector<int64_t> times;  // by entry, if they were kept
  uint64_t duplicates = 0;
};

// A counting sort by user, then each row by item; what stands several times becomes one as told
// (kRefuse is the reader's business). Takes 20 bytes a rating at the peak, 8 in the end (28 and 16
// with times), and leaves `triples` empty.
BuiltSparse build_sparse(Triples& triples, size_t users, size_t items, Duplicates duplicates);

}  // namespace kith
