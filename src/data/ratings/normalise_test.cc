// SPDX-License-Identifier: Apache-2.0
#include "data/ratings/normalise.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/rng.h"

namespace kith {
namespace {

// 30 x 20, about half full, row and column effects, values around 1000 to show lost digits.
Sparse matrix() {
  Sparse a;
  a.columns = 20;
  Rng rng(1, 0);
  for (uint32_t r = 0; r < 30; ++r) {
    for (uint32_t c = 0; c < 20; ++c) {
      if (rng.uniform() < 0.5f) continue;
      a.column.push_back(c);
      a.value.push_back(1000 + static_cast<float>(r) + (1 + static_cast<float>(c)) * rng.uniform());
    }
    a.offsets.push_back(a.column.size());
  }
  return a;
}

void expect_standard(const std::vector<Moments>& moments) {
  for (const Moments& m : moments) {
    EXPECT_NEAR(m.mean, 0, 1e-4);  // floats near 1000 have 4 digits behind the point
    EXPECT_NEAR(m.variance, 1, 1e-3);
  }
}

TEST(Moments, OfRowsAndColumns) {
  Sparse a;
  a.columns = 3;
  a.offsets = {0, 2, 3, 3};
  a.column = {0, 2, 2};
  a.value = {1, 3, 5};
  const auto rows = row_moments(a), columns = column_moments(a);
  EXPECT_EQ(rows[0].mean, 2);
  EXPECT_EQ(rows[0].variance, 1);
  EXPECT_EQ(rows[1].mean, 5);
  EXPECT_EQ(rows[1].variance, 0);
  EXPECT_EQ(rows[2].mean, 0) << "an empty row";
  EXPECT_EQ(columns[0].mean, 1);
  EXPECT_EQ(columns[1].variance, 0);
  EXPECT_EQ(columns[2].mean, 4);
  EXPECT_EQ(columns[2].variance, 1);
}

constexpr Normalise kWays[] = {Normalise::kNone, Normalise::kUsers, Normalise::kItems,
                               Normalise::kBoth};

Sparse normalised(const Sparse& a, Normalise by) { return RatingShifts::of(a, by).normalised(a); }

TEST(Moments, OfAListAreThoseOfARow) {
  const Sparse a = matrix();
  const auto rows = row_moments(a);
  for (uint32_t r = 0; r < a.rows(); ++r) {
    const auto values = a.row(r).values;
    const Moments m = moments_of(std::vector<double>(values.begin(), values.end()));
    EXPECT_EQ(m.count, rows[r].count);
    EXPECT_NEAR(m.mean, rows[r].mean, 1e-9);
    EXPECT_NEAR(m.variance, rows[r].variance, 1e-9);
  }
  EXPECT_EQ(moments_of({}).mean, 0);
}

TEST(Normalise, MeansAreZeroAndVariancesOne) {
  expect_standard(row_moments(normalised(matrix(), Normalise::kUsers)));
  expect_standard(column_moments(normalised(matrix(), Normalise::kItems)));
  expect_standard(column_moments(normalised(matrix(), Normalise::kBoth)));
  EXPECT_EQ(normalised(matrix(), Normalise::kNone).value, matrix().value);
  for (const Normalise by : kWays) EXPECT_EQ(RatingShifts::of(matrix(), by).by(), by);
}

TEST(Normalise, BothIsUsersThenItemsOfWhatIsLeft) {
  const Sparse both = normalised(matrix(), Normalise::kBoth);
  const Sparse one_by_one = normalised(normalised(matrix(), Normalise::kUsers), Normalise::kItems);
  for (size_t k = 0; k < both.size(); ++k) EXPECT_NEAR(both.value[k], one_by_one.value[k], 1e-6);
}

TEST(Normalise, ThereAndBack) {
  const Sparse a = matrix();
  for (const Normalise by : kWays) {
    const RatingShifts shifts = RatingShifts::of(a, by);
    const Sparse z = shifts.normalised(a);
    for (uint32_t r = 0; r < a.rows(); ++r) {
      for (uint64_t i = a.offsets[r]; i < a.offsets[r + 1]; ++i) {
        const uint32_t c = a.column[i];
        EXPECT_NEAR(shifts.original(r, c, z.value[i]), a.value[i], 1e-3);
        EXPECT_NEAR(shifts.normalised(r, c, a.value[i]), z.value[i], 1e-5);
        EXPECT_NEAR(shifts.original(r, c, shifts.normalised(r, c, 7)), 7, 1e-9);
      }
    }
  }
}

// Two ratings tell a scale, equal ones a mean only, and none nothing.
TEST(Normalise, WhatARowDoesNotTellIsTakenFromTheOthers) {
  Sparse a;
  a.columns = 2;
  a.offsets = {0, 2, 4, 5, 5, 7};
  a.column = {0, 1, 0, 1, 1, 0, 1};
  a.value = {2, 4, 1, 5, 9, 0.1f, 0.1f};
  const Shifts users = RatingShifts::of(a, Normalise::kUsers).users;
  EXPECT_EQ(users.of(0).scale, 1);
  EXPECT_EQ(users.of(1).scale, 2);
  EXPECT_EQ(users.of(2).mean, 9);
  EXPECT_EQ(users.of(2).scale, 1.5);
  EXPECT_NEAR(users.of(3).mean, (3 + 3 + 9 + 0.1) / 4, 1e-6);
  EXPECT_EQ(users.of(3).scale, 1.5);
  EXPECT_EQ(users.of(4).scale, 1.5) << "what rounding leaves of a constant is no scale";
  Shifts again = users;
  again.find_typical();
  EXPECT_NEAR(again.typical.mean, users.typical.mean, 1e-12);
  EXPECT_NEAR(again.typical.scale, users.typical.scale, 1e-12);
}

TEST(Normalise, WhatRoundingLeavesOfAConstantIsNoScale) {
  const Moments same = moments_of(std::vector{0.1, 0.1, 0.1});
  EXPECT_GT(same.variance, 0) << "the mean of three tenths is not quite a tenth";
  EXPECT_EQ(shift_of(same, {0, 2}).scale, 2);
  EXPECT_EQ(shift_of(moments_of(std::vector{1e-13, -1e-13}), {0, 2}).scale, 2);
  EXPECT_DOUBLE_EQ(shift_of(moments_of(std::vector{1e-3, -1e-3}), {0, 2}).scale, 1e-3);
}

TEST(Normalise, ConstantRowsAreOnlyMoved) {
  Sparse a;
  a.columns = 2;
  a.offsets = {0, 2, 3};
  a.column = {0, 1, 0};
  a.value = {0.1f, 0.1f, 9};
  const RatingShifts shifts = RatingShifts::of(a, Normalise::kUsers);
  for (const float v : shifts.normalised(a).value) EXPECT_NEAR(v, 0, 1e-6);
  EXPECT_NEAR(shifts.original(1, 1, 0.5), 9.5, 1e-6);
}

}  // namespace
}  // namespace kith
