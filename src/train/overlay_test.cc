// SPDX-License-Identifier: Apache-2.0
#include "train/overlay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kith {
namespace {

TEST(RowOverlay, CopiesWhatIsAskedForAndNothingElse) {
  Matrix table(3000, 4);
  for (size_t r = 0; r < table.rows(); ++r) table.row(r)[0] = static_cast<float>(r);
  RowOverlay overlay(table.rows(), table.stride());
  overlay.start({table.view()});
  float* const first = overlay.row(2999);
  for (uint32_t r = 0; r < 2999; ++r) EXPECT_EQ(overlay.row(r)[0], static_cast<float>(r));
  first[0] = -1;  // still good after many more
  EXPECT_EQ(overlay.row(2999)[0], -1);
  EXPECT_EQ(table.row(2999)[0], 2999);
  EXPECT_EQ(overlay.touched().size(), 3000u);
  overlay.start({table.view()});
  EXPECT_EQ(overlay.row(2999)[0], 2999);
  EXPECT_EQ(overlay.touched().size(), 1u);
}

TEST(RowOverlay, CopiesTheNumberBesideARow) {
  Matrix table(5, 4);
  std::vector<float> energy{1, 2, 3, 4, 5};
  RowOverlay overlay(table.rows(), table.stride());
  overlay.start({table.view(), energy.data()});
  *overlay.at(3).energy += 10;
  EXPECT_EQ(overlay.energy(0), 14);
  EXPECT_EQ(energy[3], 4);
}

TEST(Rounds, AddEveryBlocksChangesOnce) {
  for (const int threads : {1, 4}) {
    for (const bool alone : {false, true}) {
      Matrix one(2000, 4), two(2000, 4);
      std::vector<float> energy(2000, 1.0f);
      Rounds rounds(2, one.rows(), one.stride());
      const Context context(threads);
      const RowTable tables[]{{one.view(), energy.data()}, {two.view()}};
      for (int round = 1; round <= 2; ++round) {
        // Block b touches every (b + 1)-th row and adds b + 1 to it.
        EXPECT_TRUE(rounds.run(3, tables, context, alone, [&](size_t b, std::span<RowOverlay> o) {
          for (uint32_t r = 0; r < 2000; r += static_cast<uint32_t>(b) + 1) {
            o[0].row(r)[1] += static_cast<float>(b + 1);
            o[1].row(r)[2] -= static_cast<float>(b + 1);
            *o[0].at(r).energy += 1;
          }
        }));
        for (uint32_t r = 0; r < 2000; ++r) {
          const int blocks = 1 + (r % 2 == 0) + (r % 3 == 0);
          const int sum = 1 + (r % 2 == 0 ? 2 : 0) + (r % 3 == 0 ? 3 : 0);
          ASSERT_EQ(one.row(r)[1], static_cast<float>(round * sum)) << r;
          ASSERT_EQ(two.row(r)[2], static_cast<float>(-round * sum)) << r;
          ASSERT_EQ(energy[r], static_cast<float>(1 + round * blocks)) << r;
        }
      }
    }
  }
}

// A block moved at lr / sqrt(its own squares); one after the other, the blocks would have moved at
// lr / sqrt(those of all). Two numbers at the front, with a square for each or one for both.
TEST(Rounds, HoldAdaGradToTheSquaresOfAllBlocks) {
  for (const Optimiser optimiser : {Optimiser::kAdaGrad, Optimiser::kRowAdaGrad}) {
    const size_t width = padded(2);
    Matrix table(1, width + state_width(optimiser, width));
    float* const row = table.view().row(0);
    row[0] = 5, row[1] = -1;
    row[width] = 1;
    if (optimiser == Optimiser::kAdaGrad) row[width + 1] = 4;
    Rounds rounds(1, 1, table.stride());
    const Context context(2);
    const RowTable tables[]{{table.view(), nullptr, optimiser}};
    EXPECT_TRUE(rounds.run(2, tables, context, true, [&](size_t b, std::span<RowOverlay> o) {
      float* const x = o[0].row(0);
      x[0] += b == 0 ? 1.0f : 2.0f;
      x[1] -= 1;
      x[width] += b == 0 ? 3.0f : 5.0f;                         // 4 and 6 of 9
      if (optimiser == Optimiser::kAdaGrad) x[width + 1] += 8;  // 12 of 20
    }));
    const bool one = optimiser == Optimiser::kRowAdaGrad;
    const double first = std::sqrt(4.0 / 9), second = std::sqrt(6.0 / 9),
                 other = std::sqrt(12.0 / 20);
    EXPECT_NEAR(row[0], 5 + first * 1 + second * 2, 1e-6);
    EXPECT_NEAR(row[1], -1 - (one ? first + second : 2 * other), 1e-6);
    EXPECT_EQ(row[width], 9);
    if (one) continue;
    EXPECT_EQ(row[width + 1], 20);
    EXPECT_EQ(row[2], 0);  // a number without squares has not moved
  }
}

// A bias has squares of its own, behind the row's.
TEST(Rounds, AColumnApartGoesByItsOwnSquares) {
  const size_t width = padded(2);
  Matrix table(1, width + state_width(Optimiser::kRowAdaGrad, width));
  float* const row = table.view().row(0);
  row[width] = row[width + 1] = 1;
  Rounds rounds(1, 1, table.stride());
  const Context context(2);
  const RowTable tables[]{{table.view(), nullptr, Optimiser::kRowAdaGrad, 1}};
  EXPECT_TRUE(rounds.run(2, tables, context, true, [&](size_t b, std::span<RowOverlay> o) {
    float* const x = o[0].row(0);
    x[0] += 1;
    x[1] += b == 0 ? 1.0f : 2.0f;
    x[width] += 3;                         // 4 of 7
    x[width + 1] += b == 0 ? 3.0f : 8.0f;  // 4 and 9 of 12
  }));
  EXPECT_NEAR(row[0], 2 * std::sqrt(4.0 / 7), 1e-6);
  EXPECT_NEAR(row[1], std::sqrt(4.0 / 12) + 2 * std::sqrt(9.0 / 12), 1e-6);
  EXPECT_EQ(row[width], 7);
  EXPECT_EQ(row[width + 1], 12);
}

TEST(Rounds, AreWholeOrNothing) {
  Matrix table(4, 4);
  Rounds rounds(1, table.rows(), table.stride());
  Context context(2);
  const RowTable tables[]{{table.view()}};
  const auto body = [&](size_t, std::span<RowOverlay> o) {
    context.cancel();
    o[0].row(1)[0] += 1;
  };
  EXPECT_TRUE(rounds.run(8, tables, context, false, body));
  EXPECT_EQ(table.row(1)[0], 8);  // all blocks of the round that was under way
  EXPECT_FALSE(rounds.run(8, tables, context, false, body));
  EXPECT_EQ(table.row(1)[0], 8);
}

}  // namespace
}  // namespace kith
