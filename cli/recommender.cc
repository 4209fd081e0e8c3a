// SPDX-License-Identifier: Apache-2.0
#include "recommender.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kith::cli {

Recommender::Recommender(const RatingsModel& model, std::vector<uint32_t> items, size_t top,
                         int threads)
    : model_(model), items_(std::move(items)), options_{.top = top, .threads = threads} {
  if (items_.empty() && model.scores_by_rows()) return;
  std::vector<uint32_t> all(items_.empty() ? model.names_of(Axis::kItem).size() : 0);
  std::iota(all.begin(), all.end(), 0);
  rows_ = rows_of(Axis::kItem, items_.empty() ? all : items_);
}

Matrix Recommender::rows_of(Axis axis, std::span<const uint32_t> numbers) const {
  Matrix out(numbers.size(), model_.scoring_cols());
  std::vector<float> room;
  for (size_t i = 0; i < numbers.size(); ++i) {
    std::ranges::copy(model_.scoring_row(axis, numbers[i], room), out.row(i).begin());
  }
  return out;
}

// Where they stand among items_; the others are left out.
std::vector<uint32_t> Recommender::places_of(std::span<const uint32_t> items) const {
  std::vector<uint32_t> out;
  for (const uint32_t item : items) {
    const auto at = std::ranges::lower_bound(items_, item);
    if (at != items_.end() && *at == item) {
      out.push_back(static_cast<uint32_t>(at - items_.begin()));
    }
  }
  return out;
}

std::vector<std::vector<Neighbour>> Recommender::ask(
    const Matrix& users, std::span<const std::vector<uint32_t>> exclude) const {
  if (items_.empty()) {
    const Matrix& all = model_.scores_by_rows() ? model_.rows_of(Axis::kItem) : rows_;
    return highest_products(all, users, exclude, options_);
  }
  std::vector<std::vector<uint32_t>> places;
  for (const auto& list : exclude) places.push_back(places_of(list));
  auto found = highest_products(rows_, users, places, options_);
  for (auto& list : found) {
    for (Neighbour& n : list) n.row = items_[n.row];
  }
  return found;
}

std::vector<std::vector<Neighbour>> Recommender::ask(std::span<const uint32_t> users,
                                                     bool include_seen) const {
  std::vector<std::vector<uint32_t>> exclude(users.size());
  for (size_t i = 0; i < users.size(); ++i) {
    const auto seen = model_.seen().row(users[i]).columns;
    if (!include_seen) exclude[i].assign(seen.begin(), seen.end());
  }
  return ask(rows_of(Axis::kUser, users), exclude);
}

}  // namespace kith::cli
