// SPDX-License-Identifier: Apache-2.0
// A run as a picture: the loss by epoch, and above it that of what was held out. They may be in
// different units, so each has an axis of its own.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kith/train.h"
#include "plot/axes.h"
#include "plot/svg.h"

namespace kith {
namespace {

using plot::Point;
using plot::Svg;

constexpr double kLeft = 84, kWidth = 600, kHeight = 230, kGap = 76;
constexpr std::string_view kFirst = "#1971c2", kSecond = "#e8590c", kKept = "#2f9e44";

// Epochs and numbers; one line, or dots too where there are few.
struct Series {
  std::vector<std::pair<double, double>> values;
  std::string_view colour;
  std::string_view name;
};

void draw_panel(Svg& svg, double top, std::string_view what, const plot::Range& epochs,
                const std::vector<Series>& all) {
  plot::Range range;
  for (const Series& s : all) {
    for (const auto& [x, y] : s.values) range.take(y);
  }
  const plot::Axes axes({kLeft, top, kWidth, kHeight}, epochs, range.widened(0.06));
  axes.draw(svg, "epoch", what);
  for (const Series& s : all) {
    std::vector<Point> line;
    for (const auto& [x, y] : s.values) line.push_back(axes.at(x, y));
    svg.path(line, s.colour, 2);
    constexpr size_t kDots = 60;
    for (size_t i = 0; line.size() <= kDots && i < line.size(); ++i) svg.dot(line[i], 3, s.colour);
  }
}

void draw_legend(Svg& svg, double top, const std::vector<Series>& all) {
  double x = kLeft + kWidth;
  for (auto s = all.rbegin(); s != all.rend(); ++s) {
    if (s->name.empty()) continue;
    svg.text({x, top - 8}, s->name,
             {.anchor = plot::Anchor::kEnd, .size = 12, .colour = s->colour});
    x -= 9 * static_cast<double>(s->name.size()) + 10;
  }
}

}  // namespace

std::string training_plot(const TrainingCurve& curve, std::string_view title) {
  Series loss{{}, kFirst, ""}, refit{{}, kSecond, "second run, on all data"};
  Series held_out{{}, kFirst, ""}, kept{{}, kKept, "kept"};
  plot::Range epochs;
  if (curve.before) held_out.values.emplace_back(0, *curve.before);
  for (const TrainingCurve::Point& p : curve.points) {
    (p.refit ? refit : loss).values.emplace_back(p.epoch, p.loss);
    epochs.take(p.epoch);
    if (p.held_out) held_out.values.emplace_back(p.epoch, *p.held_out);
  }
  if (!refit.values.empty()) loss.name = "first run";
  for (const auto& [x, y] : held_out.values) {
    epochs.take(x);
    if (curve.kept && x == *curve.kept) kept.values = {{x, y}};
  }
  epochs = epochs.widened(0.02);
  const bool two = held_out.values.size() > (curve.before ? 1u : 0u);
  const double top = 76, second = top + kHeight + kGap;
  Svg svg(kLeft + kWidth + 36, (two ? second : top) + kHeight + 60);
  svg.text({kLeft, 32}, title, {.size = 17, .bold = true});
  if (two) {
    std::vector<Series> all{held_out};
    if (!kept.values.empty()) all.push_back(kept);
    draw_panel(svg, top, "held-out loss", epochs, all);
    draw_legend(svg, top, all);
  }
  std::vector<Series> all{loss};
  if (!refit.values.empty()) all.push_back(refit);
  draw_panel(svg, two ? second : top, "loss", epochs, all);
  draw_legend(svg, two ? second : top, all);
  return std::move(svg).finished();
}

}  // namespace kith
