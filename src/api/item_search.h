// SPDX-License-Identifier: Apache-2.0
#pragma once
// The items that score highest for users: all of them at once, a block of users against tiles of
// items, without ever holding a score for every pair.

#include <cstdint>
#include <span>
#include <vector>

#include "models/capabilities.h"
#include "query/index.h"

namespace kith {

class ItemSearch {
 public:
  // `items` (rising): those that may be found; empty for all. Borrows the model.
  ItemSearch(const Ranks& model, std::vector<uint32_t> items, size_t top);

  // For users by their scoring rows. `exclude`: items by user, rising; one list each.
  std::vector<std::vector<Hit>> ask(const Matrix& users,
                                    std::span<const std::vector<uint32_t>> exclude,
                                    const Context& context) const;
  // For users by number; without what they rated unless `include_seen`.
  std::vector<std::vector<Hit>> ask(std::span<const uint32_t> users, bool include_seen,
                                    const Context& context) const;

  // Users that are worth asking about together.
  static size_t batch(const Context& context) {
    return static_cast<size_t>(context.threads()) * 1024;
  }

 private:
  std::vector<uint32_t> places_of(std::span<const uint32_t> items) const;
  Matrix rows_of(Axis axis, std::span<const uint32_t> numbers) const;  // that score
  const Ranks& model_;
  std::vector<uint32_t> items_;
  Matrix rows_;  // of items_, or of all if those of the model do not score as they are
  size_t top_;
};

}  // namespace kith
