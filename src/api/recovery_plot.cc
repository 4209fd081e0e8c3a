// SPDX-License-Identifier: Apache-2.0
// The map as a picture: ranks rise upwards, shares to the right, dark where all were recovered.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kith/recovery.h"
#include "plot/svg.h"

namespace kith {
namespace {

using plot::Anchor;
using plot::Point;
using plot::Svg;

constexpr std::string_view kBoundColour = "#d9480f", kTickColour = "#868e96";

struct Frame {
  double left = 74, top = 64, cell = 26;
  double width, height;  // of the map
  explicit Frame(const RecoveryMap& map)
      : width(cell * (static_cast<double>(map.shares.size()) + 0.5)),
        height(cell * static_cast<double>(map.ranks.size())) {}
  double x(double share, const RecoveryMap& map) const {
    return left + share * cell * static_cast<double>(map.shares.size());
  }
  double y(double rank) const { return top + height - (rank - 0.5) * cell; }
};

void draw_cells(Svg& svg, const RecoveryMap& map, const Frame& f) {
  for (size_t k = 0; k < map.ranks.size(); ++k) {
    for (size_t s = 0; s < map.shares.size(); ++s) {
      const double x = f.x(map.shares[s], map), y = f.y(static_cast<double>(map.ranks[k]));
      svg.rect({x - f.cell / 2, y - f.cell / 2}, f.cell - 1, f.cell - 1, plot::shade(map.at(k, s)),
               fmt::format("rank {}, {:.0f} % of the entries: {:.0f} % recovered", map.ranks[k],
                           100 * map.shares[s], 100 * map.at(k, s)));
    }
  }
}

void draw_bound(Svg& svg, const RecoveryMap& map, const Frame& f) {
  const double top = static_cast<double>(map.ranks.back()) + 0.5;
  std::vector<Point> points;
  for (double rank = 0.5; rank <= top + 1e-9; rank += 0.25) {
    points.push_back({f.x(map.bound(rank), map), f.y(rank)});
  }
  svg.path(points, kBoundColour, 2.5);
  const double at = 0.62 * top;
  svg.text({f.x(map.bound(at), map) - 12, f.y(at)}, "2nk − k² entries",
           {.anchor = Anchor::kEnd, .size = 14, .colour = kBoundColour});
}

void draw_axes(Svg& svg, const RecoveryMap& map, const Frame& f) {
  const double floor = f.top + f.height;
  for (const int percent : {0, 25, 50, 75, 100}) {
    const double x = f.x(percent / 100.0, map);
    svg.line({x, floor + 2}, {x, floor + 8}, kTickColour);
    svg.text({x, floor + 24}, fmt::format("{} %", percent), {.anchor = Anchor::kMiddle});
  }
  const size_t every = std::max<size_t>(1, map.ranks.size() / 8);
  for (size_t k = map.ranks.size(); k > 0; k -= std::min(k, every)) {
    svg.text({f.left + 6, f.y(static_cast<double>(map.ranks[k - 1])) + 4},
             fmt::format("{}", map.ranks[k - 1]), {.anchor = Anchor::kEnd});
  }
  svg.text({f.left + f.width / 2, floor + 50}, "share of the entries observed",
           {.anchor = Anchor::kMiddle, .size = 14});
  svg.text({42, f.top + f.height / 2}, "rank k",
           {.anchor = Anchor::kMiddle, .size = 14, .upwards = true});
}

void draw_legend(Svg& svg, const Frame& f, int trials) {
  constexpr int kSteps = 5;
  const double x = f.left + f.width + 28, y = f.top + 30;
  svg.text({x, f.top + 4}, "recovered");
  svg.text({x, f.top + 20}, fmt::format("of {}", trials));
  for (int i = 0; i < kSteps; ++i) {
    const double share = 1 - i / (kSteps - 1.0);
    svg.rect({x, y + 22 * i}, 22, 22, plot::shade(share));
    svg.text({x + 30, y + 22 * i + 16}, fmt::format("{:.0f} %", 100 * share), {.size = 12});
  }
}

}  // namespace

std::string recovery_plot(const RecoveryMap& map, const RecoveryOptions& options) {
  const Frame f(map);
  Svg svg(f.left + f.width + 120, f.top + f.height + 68);
  svg.text({f.left, 28}, fmt::format("Which {0} × {0} matrices are recovered exactly?", map.n),
           {.size = 17, .bold = true});
  svg.text({f.left, 49}, fmt::format("random, rank k, by {}", options.method == RecoveryMethod::kSvp
                                                                  ? "singular value projection"
                                                                  : "the least nuclear norm"));
  draw_cells(svg, map, f);
  draw_bound(svg, map, f);
  draw_axes(svg, map, f);
  draw_legend(svg, f, options.trials);
  return std::move(svg).finished();
}

}  // namespace kith
