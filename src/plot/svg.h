// SPDX-License-Identifier: Apache-2.0
#pragma once
// A picture in SVG, mark by mark. Lengths are in pixels, from the top left corner.

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace kith::plot {

struct Point {
  double x, y;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextLook {
  Anchor anchor = Anchor::kStart;
  int size = 13;
  bool bold = false;
  std::string_view colour = kInk;
  bool upwards = false;  // read from below, as beside an upright axis

  static constexpr std::string_view kInk = "#212529";
};

class Svg {
 public:
  Svg(double width, double height);

  // A title is what a browser shows when the pointer rests on the mark.
  void rect(Point corner, double width, double height, std::string_view fill,
            std::string_view title = "");
  void line(Point from, Point to, std::string_view colour, double width = 1);
  void path(std::span<const Point> points, std::string_view colour, double width);
  void text(Point at, std::string_view words, const TextLook& look = {});

  std::string finished() &&;

 private:
  std::string out_;
};

// From pale (0) to dark (1), evenly to the eye.
std::string shade(double share);

}  // namespace kith::plot
