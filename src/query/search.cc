// SPDX-License-Identifier: Apache-2.0
#include "query/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "query/kernel.h"

namespace kith::query {
namespace {

// A block of panels should share the second cache (256 KB at the least, in practice) with queries.
constexpr size_t kBlockFloats = 48 << 10;
// Scores of a block are read back soon after; longer blocks only push things out of the caches.
constexpr size_t kMostBlockRows = 8 * kPanelRows;
// A range of rows shorter than this is not worth a thread.
constexpr size_t kLeastRange = 20 * kPanelRows;
// 1 / a length whose square, and whose products, are far from the ends of a float.
constexpr float kLeastInverse = 1e-15f, kMostInverse = 1e15f;

size_t divided_up(size_t a, size_t b) { return (a + b - 1) / b; }

}  // namespace

float TopList::threshold() const {
  if (heap_.size() < top_) return -std::numeric_limits<float>::infinity();
  return top_ == 0 ? std::numeric_limits<float>::infinity() : heap_.front().score;
}

void TopList::offer(const Hit& candidate) {
  if (heap_.size() == top_) {
    if (top_ == 0 || !better(candidate, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), better);
    heap_.back() = candidate;
  } else {
    heap_.push_back(candidate);
  }
  std::push_heap(heap_.begin(), heap_.end(), better);
}

std::vector<Hit> TopList::take() {
  std::sort(heap_.begin(), heap_.end(), better);
  return std::exchange(heap_, {});
}

bool copy_unit(std::span<const float> from, std::span<float> to) {
  double squares = 0;
  for (const float x : from) squares += static_cast<double>(x) * x;
  if (!(squares > 0) || !std::isfinite(squares)) {
    std::fill(to.begin(), to.end(), 0.0f);
    return false;
  }
  const double scale = 1 / std::sqrt(squares);
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<float>(from[i] * scale);
  return true;
}

float trust_in(const Vectors& vectors, size_t row) {
  const std::span<const float> all = vectors.trust();
  if (all.empty()) return 1;
  return all[row] > 0 && all[row] <= 1 ? all[row] : 0;
}

RowBlock::RowBlock(ConstRows rows, size_t dim) : rows_(rows), dim_(dim) { set_sizes(); }

RowBlock::RowBlock(const Vectors& vectors)
    : vectors_(&vectors), rows_{nullptr, 0}, dim_(vectors.cols()) {
  set_sizes();
  read_ = Matrix(capacity_, std::max<size_t>(1, dim_));
  inverse_ = Matrix(1, capacity_);
  rows_ = std::as_const(read_).view();
}

void RowBlock::set_sizes() {
  const size_t fit = kBlockFloats / panel_floats(std::max<size_t>(1, dim_)) * kPanelRows;
  capacity_ = std::clamp(fit, kPanelRows, kMostBlockRows);
  panels_ = Matrix(capacity_ / kPanelRows, panel_floats(dim_));
}

void RowBlock::load(size_t first, size_t count) {
  first_ = first;
  count_ = count;
  packed_ = false;
  offset_ = first;
  if (!vectors_) return;
  offset_ = 0;
  vectors_->read(first, count, read_.view());
  const auto inverse = inverse_.row(0);
  inverse_lengths(rows_, count, padded(dim_), inverse.data());
  for (size_t r = 0; r < count; ++r) {
    // Squares that are too large or too small for a float: with more digits, or not at all.
    if (inverse[r] > kLeastInverse && inverse[r] < kMostInverse) continue;
    inverse[r] = copy_unit(read_.row(r), read_.row(r)) ? 1.0f : 0.0f;
  }
  if (vectors_->trust().empty()) return;
  for (size_t r = 0; r < count; ++r) inverse[r] *= trust_in(*vectors_, first + r);
}

void RowBlock::score(ConstRows queries, size_t query_count, Rows scores) {
  if (query_count == 1 && !packed_) {
    score_rows(queries.data, rows_, offset_, count_, dim_, scores.data);
  } else {
    float* const panels = panels_.view().data;
    if (!packed_) pack_panels(rows_, offset_, count_, dim_, panels);
    packed_ = true;
    score_panels(queries, query_count, panels, divided_up(count_, kPanelRows), dim_, scores);
  }
  for (size_t q = 0; vectors_ && q < query_count; ++q) {
    scale_scores(inverse_.row(0).data(), padded(count_), scores.row(q));
  }
}

void Collector::collect(const RowBlock& block, const float* scores,
                        std::span<const uint32_t> excluded, TopList& best) {
  const size_t found = positions_above(scores, block.count(), best.threshold(), positions_.data());
  for (size_t i = 0; i < found; ++i) {
    const auto row = static_cast<uint32_t>(block.first() + positions_[i]);
    const float score = scores[positions_[i]];
    if (!(score > best.threshold())) continue;  // it has risen since the block was scanned
    if (std::binary_search(excluded.begin(), excluded.end(), row)) continue;
    best.offer({row, score});
  }
}

std::vector<std::vector<Hit>> search_tiles(
    size_t rows, size_t questions, size_t tile_size, const SearchOptions& options,
    const Context& context, const std::function<void(const Tile&, std::span<TopList>)>& body) {
  rows = rows_asked(rows, options.restrict_to);
  std::vector<std::vector<Hit>> answers(questions);
  if (questions == 0 || rows == 0 || options.top == 0) return answers;

  const auto threads = static_cast<size_t>(context.threads());
  const size_t tiles = divided_up(questions, tile_size);
  // Two pieces a thread even out their ends; one thread needs no pieces.
  const size_t wanted = threads == 1 ? 1 : divided_up(2 * threads, tiles);
  const size_t range =
      divided_up(std::max(divided_up(rows, wanted), kLeastRange), kPanelRows) * kPanelRows;
  const size_t ranges = divided_up(rows, range);

  std::vector<std::vector<TopList>> parts(tiles * ranges);
  for_each_shard(context, parts.size(), [&](size_t i) {
    const size_t first = i / ranges * tile_size, row_first = i % ranges * range;
    const Tile tile{first, std::min(first + tile_size, questions), row_first,
                    std::min(row_first + range, rows)};
    parts[i].assign(tile.last - tile.first, TopList(options.top));
    body(tile, parts[i]);
  });

  for (size_t q = 0; q < questions; ++q) {
    const size_t tile = q / tile_size, at = q % tile_size;
    TopList& best = parts[tile * ranges][at];
    for (size_t r = 1; r < ranges; ++r) {
      for (const Hit& n : parts[tile * ranges + r][at].unordered()) best.offer(n);
    }
    answers[q] = best.take();
  }
  return answers;
}

size_t rows_asked(size_t rows, size_t restrict_to) {
  return restrict_to == 0 ? rows : std::min(restrict_to, rows);
}

void check_queries(size_t dim, const Matrix& queries,
                   std::span<const std::vector<uint32_t>> exclude) {
  if (queries.rows() > 0 && queries.cols() != dim) {
    throw fault(ErrorKind::kUsage, "queries of {} numbers do not fit vectors of {}", queries.cols(),
                dim);
  }
  if (!exclude.empty() && exclude.size() != queries.rows()) {
    throw fault(ErrorKind::kUsage, "{} lists of excluded rows do not fit {} queries",
                exclude.size(), queries.rows());
  }
}

}  // namespace kith::query
