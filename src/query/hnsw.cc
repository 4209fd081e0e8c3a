// SPDX-License-Identifier: Apache-2.0
// The approximate search: hnswlib builds and holds the graph, in memory only (its file loading is
// never used), with our distance kernel; this is the only file that sees it.
#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "query/index.h"
#include "query/kernel.h"
#include "query/search.h"

// Its own kernels are chosen when the program is compiled and define global functions; ours are
// chosen when it runs.
#define NO_MANUAL_VECTORIZATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include <hnswlib/hnswlib.h>
#pragma GCC diagnostic pop

namespace kith {
namespace {

// What a thread takes at a time.
constexpr size_t kRowsAtOnce = 64, kQueriesAtOnce = 16;
constexpr size_t kRecallTop = 10;

// CPU seconds for vectors of 100 numbers, measured in one run over 46,700 clustered ones on one
// AVX-512 core: exact 11,800 queries/s in a batch, building 3,300 vectors/s, asking with a beam of
// 100 5,000 queries/s. All three grow alike with the dimension.
constexpr double kExactPerPair = 1.8e-9, kBuildPerRow = 300e-6, kAskPerQuery = 200e-6;

using Graph = hnswlib::HierarchicalNSW<float>;

struct Metric {
  query::Distance distance;
  size_t floats;
};
float distance_of(const void* a, const void* b, const void* metric) {
  const auto& m = *static_cast<const Metric*>(metric);
  return m.distance(static_cast<const float*>(a), static_cast<const float*>(b), m.floats);
}

// Inner products of padded rows.
class Geometry : public hnswlib::SpaceInterface<float> {
 public:
  explicit Geometry(size_t stride) : metric_{query::distance_function(), stride} {}
  size_t get_data_size() override { return metric_.floats * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return distance_of; }
  void* get_dist_func_param() override { return &metric_; }

 private:
  Metric metric_;
};

// hnswlib's searchKnn with the beam as an argument instead of a member, and without its counters,
// which all threads would write to.
auto walk(const Graph& graph, const float* query, size_t beam) {
  hnswlib::tableint at = graph.enterpoint_node_;
  const auto distance = [&](hnswlib::tableint id) {
    return graph.fstdistfunc_(query, graph.getDataByInternalId(id), graph.dist_func_param_);
  };
  float best = distance(at);
  for (int level = graph.maxlevel_; level > 0; --level) {
    for (bool moved = true; std::exchange(moved, false);) {
      hnswlib::linklistsizeint* const list = graph.get_linklist(at, level);
      const auto* const links = list + 1;
      const size_t count = graph.getListCount(list);
      for (size_t i = 0; i < count; ++i) {
        const float d = distance(links[i]);
        if (!(d < best)) continue;
        best = d;
        at = links[i];
        moved = true;
      }
    }
  }
  return graph.searchBaseLayerST<false>(at, query, beam);
}

// A row with its trust for its length, padded as the graph wants it, so that products with a query
// are what the exact search gives; false if it has no direction.
bool read_scaled(const Index& index, size_t row, Matrix& out) {
  index.vectors().read(row, 1, out.view());
  const float trust = query::trust_in(index.vectors(), row);
  if (!query::copy_unit(out.row(0), out.row(0)) || trust == 0) return false;
  for (float& x : out.row(0)) x *= trust;
  return true;
}

// Rows without a direction never match, so they stay outside the graph.
std::vector<uint32_t> rows_without_direction(const Index& index) {
  std::vector<uint32_t> out;
  Matrix one(1, index.dim());
  for (uint32_t row = 0; row < index.size(); ++row) {
    if (!read_scaled(index, row, one)) out.push_back(row);
  }
  return out;
}

}  // namespace

struct HnswIndex::Impl {
  explicit Impl(const Index& i)
      : index(i), zeros(rows_without_direction(i)), geometry(padded(i.dim())) {}

  void add(size_t row, Matrix& scaled) {
    read_scaled(index, row, scaled);
    try {
      graph->addPoint(scaled.view().data, row);
    } catch (const std::bad_alloc&) {
      throw fault(ErrorKind::kLimit, "no memory for a graph over {} vectors", index.size());
    } catch (const std::runtime_error& e) {
      throw fault(ErrorKind::kLimit, "the graph over {} vectors could not be built: {}",
                  index.size(), e.what());
    }
  }

  // The best of what the graph finds, with the scores the exact search gives. `excluded` is sorted.
  std::vector<Hit> ask(const Matrix& unit, std::span<const uint32_t> excluded, size_t top,
                       size_t beam) const {
    const size_t wanted = top + excluded.size();
    auto found = walk(*graph, unit.view().data, std::max(beam, wanted));
    while (found.size() > wanted) found.pop();  // the farthest first
    query::RowBlock block(index.vectors());
    Matrix score(1, block.capacity());
    query::TopList best(top);
    for (; !found.empty(); found.pop()) {
      const auto row = static_cast<uint32_t>(graph->getExternalLabel(found.top().second));
      if (std::binary_search(excluded.begin(), excluded.end(), row)) continue;
      block.load(row, 1);
      block.score(unit.view(), 1, score.view());
      best.offer({row, score.row(0)[0]});
    }
    return best.take();
  }

