// SPDX-License-Identifier: Apache-2.0
#include "plot/svg.h"

#include <fmt/format.h>

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

}  // namespace kith::plot
