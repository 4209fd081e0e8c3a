// SPDX-License-Identifier: Apache-2.0
#include "api/item_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kith {

ItemSearch::ItemSearch(const Ranks& model, std::vector<uint32_t> items, size_t top)
    : model_(model), items_(std::move(items)), top_(top) {
  if (items_.empty() && model.scoring_rows(Axis::kItem)) return;
  std::vector<uint32_t> all(items_.empty() ? model.names_of(Axis::kItem).size() : 0);
  std::iota(all.begin(), all.end(), 0);
  rows_ = rows_of(Axis::kItem, items_.empty() ? all : items_);
}

Matrix ItemSearch::rows_of(Axis axis, std::span<const uint32_t> numbers) const {
  Matrix out(numbers.size(), model_.scoring_cols());
  std::vector<float> room;
  for (size_t i = 0; i < numbers.size(); ++i) {
    std::ranges::copy(model_.scoring_row(axis, numbers[i], room), out.row(i).begin());
  }
  return out;
}

// Where they stand among items_; the others are left out.
std::vector<uint32_t> ItemSearch::places_of(std::span<const uint32_t> items) const {
  std::vector<uint32_t> out;
  for (const uint32_t item : items) {
    const auto at = std::ranges::lower_bound(items_, item);
    if (at != items_.end() && *at == item) {
      out.push_back(static_cast<uint32_t>(at - items_.begin()));
    }
  }
  return out;
}

std::vector<std::vector<Hit>> ItemSearch::ask(const Matrix& users,
                                              std::span<const std::vector<uint32_t>> exclude,
                                              const Context& context) const {
  const SearchOptions options{.top = top_};
  if (items_.empty()) {
    const Matrix* const own = model_.scoring_rows(Axis::kItem);
    return highest_products(own ? *own : rows_, users, exclude, options, context);
  }
  std::vector<std::vector<uint32_t>> places;
  for (const auto& list : exclude) places.push_back(places_of(list));
  auto found = highest_products(rows_, users, places, options, context);
  for (auto& list : found) {
    for (Hit& hit : list) hit.row = items_[hit.row];
  }
  return found;
}

std::vector<std::vector<Hit>> ItemSearch::ask(std::span<const uint32_t> users, bool include_seen,
                                              const Context& context) const {
  std::vector<std::vector<uint32_t>> exclude(users.size());
  for (size_t i = 0; i < users.size(); ++i) {
    const auto seen = model_.seen().row(users[i]).columns;
    if (!include_seen) exclude[i].assign(seen.begin(), seen.end());
  }
  return ask(rows_of(Axis::kUser, users), exclude, context);
}

}  // namespace kith