  // How many rows may answer when these are excluded.
  size_t available(std::vector<uint32_t> excluded) const {
    excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
    const auto left_out = std::count_if(excluded.begin(), excluded.end(), [&](uint32_t row) {
      return row < index.size() && !std::binary_search(zeros.begin(), zeros.end(), row);
    });
    return index.size() - zeros.size() - static_cast<size_t>(left_out);
  }

  const Index& index;
  const std::vector<uint32_t> zeros;
  Geometry geometry;
  std::unique_ptr<Graph> graph;  // none if there is no row to find
};

HnswIndex::HnswIndex(const Index& index, const Context& context, int links, int effort)
    : impl_(std::make_unique<Impl>(index)) {
  if (links < 2 || links > 1000 || effort < 1 || effort > 1'000'000) {
    throw fault(ErrorKind::kUsage,
                "a graph takes 2 to 1000 links and an effort of 1 to 1000000; got {} and {}", links,
                effort);
  }
  std::vector<uint32_t> all(index.size()), rows;
  std::iota(all.begin(), all.end(), 0u);
  std::ranges::set_difference(all, impl_->zeros, std::back_inserter(rows));
  if (rows.empty()) return;
  if (rows.size() > std::numeric_limits<int>::max()) {  // hnswlib counts some things in an int
    throw fault(ErrorKind::kLimit, "a graph holds at most {} vectors; got {}",
                std::numeric_limits<int>::max(), rows.size());
  }
  try {
    impl_->graph = std::make_unique<Graph>(&impl_->geometry, rows.size(),
                                           static_cast<size_t>(links), static_cast<size_t>(effort));
  } catch (const std::exception&) {
    throw fault(ErrorKind::kLimit, "no memory for a graph over {} vectors", rows.size());
  }
  Matrix first_scaled(1, index.dim());
  impl_->add(rows[0], first_scaled);  // everything else needs an entry point
  for_each_shard(context, (rows.size() - 1 + kRowsAtOnce - 1) / kRowsAtOnce, [&](size_t shard) {
    Matrix scaled(1, index.dim());
    const size_t first = 1 + shard * kRowsAtOnce, last = std::min(first + kRowsAtOnce, rows.size());
    for (size_t i = first; i < last; ++i) impl_->add(rows[i], scaled);
  });
}

HnswIndex::~HnswIndex() = default;

std::vector<std::vector<Hit>> HnswIndex::search(const Matrix& queries,
                                                std::span<const std::vector<uint32_t>> exclude,
                                                const SearchOptions& options,
                                                const Context& context, int beam) const {
  const Index& index = impl_->index;
  query::check_queries(index.dim(), queries, exclude);
  if (query::rows_asked(index.size(), options.restrict_to) < index.size()) {
    return nearest(index, queries, exclude, options, context);
  }
  std::vector<std::vector<Hit>> answers(queries.rows());
  if (!impl_->graph || options.top == 0) return answers;
  const size_t top = std::min(options.top, index.size());
  for_each_shard(
      context, (queries.rows() + kQueriesAtOnce - 1) / kQueriesAtOnce, [&](size_t shard) {
        Matrix unit(1, index.dim());
        for (size_t q = shard * kQueriesAtOnce;
             q < std::min((shard + 1) * kQueriesAtOnce, queries.rows()); ++q) {
          if (!query::copy_unit(queries.row(q), unit.row(0))) continue;
          std::vector<uint32_t> excluded = exclude.empty() ? std::vector<uint32_t>{} : exclude[q];
          std::sort(excluded.begin(), excluded.end());
          answers[q] = impl_->ask(unit, excluded, top, static_cast<size_t>(std::max(1, beam)));
          // Parts of a graph can be out of reach, as behind many equal vectors: then ask everybody.
          if (answers[q].size() < std::min(top, impl_->available(excluded))) {
            const std::vector<std::vector<uint32_t>> one{excluded};
            answers[q] = nearest(index, unit, one, {.top = top}, context).front();
          }
        }
      });
  return answers;
}

double HnswIndex::recall(const Context& context, size_t sample, int beam) const {
  const Index& index = impl_->index;
  const size_t count = std::min(sample, index.size());
  Matrix queries(count, index.dim());
  std::vector<std::vector<uint32_t>> self(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t row = i * index.size() / count;
    std::ranges::copy(index.unit_row(static_cast<uint32_t>(row)), queries.row(i).begin());
    self[i] = {static_cast<uint32_t>(row)};
  }
  const SearchOptions options{.top = kRecallTop};
  const auto exact = nearest(index, queries, self, options, context);
  const auto found = search(queries, self, options, context, beam);
  size_t right = 0, all = 0;
  for (size_t i = 0; i < count; ++i) {
    all += exact[i].size();
    for (const Hit& n : exact[i]) {
      right += std::any_of(found[i].begin(), found[i].end(),
                           [&](const Hit& other) { return other.row == n.row; });
    }
  }
  return all == 0 ? 1.0 : static_cast<double>(right) / static_cast<double>(all);
}

bool graph_pays(size_t rows, size_t queries) {
  const double r = static_cast<double>(rows), q = static_cast<double>(queries);
  return q * r * kExactPerPair > r * kBuildPerRow + q * kAskPerQuery;
}

}  // namespace kith
