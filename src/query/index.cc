// SPDX-License-Identifier: Apache-2.0
#include "query/index.h"

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

// What is asked of which rows: of named vectors by cosine, or of a matrix by products.
struct Asked {
  const Vectors* vectors;
  const Matrix* matrix;
  const Matrix& queries;
  std::span<const std::vector<uint32_t>> exclude;

  query::RowBlock block() const {
    return vectors ? query::RowBlock(*vectors) : query::RowBlock(matrix->view(), matrix->cols());
  }
  size_t rows() const { return vectors ? vectors->rows() : matrix->rows(); }
  size_t cols() const { return vectors ? vectors->cols() : matrix->cols(); }
};

class ExactTile {
 public:
  ExactTile(const Asked& asked, const query::Tile& tile)
      : tile_(tile),
        queries_(tile.last - tile.first, asked.queries.cols()),
        excluded_(queries_.rows()),
        asked_(queries_.rows(), 1),
        block_(asked.block()),
        collector_(block_.capacity()),
        scores_(std::min(kScoredQueries, queries_.rows()), block_.capacity()) {
    const auto& exclude = asked.exclude;
    for (size_t q = 0; q < queries_.rows(); ++q) {
      const auto query = asked.queries.row(tile.first + q);
      if (asked.vectors) {  // cosines: the queries have length 1, too
        asked_[q] = query::copy_unit(query, queries_.row(q));
      } else {
        std::copy(query.begin(), query.end(), queries_.row(q).begin());
      }
      if (exclude.empty()) continue;
      excluded_[q] = exclude[tile.first + q];
      std::sort(excluded_[q].begin(), excluded_[q].end());
    }
  }

  void run(std::span<query::TopList> best, const Context& context) {
    for (size_t row = tile_.row_first; row < tile_.row_last; row += block_.capacity()) {
      context.check();
      block_.load(row, std::min(block_.capacity(), tile_.row_last - row));
      for (size_t q = 0; q < queries_.rows(); q += kScoredQueries) {
        score_some(q, std::min(kScoredQueries, queries_.rows() - q), best);
      }
    }
  }

 private:
  void score_some(size_t first, size_t count, std::span<query::TopList> best) {
    const ConstRows from = std::as_const(queries_).view();
    block_.score({from.row(first), from.stride}, count, scores_.view());
    for (size_t i = 0; i < count; ++i) {
      const size_t q = first + i;
      if (asked_[q]) collector_.collect(block_, scores_.view().row(i), excluded_[q], best[q]);
    }
  }

  query::Tile tile_;
  Matrix queries_;
  std::vector<std::vector<uint32_t>> excluded_;
  std::vector<uint8_t> asked_;  // false for a zero query
  query::RowBlock block_;
  query::Collector collector_;
  Matrix scores_;
};

std::vector<std::vector<Hit>> search(const Asked& asked, const SearchOptions& options,
                                     const Context& context) {
  query::check_queries(asked.cols(), asked.queries, asked.exclude);
  return query::search_tiles(asked.rows(), asked.queries.rows(), kTileQueries, options, context,
                             [&](const query::Tile& tile, std::span<query::TopList> best) {
                               ExactTile(asked, tile).run(best, context);
                             });
}

}  // namespace

Index::Index(const Names& names, std::shared_ptr<const Vectors> vectors)
    : names_(&names), vectors_(std::move(vectors)) {
  if (names.size() != vectors_->rows()) {
    throw fault(ErrorKind::kUsage, "{} names do not fit {} vectors", names.size(),
                vectors_->rows());
  }
}

uint32_t Index::row(std::string_view name) const {
  if (const auto found = names_->find(name)) return *found;
  std::string nearest;
  for (const std::string& spelling : similar_spellings(name, *names_)) {
    nearest += (nearest.empty() ? "; nearest spellings: " : ", ") + spelling;
  }
  // "king-man+woman": a hyphen may be part of a word, so signs stand alone.
  const bool sum = nearest.empty() && name.find_first_of("+-") != std::string_view::npos;
  throw fault(ErrorKind::kInput, "{} is not in the vocabulary{}{}", shown(name), nearest,
              sum ? "; a sum has spaces around its signs, as in king - man + woman" : "");
}

std::vector<float> Index::unit_row(uint32_t row) const {
  std::vector<float> out(dim());
  if (out.empty()) return out;
  Matrix one(1, dim());
  vectors_->read(row, 1, one.view());
  query::copy_unit(one.row(0), out);
  return out;
}

std::vector<std::vector<Hit>> nearest(const Index& index, const Matrix& queries,
                                      std::span<const std::vector<uint32_t>> exclude,
                                      const SearchOptions& options, const Context& context) {
  return search({&index.vectors(), nullptr, queries, exclude}, options, context);
}

std::vector<std::vector<Hit>> highest_products(const Matrix& rows, const Matrix& queries,
                                               std::span<const std::vector<uint32_t>> exclude,
                                               const SearchOptions& options,
                                               const Context& context) {
  return search({nullptr, &rows, queries, exclude}, options, context);
}

}  // namespace kith
