// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/sparse.h"

namespace kith {

// What columns say of users, or of items: rows x features, those of a column side by side.
struct RowFeatures {
  Sparse features;
  std::vector<uint32_t> ends;             // where the features of each column end
  std::vector<std::string> names, types;  // of the columns

  size_t columns() const { return ends.size(); }
  uint64_t bytes() const { return 8 * features.size() + 8 * features.offsets.size(); }
  bool has(std::string_view column) const {
    return std::ranges::find(names, column) != names.end();
  }
  // "genres (set)"
  std::vector<std::string> described() const {
    std::vector<std::string> out;
    for (size_t c = 0; c < types.size(); ++c) out.push_back(names[c] + " (" + types[c] + ")");
    return out;
  }
};

}  // namespace kith
