// SPDX-License-Identifier: Apache-2.0
// Clusters as a picture: rows are dots, and of each cluster two ellipses stand around its mean.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kith/clusters.h"
#include "plot/axes.h"
#include "plot/svg.h"

namespace kith {
namespace {

using plot::Anchor;
using plot::Point;
using plot::Svg;

constexpr std::string_view kWhite = "white";

plot::Range reach(const ClustersPicture& picture, bool upwards) {
  plot::Range out;
  for (const auto& p : picture.points) out.take(upwards ? p.y : p.x);
  for (const auto& e : picture.ellipses) {
    const double middle = upwards ? e.y : e.x, deviation = std::sqrt(upwards ? e.yy : e.xx);
    out.take(middle - 2 * deviation);
    out.take(middle + 2 * deviation);
  }
  return out.widened(0.04);
}

// So many standard deviations around the mean, by the Cholesky factor of the covariance.
std::vector<Point> outline(const ClustersPicture::Ellipse& e, double deviations,
                           const plot::Axes& axes) {
  constexpr int kCorners = 72;
  const double a = std::sqrt(e.xx), b = a > 0 ? e.xy / a : 0;
  const double c = std::sqrt(std::max(0.0, e.yy - b * b));
  std::vector<Point> out;
  for (int i = 0; i <= kCorners; ++i) {
    const double angle = 2 * std::numbers::pi * i / kCorners;
    const double x = deviations * std::cos(angle), y = deviations * std::sin(angle);
    out.push_back(axes.at(e.x + a * x, e.y + b * x + c * y));
  }
  return out;
}

}  // namespace

std::string clusters_plot(const Clusters& found) {
  const ClustersPicture& picture = found.picture;
  Svg svg(760, 600);
  const plot::Axes axes({80, 56, 560, 460}, reach(picture, false), reach(picture, true));
  const std::string title =
      found.rows > 0 ? fmt::format("{} clusters of {} rows", found.clusters.size(), found.rows)
                     : fmt::format("{} clusters", found.clusters.size());
  svg.text({80, 32}, title, {.size = 17, .bold = true});
  axes.draw(svg, picture.across, picture.upwards);
  const double radius = picture.points.size() > 1000 ? 1.6 : 2.6;
  for (const auto& p : picture.points) {
    svg.dot(axes.at(p.x, p.y), radius, plot::hue(p.cluster - 1), 0.45);
  }
  for (size_t k = 0; k < picture.ellipses.size(); ++k) {
    const auto& e = picture.ellipses[k];
    svg.path(outline(e, 2, axes), plot::hue(k), 1.2);
    svg.path(outline(e, 1, axes), plot::hue(k), 2.2);
  }
  for (size_t k = 0; k < picture.ellipses.size(); ++k) {
    const Point at = axes.at(picture.ellipses[k].x, picture.ellipses[k].y);
    svg.dot(at, 11, kWhite, 0.85);
    svg.text({at.x, at.y + 5}, fmt::format("{}", k + 1),
             {.anchor = Anchor::kMiddle, .size = 14, .bold = true, .colour = plot::hue(k)});
  }
  constexpr size_t kListed = 20;
  for (size_t k = 0; k < std::min(kListed, found.clusters.size()); ++k) {
    const double y = 70 + 22 * static_cast<double>(k);
    svg.dot({664, y - 4}, 6, plot::hue(k));
    svg.text({678, y}, fmt::format("{}  {:.1f} %", k + 1, 100 * found.clusters[k].weight));
  }
  svg.text({80, 590}, "ellipses: one and two standard deviations",
           {.size = 11, .colour = "#868e96"});
  return std::move(svg).finished();
}

}  // namespace kith
