// SPDX-License-Identifier: Apache-2.0
#include "api/self_check.h"

#include <algorithm>
#include <vector>

#include "core/rng.h"
#include "models/capabilities.h"
#include "query/index.h"

namespace kith {
namespace {

// Frequent enough to have been learned, and few enough that a look costs next to nothing.
constexpr size_t kLookedAt = 20000;
constexpr size_t kNames = 3, kNear = 4;  // shown, and how many neighbours of each

void add_neighbours(const VectorGroup& group, uint64_t seed, const Context& context,
                    Examples& out) {
  const Index index(*group.names, group.vectors);
  const size_t rows = std::min(index.size(), kLookedAt);
  if (rows < 2 * kNear || index.dim() == 0) return;
  // Past the names that stand beside everything, before those seen a few times only.
  const size_t first = std::min<size_t>(100, rows / 10);
  const size_t last = std::max(first + kNames, std::min<size_t>(2000, rows / 2));
  Rng rng(seed, 0x5e1f);
  Matrix queries(kNames, index.dim());
  std::vector<std::vector<uint32_t>> own;
  while (own.size() < kNames) {
    const auto row = static_cast<uint32_t>(first + rng.below(static_cast<uint32_t>(last - first)));
    if (std::ranges::find(own, std::vector{row}) != own.end()) continue;
    std::ranges::copy(index.unit_row(row), queries.row(own.size()).begin());
    own.push_back({row});
  }
  const auto found = nearest(index, queries, own, {.top = kNear, .restrict_to = rows}, context);
  for (size_t q = 0; q < kNames; ++q) {
    Examples::Near near{std::string((*group.names)[own[q][0]]), {}};
    for (const Hit& hit : found[q]) near.to.emplace_back((*group.names)[hit.row]);
    out.near.push_back(std::move(near));
  }
}

}  // namespace

Examples examples_of(const ModelBase& model, uint64_t seed, const Context& context) {
  Examples out;
  const auto* const vectors = dynamic_cast<const HasVectors*>(&model);
  if (!vectors) return out;
  const std::vector<VectorGroup> groups = vectors->vectors_of({});
  for (const VectorGroup& group : groups) {
    for_each_row(*group.vectors, [&](size_t, std::span<const float> row) {
      out.zero += std::ranges::all_of(row, [](float x) { return x == 0; });
      ++out.vectors;
    });
  }
  const bool one_kind = groups.size() == 1 && groups[0].column.empty();
  if (one_kind) add_neighbours(groups[0], seed, context, out);
  return out;
}

}  // namespace kith
