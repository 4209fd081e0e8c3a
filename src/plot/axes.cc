// SPDX-License-Identifier: Apache-2.0
#include "plot/axes.h"

#include <cmath>

namespace kith::plot {

Range Range::widened(double share) const {
  if (!(low <= high)) return {0, 1};
  const double size = high - low;
  const double room = size > 0 ? share * size : std::max(1e-6, 0.05 * std::abs(low));
  return {low - room, high + room};
}

void Axes::draw(Svg& svg, std::string_view across, std::string_view upwards) const {
  constexpr std::string_view kGrid = "#e9ecef", kLine = "#868e96";
  const double floor = box_.top + box_.height, right = box_.left + box_.width;
  const Ticks x = ticks(x_.low, x_.high, 6), y = ticks(y_.low, y_.high, 6);
  for (const double t : x.at) {
    const double px = at(t, y_.low).x;
    svg.line({px, box_.top}, {px, floor}, kGrid);
    svg.text({px, floor + 20}, x.text(t), {.anchor = Anchor::kMiddle, .size = 12});
  }
  for (const double t : y.at) {
    const double py = at(x_.low, t).y;
    svg.line({box_.left, py}, {right, py}, kGrid);
    svg.text({box_.left - 8, py + 4}, y.text(t), {.anchor = Anchor::kEnd, .size = 12});
  }
  svg.line({box_.left, floor}, {right, floor}, kLine);
  svg.line({box_.left, box_.top}, {box_.left, floor}, kLine);
  svg.text({box_.left + box_.width / 2, floor + 44}, across,
           {.anchor = Anchor::kMiddle, .size = 14});
  svg.text({box_.left - 54, box_.top + box_.height / 2}, upwards,
           {.anchor = Anchor::kMiddle, .size = 14, .upwards = true});
}

}  // namespace kith::plot
