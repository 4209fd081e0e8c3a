// SPDX-License-Identifier: Apache-2.0
#include "data/ratings/ratings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/hash.h"
#include "data/ratings/triples.h"

namespace kith {
namespace {

uint64_t hash_of(const Sparse& a, uint64_t h) {
  for (uint32_t r = 0; r < a.rows(); ++r) {
    const Sparse::Row row = a.row(r);
    for (size_t i = 0; i < row.size(); ++i) {
      const uint64_t bits = std::bit_cast<uint32_t>(row.values[i]);
      h = fold_multiply(h ^ (uint64_t{row.columns[i]} << 32 | bits), 0x9e3779b97f4a7c15 + r);
    }
  }
  return h;
}

}  // namespace

Ratings Ratings::of(Names users, Names items, std::vector<Rating> train,
                    std::vector<Rating> held_out, bool implicit) {
  Ratings out;
  out.profile_.rows = train.size() + held_out.size();
  const auto built = [&](std::vector<Rating>& ratings) {
    Triples triples(std::exchange(ratings, {}));
    BuiltSparse parts = build_sparse(triples, users.size(), items.size(), Duplicates::kLast);
    out.profile_.duplicates += parts.duplicates;
    return std::move(parts.sparse);
  };
  out.train_ = std::make_shared<Sparse>(built(train));
  out.held_out_ = built(held_out);
  out.users_ = std::move(users);
  out.items_ = std::move(items);
  out.implicit_ = implicit;
  out.finish();
  return out;
}

Ratings Ratings::with(Sparse train, Sparse held_out) const {
  Ratings out;
  out.users_ = users_;
  out.items_ = items_;
  out.profile_ = profile_;
  out.user_features_ = user_features_;
  out.item_features_ = item_features_;
  out.days_ = days_;
  out.implicit_ = implicit_;
  out.normalise_ = normalise_;
  out.holdout_ = holdout_;
  out.train_ = std::make_shared<Sparse>(std::move(train));
  out.held_out_ = std::move(held_out);
  out.finish();
  return out;
}

void Ratings::set_features(RowFeatures users, RowFeatures items) {
  user_features_ = std::make_shared<RowFeatures>(std::move(users));
  item_features_ = std::make_shared<RowFeatures>(std::move(items));
  finish();
}

void Ratings::set_days(Sparse days) {
  days_ = std::make_shared<Sparse>(std::move(days));
  finish();
}

Ratings Ratings::changed(Sparse train, Sparse held_out) const {
  Ratings out = with(std::move(train), std::move(held_out));
  out.low_ = low_;
  out.high_ = high_;
  return out;
}

Ratings Ratings::whole() && {
  Ratings out = std::move(*this);
  out.train_ = std::make_shared<Sparse>(merged(*out.train_, out.held_out_));
  out.held_out_ = Sparse();
  out.times_ = {};
  out.finish();
  return out;
}

void Ratings::finish() {
  const std::vector<float>& values = train_->value;
  profile_.held_out = held_out_.size();
  double sum = 0, squares = 0;
  for (const float v : values) sum += v;
  mean_ = values.empty() ? 0 : sum / static_cast<double>(values.size());
  for (const float v : values) squares += (v - mean_) * (v - mean_);
  deviation_ = values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
  if (!values.empty()) {
    const auto [low, high] = std::ranges::minmax(values);
    low_ = low;
    high_ = high;
  }
  fingerprint_ = hash_of(held_out_, hash_of(*train_, 1)) ^ stable_hash(users_.bytes()) ^
                 std::rotl(stable_hash(items_.bytes()), 1);
  if (days_) fingerprint_ = hash_of(*days_, std::rotl(fingerprint_, 1));
  for (const auto& f : {user_features_, item_features_}) {
    if (f->columns() > 0) fingerprint_ = hash_of(f->features, std::rotl(fingerprint_, 1));
  }
}

}  // namespace kith
