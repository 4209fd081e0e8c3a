// SPDX-License-Identifier: Apache-2.0
#include "recommender.h"

#include <algorithm>
#include <utility>

namespace kith::cli {

Recommender::Recommender(const RatingsModel& model, std::vector<uint32_t> items, size_t top,
                         int threads)
    : model_(model), items_(std::move(items)), options_{.top = top, .threads = threads} {
  const Matrix& all = model.rows_of(Axis::kItem);
  if (items_.empty()) return;
  rows_ = Matrix(items_.size(), all.cols());
  for (size_t i = 0; i < items_.size(); ++i) {
    std::ranges::copy(all.row(items_[i]), rows_.row(i).begin());
  }
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
    return highest_products(model_.rows_of(Axis::kItem), users, exclude, options_);
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
  const Matrix& all = model_.rows_of(Axis::kUser);
  Matrix rows(users.size(), all.cols());
  std::vector<std::vector<uint32_t>> exclude(users.size());
  for (size_t i = 0; i < users.size(); ++i) {
    std::ranges::copy(all.row(users[i]), rows.row(i).begin());
    const auto seen = model_.seen().row(users[i]).columns;
    if (!include_seen) exclude[i].assign(seen.begin(), seen.end());
  }
  return ask(rows, exclude);
}

}  // namespace kith::cli
