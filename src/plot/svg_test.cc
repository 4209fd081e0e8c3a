// SPDX-License-Identifier: Apache-2.0
#include "plot/svg.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

namespace kith::plot {
namespace {

template <class Draw>
std::string drawn(Draw draw) {
  Svg svg(200, 100);
  draw(svg);
  return std::move(svg).finished();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Svg, IsOneElementOfTheSizeAskedFor) {
  const std::string out = drawn([](Svg&) {});
  EXPECT_TRUE(out.starts_with("<svg "));
  EXPECT_TRUE(out.ends_with("</svg>\n"));
  EXPECT_TRUE(has(out, "viewBox=\"0 0 200 100\" width=\"200\" height=\"100\""));
}

TEST(Svg, MarksStandWhereTheyArePut) {
  const std::string out = drawn([](Svg& svg) {
    svg.rect({1, 2}, 30, 4.25, "red", "a bar");
    svg.line({0, 10}, {20.5, 10}, "blue");
    svg.path(std::array<Point, 3>{{{0, 0}, {1, 1}, {2, 0}}}, "green", 2.5);
  });
  EXPECT_TRUE(has(out,
                  "<rect x=\"1.0\" y=\"2.0\" width=\"30.0\" height=\"4.2\" fill=\"red\">"
                  "<title>a bar</title></rect>\n"));
  EXPECT_TRUE(has(out,
                  "<line x1=\"0.0\" y1=\"10.0\" x2=\"20.5\" y2=\"10.0\" stroke=\"blue\" "
                  "stroke-width=\"1\"/>\n"));
  EXPECT_TRUE(has(out, "points=\"0.0,0.0 1.0,1.0 2.0,0.0 \""));
  EXPECT_TRUE(has(out, "stroke=\"green\" stroke-width=\"2.5\""));
}

TEST(Svg, TextHasItsLook) {
  const std::string out = drawn([](Svg& svg) {
    svg.text({5, 6}, "plain");
    svg.text({7, 8}, "loud",
             {.anchor = Anchor::kEnd, .size = 17, .bold = true, .colour = "red", .upwards = true});
  });
  EXPECT_TRUE(has(out,
                  "<text x=\"5.0\" y=\"6.0\" text-anchor=\"start\" font-size=\"13\" "
                  "fill=\"#212529\">plain</text>\n"));
  EXPECT_TRUE(has(out,
                  "<text x=\"7.0\" y=\"8.0\" text-anchor=\"end\" font-size=\"17\" fill=\"red\" "
                  "font-weight=\"bold\" transform=\"rotate(-90 7.0 8.0)\">loud</text>\n"));
}

TEST(Svg, NamesCannotBreakOutOfTheirText) {
  const std::string out = drawn([](Svg& svg) {
    svg.text({0, 0}, "a<b>&\"c\"\x01");
    svg.rect({0, 0}, 1, 1, "red", "</title><script>");
  });
  EXPECT_TRUE(has(out, ">a&lt;b&gt;&amp;&quot;c&quot;?</text>"));
  EXPECT_TRUE(has(out, "<title>&lt;/title&gt;&lt;script&gt;</title>"));
}

TEST(Svg, ShadesGoFromPaleToDark) {
  EXPECT_EQ(shade(0), "rgb(236,240,244)");
  EXPECT_EQ(shade(1), "rgb(21,101,112)");
}

}  // namespace
}  // namespace kith::plot
