// SPDX-License-Identifier: Apache-2.0
#include "query/neighbours.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "query/search.h"

namespace kith {
namespace {

// Queries that share one pass over the rows, so that turning a block into panels costs little.
constexpr size_t kTileQueries = 512;
// Queries scored before their scores are looked at: these scores stay in the second cache.
constexpr size_t kScoredQueries = 64;

constexpr size_t kMostShown = 60;
// A name as a message shows it: whole, unless somebody passed a page of text.
std::string shown(std::string_view name) {
  if (name.size() <= kMostShown) return std::string(name);
  size_t cut = kMostShown;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xc0) == 0x80) --cut;  // inside UTF-8
  return std::string(name.substr(0, cut)) + "...";
}

class ExactTile {
 public:
  ExactTile(const Space& space, const Matrix& queries,
            std::span<const std::vector<uint32_t>> exclude, const query::Tile& tile)
      : tile_(tile),
        unit_(tile.last - tile.first, queries.cols()),
        excluded_(unit_.rows()),
        asked_(unit_.rows()),
        block_(space),
        collector_(space, block_.capacity()),
        scores_(std::min(kScoredQueries, unit_.rows()), block_.capacity()) {
    for (size_t q = 0; q < unit_.rows(); ++q) {
      asked_[q] = query::copy_unit(queries.row(tile.first + q), unit_.row(q));
      if (exclude.empty()) continue;
      excluded_[q] = exclude[tile.first + q];
      std::sort(excluded_[q].begin(), excluded_[q].end());
    }
  }

  void run(std::span<query::TopList> best) {
    for (size_t row = tile_.row_first; row < tile_.row_last; row += block_.capacity()) {
      block_.load(row, std::min(block_.capacity(), tile_.row_last - row));
      for (size_t q = 0; q < unit_.rows(); q += kScoredQueries) {
        score_some(q, std::min(kScoredQueries, unit_.rows() - q), best);
      }
    }
  }

 private:
  void score_some(size_t first, size_t count, std::span<query::TopList> best) {
    const ConstRows unit = std::as_const(unit_).view();
    block_.score({unit.row(first), unit.stride}, count, scores_.view());
    for (size_t i = 0; i < count; ++i) {
      const size_t q = first + i;
      if (asked_[q]) collector_.collect(block_, scores_.view().row(i), excluded_[q], best[q]);
    }
  }

  query::Tile tile_;
  Matrix unit_;
  std::vector<std::vector<uint32_t>> excluded_;
  std::vector<uint8_t> asked_;  // false for a zero query
  query::RowBlock block_;
  query::Collector collector_;
  Matrix scores_;
};

}  // namespace

Space::Space(const Names& names, const Matrix& vectors)
    : names_(&names), unit_(vectors.rows(), vectors.cols()) {
  if (names.size() != vectors.rows()) {
    throw Error(ErrorKind::kUsage, "{} names do not fit {} vectors", names.size(), vectors.rows());
  }
  for (size_t i = 0; i < vectors.rows(); ++i) {
    if (!query::copy_unit(vectors.row(i), unit_.row(i))) {
      zero_rows_.push_back(static_cast<uint32_t>(i));
    }
  }
}

uint32_t Space::row(std::string_view name) const {
  if (const auto found = names_->find(name)) return *found;
  std::string nearest;
  for (const std::string& spelling : similar_spellings(name, *names_)) {
    nearest += (nearest.empty() ? "; nearest spellings: " : ", ") + spelling;
  }
  throw Error(ErrorKind::kInput, "{} is not in the vocabulary{}", shown(name), nearest);
}

std::vector<std::vector<Neighbour>> exact_neighbours(const Space& space, const Matrix& queries,
                                                     std::span<const std::vector<uint32_t>> exclude,
                                                     const SearchOptions& options) {
  query::check_queries(space, queries, exclude);
  return query::search_tiles(space, queries.rows(), kTileQueries, options,
                             [&](const query::Tile& tile, std::span<query::TopList> best) {
                               ExactTile(space, queries, exclude, tile).run(best);
                             });
}

}  // namespace kith
