// SPDX-License-Identifier: Apache-2.0
#pragma once
// Both sides of row_means.h: what a model knows of users and of items besides their ratings, and
// how a run begins to learn it. For models whose penalties draw rows to means.

#include <vector>

#include "data/ratings/ratings.h"
#include "models/ratings/factors.h"
#include "models/ratings/row_means.h"

namespace kith {

// As a model keeps it.
struct KnownRows {
  RowMeans user, item;
  RowMeans& of(Axis axis) { return axis == Axis::kUser ? user : item; }
  const RowMeans& of(Axis axis) const { return axis == Axis::kUser ? user : item; }
  // More users and items than before, as the names say.
  void grow(const RatingFactors& f);
  void visit(Parts& parts, const RatingFactors& f);
};

// What there is to learn from.
struct KnownWhat {
  bool choices, columns;
  const RowFeatures& columns_of(Axis axis, const Ratings& ratings) const;
  bool any(const Ratings& ratings) const;
};

FeaturesMemory memory_of(Axis axis, const Ratings& ratings, const KnownWhat& what, size_t cols);

// Refers to the ratings and `by_item`, their transpose. A row counts as much as its weight.
MeansFit fit_of(Axis axis, const Ratings& ratings, const Sparse& by_item, const KnownWhat& what,
                std::vector<float> weights);
// Where a run starts, or Error(kInput) if it cannot go on with what it had learned.
void begin(const MeansFit& fit, bool afresh, size_t cols, RowMeans& means);

}  // namespace kith
