// SPDX-License-Identifier: Apache-2.0
#include "plot/axes.h"

#include <gtest/gtest.h>

#include <utility>

namespace kith::plot {
namespace {

TEST(Ticks, AreRoundNumbersWithinTheRange) {
  EXPECT_EQ(ticks(0, 10, 5).at, (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(ticks(0.3, 1.2, 5).at.front(), 0.4);
  EXPECT_EQ(ticks(-1, 1, 4).at, (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(ticks(-1, 1, 4).text(-0.5), "-0.5");
  EXPECT_EQ(ticks(0, 10, 5).text(4), "4");
  EXPECT_EQ(ticks(0, 0.001, 5).text(0.0002), "0.0002");
  EXPECT_EQ(ticks(0, 5e9, 5).text(1e9), "1e+09");
  for (const auto& [low, high] : {std::pair{1e-12, 3e-12}, {1e300, 1e301}, {-7.0, 1e6}}) {
    const Ticks t = ticks(low, high, 6);
    EXPECT_GE(t.at.size(), 2u);
    EXPECT_LE(t.at.size(), 12u);
    for (const double x : t.at) {
      EXPECT_GE(x, low - 1e-9 * (high - low));
      EXPECT_LE(x, high + 1e-9 * (high - low));
    }
  }
}

TEST(Range, HasRoomAndIsNeverEmpty) {
  Range r;
  EXPECT_LT(r.widened(0.1).low, r.widened(0.1).high);
  r.take(2);
  EXPECT_LT(r.widened(0.1).low, 2);
  EXPECT_GT(r.widened(0.1).high, 2);
  r.take(4);
  EXPECT_DOUBLE_EQ(r.widened(0.1).low, 1.8);
  EXPECT_DOUBLE_EQ(r.widened(0.1).high, 4.2);
}

TEST(Axes, PutNumbersWhereTheyBelong) {
  const Axes axes({10, 20, 100, 50}, {0, 10}, {-1, 1});
  EXPECT_EQ(axes.at(0, -1).x, 10);
  EXPECT_EQ(axes.at(0, -1).y, 70);  // upwards is less
  EXPECT_EQ(axes.at(10, 1).x, 110);
  EXPECT_EQ(axes.at(10, 1).y, 20);
  Svg svg(200, 100);
  axes.draw(svg, "time", "a & b");
  const std::string out = std::move(svg).finished();
  for (const char* const part : {">time<", ">a &amp; b<", ">10<", ">-1.0<"}) {
    EXPECT_NE(out.find(part), std::string::npos) << part;
  }
}

TEST(Hue, TenThingsAreToldApart) {
  for (size_t i = 0; i < 10; ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(hue(i), hue(j));
  }
  EXPECT_EQ(hue(3), hue(13));
}

}  // namespace
}  // namespace kith::plot
