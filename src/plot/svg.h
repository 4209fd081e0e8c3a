// SPDX-License-Identifier: Apache-2.0
#pragma once
// A picture in SVG, mark by mark. Lengths are in pixels, from the top left corner.

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  void dot(Point centre, double radius, std::string_view fill, double opacity = 1);
  void text(Point at, std::string_view words, const TextLook& look = {});

  std::string finished() &&;

 private:
  std::string out_;
};

// From pale (0) to dark (1), evenly to the eye.
std::string shade(double share);
// Of things that are told apart by colour: the nth, the same again after ten.
std::string_view hue(size_t n);

// Round numbers between two others, about `count` of them, and how they are written.
struct Ticks {
  std::vector<double> at;
  int decimals = 0;
  std::string text(double value) const;
};
Ticks ticks(double low, double high, int count);

}  // namespace kith::plot
