// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ratings cut into a part to train on and a part to test on. The same seed cuts the same way; names
// and their numbers stay, so that what was learned on one part can be asked about the other.

#include <array>
#include <cstdint>
#include <vector>

#include "data/ratings/ratings.h"
#include "data/sparse.h"
#include "kith/split.h"

namespace kith {

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

// The items of the latest ratings of `train`, a part of these: of such a share, one a rating.
// Error(kUsage) for ratings without times.
std::vector<uint32_t> latest_items(const Ratings& ratings, const Sparse& train, double share);

// The ratings with what training holds out kept apart: the very ones that would be if they were
// read from a file.
Ratings held_apart(const Ratings& ratings);

}  // namespace kith
