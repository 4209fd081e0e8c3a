// SPDX-License-Identifier: Apache-2.0
#include "plot/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace kith::plot {
namespace {

// Names come from anywhere. A control character is allowed in no XML file, escaped or not.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
}

}  // namespace

Svg::Svg(double width, double height)
    : out_(fmt::format(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
          "width=\"{0:.0f}\" height=\"{1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\">\n"
          "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
          width, height)) {}

void Svg::rect(Point corner, double width, double height, std::string_view fill,
               std::string_view title) {
  fmt::format_to(std::back_inserter(out_),
                 "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"",
                 corner.x, corner.y, width, height, fill);
  out_ += title.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped(title));
}

void Svg::line(Point from, Point to, std::string_view colour, double width) {
  fmt::format_to(std::back_inserter(out_),
                 "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
                 "stroke-width=\"{}\"/>\n",
                 from.x, from.y, to.x, to.y, colour, width);
}

void Svg::path(std::span<const Point> points, std::string_view colour, double width) {
  out_ += "<polyline points=\"";
  for (const Point& p : points) {
    fmt::format_to(std::back_inserter(out_), "{:.1f},{:.1f} ", p.x, p.y);
  }
  fmt::format_to(std::back_inserter(out_), "\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
                 colour, width);
}

void Svg::dot(Point centre, double radius, std::string_view fill, double opacity) {
  fmt::format_to(std::back_inserter(out_),
                 "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"", centre.x, centre.y,
                 radius, fill);
  out_ += opacity < 1 ? fmt::format(" fill-opacity=\"{}\"/>\n", opacity) : "/>\n";
}

void Svg::text(Point at, std::string_view words, const TextLook& look) {
  constexpr std::array anchors{"start", "middle", "end"};
  fmt::format_to(
      std::back_inserter(out_),
      "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"{2}\" font-size=\"{3}\" fill=\"{4}\"{5}{6}>"
      "{7}</text>\n",
      at.x, at.y, anchors[static_cast<size_t>(look.anchor)], look.size, look.colour,
      look.bold ? " font-weight=\"bold\"" : "",
      look.upwards ? fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", at.x, at.y) : "",
      escaped(words));
}

std::string Svg::finished() && { return std::move(out_) + "</svg>\n"; }

std::string shade(double share) {
  const auto mix = [&](double pale, double dark) {
    return std::lround(pale + share * (dark - pale));
  };
  return fmt::format("rgb({},{},{})", mix(236, 21), mix(240, 101), mix(244, 112));
}

std::string_view hue(size_t n) {
  constexpr std::array<std::string_view, 10> hues{"#1971c2", "#e8590c", "#2f9e44", "#9c36b5",
                                                  "#f08c00", "#0c8599", "#e03131", "#5f3dc4",
                                                  "#66a80f", "#846358"};
  return hues[n % hues.size()];
}

Ticks ticks(double low, double high, int count) {
  const double rough = std::max((high - low) / count, 1e-300);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double factor = rough / power;
  const double step = power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
  Ticks out;
  out.decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) {
    out.at.push_back(i * step);
    if (out.at.size() > 100) break;  // of numbers that are too close for steps between them
  }
  return out;
}

std::string Ticks::text(double value) const {
  if (value != 0 && (std::abs(value) >= 1e6 || decimals > 6)) return fmt::format("{:.4g}", value);
  return fmt::format("{:.{}f}", value + 0.0, decimals);
}

}  // namespace kith::plot
