// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ratings cut into a part to train on and a part to test on. The same seed cuts the same way; names
// and their numbers stay, so that what was learned on one part can be asked about the other.

#include <array>
#include <cstdint>
#include <vector>

#include "config/fields.h"
#include "data/ratings.h"
#include "data/sparse.h"

namespace kith {

// Which ratings are tested: any; of each user about the same share, never all of them; the last in
// time; of each user the last in time.
enum class SplitBy { kRandom, kUser, kTime, kUserTime };

struct Split {
  Sparse train, test;
};

// `test`: the share of the ratings, in (0, 1). Error(kUsage) for a split by time of ratings
// without.
Split split(const Ratings& ratings, SplitBy by, double test, uint64_t seed);

// Of `folds` parts, which together are all ratings and of the same size (as near as can be), part
// `fold` to test on and the others to train on. By user, one who rated once is never tested.
// Error(kUsage) for splits by time: what comes last comes last once.
Split fold_of(const Ratings& ratings, SplitBy by, int folds, int fold, uint64_t seed);

// The entries of `a` whose place is marked, and the others; `marked` has one for each.
Split split_where(const Sparse& a, const std::vector<bool>& marked);

}  // namespace kith

template <>
struct kith::EnumNames<kith::SplitBy> {
  static constexpr std::array<std::string_view, 4> names{"random", "user", "time", "user-time"};
};
