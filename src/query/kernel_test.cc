// SPDX-License-Identifier: Apache-2.0
#include "query/kernel.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/test_targets.h"
#include "query/test_space.h"

namespace kith::query {
namespace {

class QueryKernel : public EveryTarget {};

double reference(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// Rounding of a sum of n products of order 1 in single precision: n steps of 6e-8, relative to
// partial sums of order sqrt(n).
double tolerance(size_t dim) { return 1e-7 * std::pow(static_cast<double>(dim) + 4, 1.5); }

TEST_P(QueryKernel, PanelScoresEqualReference) {
  for (const size_t dim : {1, 3, 4, 15, 16, 17, 100, 129, 301}) {  // around padding and slices
    for (const size_t rows : {1, 5, 47, 48, 49, 100}) {            // around a panel
      const Matrix vectors = random_matrix(rows + 3, dim, 1);
      const Matrix queries = random_matrix(7, dim, 2);  // a group of four and three alone
      const size_t panels = (rows + kPanelRows - 1) / kPanelRows;
      Matrix packed(panels, panel_floats(dim)), scores(7, panels * kPanelRows);
      pack_panels(vectors.view(), 3, rows, dim, packed.view().data);
      score_panels(queries.view(), 7, packed.view().data, panels, dim, scores.view());
      for (size_t q = 0; q < 7; ++q) {
        for (size_t r = 0; r < rows; ++r) {
          ASSERT_NEAR(scores.row(q)[r], reference(queries.row(q), vectors.row(3 + r)),
                      tolerance(dim))
              << "dim " << dim << ", rows " << rows << ", query " << q << ", row " << r;
        }
        for (size_t r = rows; r < scores.cols(); ++r) ASSERT_EQ(scores.row(q)[r], 0.0f);
      }
    }
  }
}

TEST_P(QueryKernel, OneQueryGivesTheBitsOfManyQueries) {
  for (const size_t dim : {1, 17, 100, 301}) {
    for (const size_t rows : {1, 15, 16, 17, 47, 96, 101}) {
      const Matrix vectors = random_matrix(rows + 2, dim, 3);
      const Matrix queries = random_matrix(4, dim, 4);
      const size_t panels = (rows + kPanelRows - 1) / kPanelRows;
      Matrix packed(panels, panel_floats(dim)), many(4, panels * kPanelRows), one(1, rows);
      pack_panels(vectors.view(), 2, rows, dim, packed.view().data);
      score_panels(queries.view(), 4, packed.view().data, panels, dim, many.view());
      for (size_t q = 0; q < 4; ++q) {
        score_rows(queries.view().row(q), vectors.view(), 2, rows, dim, one.view().data);
        for (size_t r = 0; r < rows; ++r) ASSERT_EQ(one.row(0)[r], many.row(q)[r]);
      }
    }
  }
}

TEST_P(QueryKernel, PositionsAboveAreStrictAndInOrder) {
  Matrix scores(1, 53);  // not a multiple of any register
  for (size_t i = 0; i < 53; ++i) scores.row(0)[i] = static_cast<float>(i * 7 % 10);
  std::vector<uint32_t> out(53), expected;
  for (uint32_t i = 0; i < 53; ++i) {
    if (i * 7 % 10 > 6) expected.push_back(i);
  }
  const float* const s = scores.view().data;
  out.resize(positions_above(s, 53, 6, out.data()));
  EXPECT_EQ(out, expected);
  out.resize(53);
  EXPECT_EQ(positions_above(s, 53, 9, out.data()), 0u);
  EXPECT_EQ(positions_above(s, 53, -std::numeric_limits<float>::infinity(), out.data()), 53u);
  EXPECT_EQ(positions_above(s, 0, 0, out.data()), 0u);
}

TEST_P(QueryKernel, AnalogyScoresEqualReference) {
  constexpr size_t kCount = 48;
  Matrix in(3, kCount), add(1, kCount), mul(1, kCount);
  Rng rng(5, 0);
  for (size_t word = 0; word < 3; ++word) {
    for (float& x : in.row(word)) x = 2 * rng.uniform() - 1;
  }
  in.row(0)[0] = -1;  // only epsilon is left below the line
  const Rows rows = in.view();
  const Cosines cosines{rows.row(0), rows.row(1), rows.row(2)};
  combine_add(cosines, 0.5f, kCount, add.view().data);
  combine_mul(cosines, 1e-3f, kCount, mul.view().data);
  for (size_t i = 0; i < kCount; ++i) {
    const double a = in.row(0)[i], b = in.row(1)[i], c = in.row(2)[i];
    EXPECT_NEAR(add.row(0)[i], (b - a + c) / 2, 1e-6);
    const double expected = (1 + b) / 2 * ((1 + c) / 2) / ((1 + a) / 2 + 1e-3);
    EXPECT_NEAR(mul.row(0)[i], expected, 1e-5 * expected + 1e-7);
  }
}

TEST_P(QueryKernel, DistanceNeedsNoAlignment) {
  for (const size_t dim : {16, 112, 304}) {
    const Matrix from = random_matrix(2, dim + 1, 6);
    const std::vector<float> a(from.row(0).begin() + 1, from.row(0).end());
    const std::span<const float> b = from.row(1).subspan(1);
    EXPECT_NEAR(distance_function()(a.data(), b.data(), dim), 1 - reference(a, b), tolerance(dim));
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, QueryKernel,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

}  // namespace
}  // namespace kith::query
