// SPDX-License-Identifier: Apache-2.0
#include "models/ratings/known_rows.h"

#include <utility>

#include "core/error.h"

namespace kith {

void KnownRows::grow(const RatingFactors& f) {
  user.grow(f.users.size(), f.items.size());
  item.grow(f.items.size(), f.users.size());
}

void KnownRows::visit(Parts& parts, const RatingFactors& f) {
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    of(axis).visit(parts, axis == Axis::kUser ? "known.user" : "known.item", f.names(axis).size(),
                   f.names(other(axis)).size(), f.dim + 2);
  }
}

const RowFeatures& KnownWhat::columns_of(Axis axis, const Ratings& ratings) const {
  static const RowFeatures kNone;
  if (!columns) return kNone;
  return axis == Axis::kUser ? ratings.user_features() : ratings.item_features();
}

bool KnownWhat::any(const Ratings& ratings) const {
  return choices || columns_of(Axis::kUser, ratings).columns() > 0 ||
         columns_of(Axis::kItem, ratings).columns() > 0;
}

FeaturesMemory memory_of(Axis axis, const Ratings& ratings, const KnownWhat& what, size_t cols) {
  uint64_t rows = ratings.users().size(), others = ratings.items().size();
  if (axis == Axis::kItem) std::swap(rows, others);
  return memory_of(what.columns_of(axis, ratings), what.choices,
                   {.rows = rows, .others = others, .cols = cols});
}

MeansFit fit_of(Axis axis, const Ratings& ratings, const Sparse& by_item, const KnownWhat& what,
                std::vector<float> weights) {
  const Sparse& by_user = ratings.train();
  const bool users = axis == Axis::kUser;
  FeatureRows features(what.columns_of(axis, ratings), users ? by_user : by_item,
                       users ? by_item : by_user, what.choices);
  return {std::move(features), std::move(weights)};
}

void begin(const MeansFit& fit, bool afresh, size_t cols, RowMeans& means) {
  if (afresh) fit.start(means, cols);
  if (means.features.value_or(0) == fit.features()) return;
  throw fault(ErrorKind::kInput,
              "the checkpoint is of a run with other columns of users or items; resume with the "
              "same");
}

}  // namespace kith
