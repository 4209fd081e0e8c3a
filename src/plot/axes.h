// SPDX-License-Identifier: Apache-2.0
#pragma once
// The frame of a plot: where numbers stand in it, ticks and titles.

#include <algorithm>
#include <limits>
#include <string_view>

#include "plot/svg.h"

namespace kith::plot {

// From the least to the most of what it took.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void take(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  // With some room at both ends, and never empty.
  Range widened(double share) const;
};

struct Box {
  double left, top, width, height;
};

class Axes {
 public:
  Axes(const Box& box, const Range& x, const Range& y) : box_(box), x_(x), y_(y) {}
  Point at(double x, double y) const {
    return {box_.left + (x - x_.low) / (x_.high - x_.low) * box_.width,
            box_.top + box_.height - (y - y_.low) / (y_.high - y_.low) * box_.height};
  }
  // Pale lines at round numbers, and what the axes are.
  void draw(Svg& svg, std::string_view across, std::string_view upwards) const;

 private:
  Box box_;
  Range x_, y_;
};

}  // namespace kith::plot
