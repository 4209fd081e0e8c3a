// SPDX-License-Identifier: Apache-2.0
#include "data/normalise.h"

#include <gtest/gtest.h>

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

TEST(Normalise, MeansAreZeroAndVariancesOne) {
  expect_standard(row_moments(normalised(matrix(), Normalise::kRows)));
  expect_standard(column_moments(normalised(matrix(), Normalise::kColumns)));
  expect_standard(column_moments(normalised(matrix(), Normalise::kBoth)));
  EXPECT_EQ(normalised(matrix(), Normalise::kNone).value, matrix().value);
}

TEST(Normalise, BothIsRowsThenColumnsOfWhatIsLeft) {
  const Sparse rows = normalised(matrix(), Normalise::kRows);
  EXPECT_EQ(normalised(matrix(), Normalise::kBoth).value,
            normalised(rows, Normalise::kColumns).value);
}

TEST(Normalise, ThereAndBack) {
  const Sparse a = matrix();
  for (const Normalise by :
       {Normalise::kNone, Normalise::kRows, Normalise::kColumns, Normalise::kBoth}) {
    const Normalised n(a, by);
    for (uint32_t r = 0; r < a.rows(); ++r) {
      for (uint64_t i = a.offsets[r]; i < a.offsets[r + 1]; ++i) {
        const uint32_t c = a.column[i];
        EXPECT_NEAR(n.original(r, c, n.matrix().value[i]), a.value[i], 1e-3);
        EXPECT_NEAR(n.normalised(r, c, a.value[i]), n.matrix().value[i], 1e-5);
        EXPECT_NEAR(n.original(r, c, n.normalised(r, c, 7)), 7, 1e-9);
      }
    }
  }
}

TEST(Normalise, ConstantRowsAreOnlyMoved) {
  Sparse a;
  a.columns = 2;
  a.offsets = {0, 2, 3};
  a.column = {0, 1, 0};
  a.value = {0.1f, 0.1f, 9};
  const Normalised n(a, Normalise::kRows);
  for (const float v : n.matrix().value) EXPECT_NEAR(v, 0, 1e-6);
  EXPECT_NEAR(n.original(1, 1, 0.5), 9.5, 1e-6);
}

}  // namespace
}  // namespace kith
