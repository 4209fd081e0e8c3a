// SPDX-License-Identifier: Apache-2.0
// Bars of what each component explains, with the line of what all up to it do.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "api/opened.h"
#include "kith/reconstruct.h"
#include "kith/text.h"
#include "plot/svg.h"

namespace kith {
namespace {

using plot::Anchor;
using plot::Point;
using plot::Svg;

constexpr std::string_view kBars = "#4c6ef5", kLine = "#d9480f", kTicks = "#868e96",
                           kGrid = "#e9ecef";
constexpr size_t kMost = 100;  // bars

struct Frame {
  double left = 70, top = 64, width = 560, height = 300;
  double floor() const { return top + height; }
  double y(double share, double most) const { return floor() - height * share / most; }
};

// 1, 2 or 5 times a power of ten, so that there are four to nine of it up to `most`.
double tick_of(double most) {
  const double rough = most / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= rough) return times * power;
  }
  return 10 * power;
}

// Percents on the left for the bars, on the right for the line.
void draw_axes(Svg& svg, const Frame& f, double most, size_t bars) {
  const double tick = tick_of(most);
  for (double at = 0; at <= most * 1.0001; at += tick) {
    const double y = f.y(at, most);
    svg.line({f.left, y}, {f.left + f.width, y}, kGrid);
    svg.text({f.left - 8, y + 4}, in_percent(at), {.anchor = Anchor::kEnd, .colour = kBars});
  }
  for (int percent = 0; percent <= 100; percent += 25) {
    svg.text({f.left + f.width + 8, f.y(percent / 100.0, 1) + 4}, fmt::format("{} %", percent),
             {.colour = kLine});
  }
  svg.line({f.left, f.floor()}, {f.left + f.width, f.floor()}, kTicks);
  const auto every = static_cast<size_t>(std::max(1.0, tick_of(static_cast<double>(bars))));
  const double step = f.width / static_cast<double>(bars);
  for (size_t k = 1; k <= bars; ++k) {
    if (k != 1 && k % every != 0) continue;
    svg.text({f.left + step * (static_cast<double>(k) - 0.5), f.floor() + 20}, fmt::format("{}", k),
             {.anchor = Anchor::kMiddle});
  }
  svg.text({f.left + f.width / 2, f.floor() + 44}, "component",
           {.anchor = Anchor::kMiddle, .size = 14});
}

}  // namespace

std::string scree_plot(const Model& model) {
  const auto& asked = model.impl().ask<HasSpectrum>("a scree plot");
  const std::span<const double> variance = asked.explained();
  const double total = asked.total_variance();
  const size_t bars = std::min(variance.size(), kMost);
  const auto share = [&](size_t k) { return total > 0 ? variance[k] / total : 0; };
  const double most = std::max(share(0), 1e-9) * 1.05;
  const Frame f;
  Svg svg(f.left + f.width + 80, f.floor() + 62);
  double kept = 0;
  for (size_t k = 0; k < variance.size(); ++k) kept += share(k);
  svg.text({f.left, 26}, "What each component explains of the variance",
           {.size = 17, .bold = true});
  svg.text({f.left, 47}, fmt::format("all {} together: {}", count_of(variance.size(), "component"),
                                     in_percent(kept)));
  draw_axes(svg, f, most, bars);
  const double step = f.width / static_cast<double>(bars);
  std::vector<Point> line;
  double so_far = 0;
  for (size_t k = 0; k < bars; ++k) {
    so_far += share(k);
    const double x = f.left + step * static_cast<double>(k), y = f.y(share(k), most);
    svg.rect({x + 0.1 * step, y}, 0.8 * step, f.floor() - y, kBars,
             fmt::format("component {}: {}, with all before it {}", k + 1, in_percent(share(k)),
                         in_percent(so_far)));
    line.push_back({x + step / 2, f.y(so_far, 1)});
  }
  if (line.size() > 1) svg.path(line, kLine, 2);
  svg.text({f.left + f.width, 47}, "all up to it (right)",
           {.anchor = Anchor::kEnd, .colour = kLine});
  return std::move(svg).finished();
}

}  // namespace kith
