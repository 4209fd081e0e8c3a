// SPDX-License-Identifier: Apache-2.0
#include "data/ratings/triples.h"

#include <algorithm>
#include <span>

namespace kith {
namespace {

// Entries of a row in rising order of their items, those of one item in the order they came.
class RowSorter {
 public:
  // Positions in [0, items.size()).
  std::span<const uint64_t> order(std::span<const uint32_t> items) {
    keys_.clear();
    for (size_t i = 0; i < items.size(); ++i) keys_.push_back(uint64_t{items[i]} << 32 | i);
    if (!std::ranges::is_sorted(keys_)) std::ranges::sort(keys_);
    return keys_;
  }

 private:
  std::vector<uint64_t> keys_;
};

float combined(std::span<const float> values, Duplicates how) {
  if (how == Duplicates::kFirst) return values.front();
  if (how != Duplicates::kMean && how != Duplicates::kSum) return values.back();
  double sum = 0;
  for (const float v : values) sum += v;
  if (how == Duplicates::kMean) sum /= static_cast<double>(values.size());
  return static_cast<float>(sum);
}

// Rows behind one another in buffers of `out`, as they came; closes up what becomes one.
class Compactor {
 public:
  Compactor(BuiltSparse& out, Duplicates how) : out_(out), how_(how) {}

  // Entries [begin, end) become a row behind those before.
  void row(uint64_t begin, uint64_t end) {
    Sparse& s = out_.sparse;
    const std::span items(s.column.data() + begin, end - begin);
    const auto order = sorter_.order(items);
    values_.assign(s.value.begin() + static_cast<int64_t>(begin),
                   s.value.begin() + static_cast<int64_t>(end));
    if (!out_.times.empty()) {
      times_.assign(out_.times.begin() + static_cast<int64_t>(begin),
                    out_.times.begin() + static_cast<int64_t>(end));
    }
    for (size_t i = 0; i < order.size();) {
      const auto item = static_cast<uint32_t>(order[i] >> 32);
      same_.clear();
      const size_t first = i;
      for (; i < order.size() && order[i] >> 32 == item; ++i) {
        same_.push_back(values_[order[i] & 0xffffffff]);
      }
      out_.duplicates += same_.size() - 1;
      s.column[size_] = item;
      s.value[size_] = combined(same_, how_);
      const size_t time_of = how_ == Duplicates::kFirst ? first : i - 1;
      if (!out_.times.empty()) out_.times[size_] = times_[order[time_of] & 0xffffffff];
      ++size_;
    }
  }
  uint64_t size() const { return size_; }

 private:
  BuiltSparse& out_;
  Duplicates how_;
  RowSorter sorter_;
  std::vector<float> values_, same_;
  std::vector<int64_t> times_;
  uint64_t size_ = 0;
};

template <class T>
void cut(std::vector<T>& v, uint64_t size) {
  const bool much = size < v.size() - v.size() / 8;
  v.resize(size);
  if (much) v.shrink_to_fit();
}

}  // namespace

void Triples::begin_chunk() {
  Chunk& chunk = chunks_.emplace_back();
  chunk.ratings.reserve(kChunk);
  if (with_times_) chunk.times.reserve(kChunk);
}

BuiltSparse build_sparse(Triples& triples, size_t users, size_t items, Duplicates duplicates) {
  BuiltSparse out;
  Sparse& s = out.sparse;
  s.columns = static_cast<uint32_t>(items);
  s.offsets.assign(users + 1, 0);
  for (const auto& chunk : triples.chunks_) {
    for (const Rating& r : chunk.ratings) ++s.offsets[r.user + 1];
  }
  for (size_t u = 0; u < users; ++u) s.offsets[u + 1] += s.offsets[u];
  s.column.resize(triples.size());
  s.value.resize(triples.size());
  if (triples.with_times()) out.times.resize(triples.size());
  std::vector<uint64_t> next(s.offsets.begin(), s.offsets.end() - 1);
  for (auto& chunk : triples.chunks_) {
    for (size_t i = 0; i < chunk.ratings.size(); ++i) {
      const Rating& r = chunk.ratings[i];
      const uint64_t at = next[r.user]++;
      s.column[at] = r.item;
      s.value[at] = r.value;
      if (triples.with_times()) out.times[at] = chunk.times[i];
    }
    chunk = {};
  }
  triples.chunks_.clear();
  triples.size_ = 0;

  Compactor compactor(out, duplicates);
  uint64_t begin = 0;
  for (size_t u = 0; u < users; ++u) {
    const uint64_t end = s.offsets[u + 1];
    s.offsets[u] = compactor.size();
    compactor.row(begin, end);
    begin = end;
  }
  s.offsets[users] = compactor.size();
  cut(s.column, compactor.size());
  cut(s.value, compactor.size());
  if (triples.with_times()) cut(out.times, compactor.size());
  return out;
}

}  // namespace kith
