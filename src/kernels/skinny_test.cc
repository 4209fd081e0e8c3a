// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "kernels/test_targets.h"

namespace kith {
namespace {

class Skinny : public EveryTarget {};

Matrix random(size_t rows, size_t cols, uint64_t seed) {
  Matrix out(rows, cols);
  for (size_t r = 0; r < rows; ++r) {
    Rng rng(seed, r);
    for (float& x : out.row(r)) x = 2 * rng.uniform() - 1;
  }
  return out;
}

constexpr size_t kWidths[] = {1, 15, 16, 17, 33, 64, 100, 130};
constexpr uint32_t kColumns[] = {3, 0, 7, 7, 12, 5, 1};  // in any order, one twice

// Sums of at most 13 products below 1.
constexpr double kTolerance = 4e-6;

TEST_P(Skinny, SumsOfRows) {
  for (const size_t width : kWidths) {
    const Matrix x = random(13, width, 1), weights = random(1, 13, 2);
    for (const size_t count : {0, 1, 4, 7}) {
      for (const bool add : {false, true}) {
        Matrix y = random(1, width, 3);
        const Matrix before = y.copy();
        sum_rows({x.view(), kColumns, weights.row(0).data(), count, 0.5f}, add, y.view().row(0),
                 y.stride());
        for (size_t i = 0; i < width; ++i) {
          double truth = add ? before.row(0)[i] : 0;
          for (size_t j = 0; j < count; ++j) {
            truth += 0.5 * weights.row(0)[j] * x.row(kColumns[j])[i];
          }
          ASSERT_NEAR(y.row(0)[i], truth, kTolerance) << width << " " << count;
        }
        for (size_t i = width; i < y.stride(); ++i) ASSERT_EQ(y.view().row(0)[i], 0.0f);
      }
    }
    Matrix y(1, width);  // without columns: the first rows in order
    sum_rows({x.view(), nullptr, weights.row(0).data(), 13, 1}, false, y.view().row(0), y.stride());
    for (size_t i = 0; i < width; ++i) {
      double truth = 0;
      for (size_t j = 0; j < 13; ++j) truth += double{weights.row(0)[j]} * x.row(j)[i];
      ASSERT_NEAR(y.row(0)[i], truth, kTolerance);
    }
  }
}

TEST_P(Skinny, DotsOfRowsDoNotDependOnTheirNeighbours) {
  for (const size_t width : kWidths) {
    const Matrix x = random(13, width, 1), u = random(1, width, 2);
    float all[7], alone[1];
    dot_rows(u.row(0).data(), x.view(), kColumns, 7, x.stride(), all);
    for (size_t j = 0; j < 7; ++j) {
      double truth = 0;
      for (size_t i = 0; i < width; ++i) truth += double{u.row(0)[i]} * x.row(kColumns[j])[i];
      ASSERT_NEAR(all[j], truth, 1e-6 * std::sqrt(static_cast<double>(width)) + 1e-6);
      dot_rows(u.row(0).data(), x.view(), kColumns + j, 1, x.stride(), alone);
      ASSERT_EQ(all[j], alone[0]) << width << " " << j;
    }
  }
}

TEST_P(Skinny, ProductsInDouble) {
  for (const size_t width : kWidths) {
    const Matrix a = random(11, 5, 1), b = random(11, width, 2);
    for (const auto& [first, count] : {std::pair<size_t, size_t>{0, 11}, {2, 4}, {3, 7}, {5, 0}}) {
      std::vector<double> out(5 * b.stride(), 1.0);
      add_products(a.view(), 5, b.view(), first, count, out.data());
      for (size_t i = 0; i < 5; ++i) {
        for (size_t j = 0; j < width; ++j) {
          double truth = 1;
          for (size_t r = first; r < first + count; ++r) truth += double{a.row(r)[i]} * b.row(r)[j];
          ASSERT_NEAR(out[i * b.stride() + j], truth, 1e-14);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, Skinny, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         target_name);

}  // namespace
}  // namespace kith
