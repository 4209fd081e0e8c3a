// SPDX-License-Identifier: Apache-2.0
#include "kernels/panels.h"

#include <gtest/gtest.h>

#include "core/matrix.h"
#include "core/rng.h"
#include "kernels/test_targets.h"

namespace kith {
namespace {

class Panels : public EveryTarget {};

// Numbers whose products and sums are whole: every order of adding gives the same.
TEST_P(Panels, TheProductIsThatOfItsDefinition) {
  for (const size_t depth : {0, 1, 7, 256}) {
    Matrix a(std::max<size_t>(1, depth), kPanel), b(std::max<size_t>(1, depth), kPanel);
    Rng rng(1, depth);
    for (size_t r = 0; r < depth; ++r) {
      for (float& x : a.row(r)) x = static_cast<float>(rng.below(9)) - 4;
      for (float& x : b.row(r)) x = static_cast<float>(rng.below(9)) - 4;
    }
    Matrix out(kPanel, kPanel);
    panel_product(a.view().data, b.view().data, depth, out.view().data);
    for (size_t i = 0; i < kPanel; ++i) {
      for (size_t j = 0; j < kPanel; ++j) {
        float wanted = 0;
        for (size_t r = 0; r < depth; ++r) wanted += a.row(r)[i] * b.row(r)[j];
        ASSERT_EQ(out.row(i)[j], wanted) << depth << " " << i << " " << j;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Targets, Panels, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         target_name);

TEST(Tile, IsAddedWhereItBelongs) {
  Matrix tile(kPanel, kPanel);
  for (size_t i = 0; i < kPanel; ++i) {
    for (size_t j = 0; j < kPanel; ++j) tile.row(i)[j] = static_cast<float>(100 * i + j);
  }
  std::vector<double> sum(40 * 5, 1.0);
  add_tile(tile.view().data, 3, 5, sum.data(), 40);
  EXPECT_EQ(sum[2 * 40 + 4], 205);
  EXPECT_EQ(sum[2 * 40 + 5], 1);
  EXPECT_EQ(sum[3 * 40], 1);
}

}  // namespace
}  // namespace kith
