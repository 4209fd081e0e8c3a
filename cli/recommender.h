// SPDX-License-Identifier: Apache-2.0
#pragma once
// The items that score highest for users: all of them at once, a block of users against tiles of
// items, without ever holding a score for every pair.

#include <cstdint>
#include <span>
#include <vector>

#include "models/ratings_model.h"
#include "query/neighbours.h"

namespace kith::cli {

class Recommender {
 public:
  // `items` (rising): those that may be recommended; empty for all. Borrows the model.
  Recommender(const RatingsModel& model, std::vector<uint32_t> items, size_t top, int threads);

  // For users by their scoring rows. `exclude`: items by user, rising; one list each.
  std::vector<std::vector<Neighbour>> ask(const Matrix& users,
                                          std::span<const std::vector<uint32_t>> exclude) const;
  // For users by number; without what they rated unless `include_seen`.
  std::vector<std::vector<Neighbour>> ask(std::span<const uint32_t> users, bool include_seen) const;

  // Users that are worth asking about together.
  size_t batch() const { return static_cast<size_t>(options_.threads) * 1024; }

 private:
  std::vector<uint32_t> places_of(std::span<const uint32_t> items) const;
  Matrix rows_of(Axis axis, std::span<const uint32_t> numbers) const;  // that score
  const RatingsModel& model_;
  std::vector<uint32_t> items_;
  Matrix rows_;  // of items_, or of all if those of the model do not score as they are
  SearchOptions options_;
};

}  // namespace kith::cli
