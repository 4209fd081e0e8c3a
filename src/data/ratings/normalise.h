// SPDX-License-Identifier: Apache-2.0
#pragma once
// Means and variances of the rows and columns of a sparse matrix, over the entries that are there,
// and ratings without them: each user's, each item's, or both with mean 0 and variance 1.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/sparse.h"
#include "kith/fields.h"

namespace kith {

enum class Normalise { kNone, kUsers, kItems, kBoth };  // both: users, then items of what is left

struct Moments {
  uint64_t count = 0;
  double mean = 0, variance = 0;  // over n, not n - 1; 0 of nothing
};
std::vector<Moments> row_moments(const Sparse& a);
std::vector<Moments> column_moments(const Sparse& a);
Moments moments_of(std::span<const double> values);

// A value is mean + scale * what is left of it.
struct Shift {
  double mean = 0, scale = 1;
  double normalised(double value) const { return (value - mean) / scale; }
  double original(double left) const { return mean + scale * left; }
};
// Where values are all the same there is no scale to take out, so it is that of the others, and
// where there are none so is the mean: `typical`.
Shift shift_of(const Moments& moments, const Shift& typical);

// The shifts of all users, or of all items; empty if they are left alone.
struct Shifts {
  std::vector<double> mean, scale;
  Shift typical;  // the mean of those that are known
  bool empty() const { return mean.empty(); }
  Shift of(size_t k) const { return empty() ? Shift{} : Shift{mean[k], scale[k]}; }
  void set(size_t k, const Shift& shift);
  void grow(size_t size);  // more of them, typical
  // From all of them: those that were not known do not change the mean of the others.
  void find_typical();
};

// What is taken out of ratings (users x items), so that it can be put back:
// z = ((r - m_u) / s_u - m_i) / s_i.
struct RatingShifts {
  Shifts users, items;
  static RatingShifts of(const Sparse& ratings, Normalise by);
  bool empty() const { return users.empty() && items.empty(); }
  Normalise by() const;
  double normalised(uint32_t user, uint32_t item, double rating) const {
    return items.of(item).normalised(users.of(user).normalised(rating));
  }
  double original(uint32_t user, uint32_t item, double z) const {
    return users.of(user).original(items.of(item).original(z));
  }
  Sparse normalised(Sparse ratings) const;
};

}  // namespace kith

template <>
struct kith::EnumNames<kith::Normalise> {
  static constexpr std::array<std::string_view, 4> names{"none", "users", "items", "both"};
};
