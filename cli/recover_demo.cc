// SPDX-License-Identifier: Apache-2.0
// recover-demo: when a matrix can be recovered from some of its entries, as a picture in the
// terminal and as an SVG file.
#include <algorithm>
#include <cmath>
#include <optional>

#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"

namespace kith::cli {
namespace {

struct RecoverFlags {
  std::string output{};
  bool json = false;

  static constexpr std::tuple fields{
      field("output", &RecoverFlags::output, "also draw it to this SVG file (-o)"),
      field("json", &RecoverFlags::json, "print JSON instead of the picture"),
  };
};

// --- In the terminal ---

const char* shade(double success) {
  if (success <= 0) return "··";
  if (success >= 1) return "██";
  return success < 0.5 ? "░░" : "▒▒";
}

// Ranks rise upwards; a cell is two characters. What is below the bound is left blank.
std::string picture(const RecoveryMap& map) {
  std::string out = "\n  rank\n";
  for (size_t k = map.ranks.size(); k-- > 0;) {
    out += fmt::format("  {:>4} │", map.ranks[k]);
    for (size_t s = 0; s < map.shares.size(); ++s) {
      const bool below = map.shares[s] < map.bound(static_cast<double>(map.ranks[k]));
      out += below ? "  " : shade(map.at(k, s));
    }
    out += '\n';
  }
  out += "       └";
  for (size_t s = 0; s < map.shares.size(); ++s) out += "──";
  out += "\n        ";
  // A label under the right end of its cell, where there is room for it.
  size_t at = 0;
  for (size_t s = 0; s < map.shares.size(); ++s) {
    const std::string label = fmt::format("{:.0f}%", 100 * map.shares[s]);
    const size_t end = 2 * (s + 1), quarter = std::max<size_t>(1, map.shares.size() / 4);
    if ((s + 1) % quarter != 0 || end < at + label.size()) continue;
    out += std::string(end - label.size() - at, ' ') + label;
    at = end;
  }
  return out + "  of the entries observed\n\n" +
         fmt::format("  incoherence {:.1f} for rank {}, {:.1f} for rank {}; 1 is spread evenly\n",
                     map.incoherence.front(), map.ranks.front(), map.incoherence.back(),
                     map.ranks.back()) +
         "  ██ all matrices recovered   ▒▒ half or more   ░░ fewer   ·· none\n"
         "  blank: fewer entries than the 2nk - k² numbers that a matrix of rank k consists of\n";
}

// --- As SVG ---

struct Frame {
  double left = 74, top = 64, cell_x = 26, cell_y = 26;
  double width, height;  // of the map
  explicit Frame(const RecoveryMap& map)
      : width(cell_x * (static_cast<double>(map.shares.size()) + 0.5)),
        height(cell_y * static_cast<double>(map.ranks.size())) {}
  double x(double share, const RecoveryMap& map) const {
    return left + share * cell_x * static_cast<double>(map.shares.size());
  }
  double y(double rank) const { return top + height - (rank - 0.5) * cell_y; }
};

// From pale to dark, evenly to the eye.
std::string colour(double success) {
  const auto mix = [&](double from, double to) {
    return std::lround(from + success * (to - from));
  };
  return fmt::format("rgb({},{},{})", mix(236, 21), mix(240, 101), mix(244, 112));
}

std::string text(double x, double y, std::string_view anchor, int size, std::string_view words) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", x, y,
      anchor, size, words);
}

std::string cells(const RecoveryMap& map, const Frame& f) {
  std::string out;
  for (size_t k = 0; k < map.ranks.size(); ++k) {
    for (size_t s = 0; s < map.shares.size(); ++s) {
      const auto rank = static_cast<double>(map.ranks[k]);
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "fill=\"{}\"><title>rank "
          "{}, {:.0f} % of the entries: {:.0f} % recovered</title></rect>\n",
          f.x(map.shares[s], map) - f.cell_x / 2, f.y(rank) - f.cell_y / 2, f.cell_x - 1,
          f.cell_y - 1, colour(map.at(k, s)), map.ranks[k], 100 * map.shares[s],
          100 * map.at(k, s));
    }
  }
  return out;
}

std::string bound_line(const RecoveryMap& map, const Frame& f) {
  const double top = static_cast<double>(map.ranks.back()) + 0.5;
  std::string points;
  for (double rank = 0.5; rank <= top + 1e-9; rank += 0.25) {
    points += fmt::format("{:.1f},{:.1f} ", f.x(map.bound(rank), map), f.y(rank));
  }
  const double at = 0.62 * top;
  return fmt::format(
             "<polyline points=\"{}\" fill=\"none\" stroke=\"#d9480f\" stroke-width=\"2.5\"/>\n",
             points) +
         "<g fill=\"#d9480f\">" +
         text(f.x(map.bound(at), map) - 12, f.y(at), "end", 14, "2nk − k² entries") + "</g>\n";
}

std::string axes(const RecoveryMap& map, const Frame& f) {
  std::string out;
  const double floor = f.top + f.height;
  for (const int percent : {0, 25, 50, 75, 100}) {
    const double x = f.x(percent / 100.0, map);
    out += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
        "stroke=\"#868e96\"/>\n",
        x, floor + 2, floor + 8);
    out += text(x, floor + 24, "middle", 13, fmt::format("{} %", percent));
  }
  const size_t every = std::max<size_t>(1, map.ranks.size() / 8);
  for (size_t k = map.ranks.size(); k > 0; k -= std::min(k, every)) {
    out += text(f.left + 6, f.y(static_cast<double>(map.ranks[k - 1])) + 4, "end", 13,
                fmt::format("{}", map.ranks[k - 1]));
  }
  out += text(f.left + f.width / 2, floor + 50, "middle", 14, "share of the entries observed");
  const double middle = f.top + f.height / 2;
  return out + fmt::format("<g transform=\"rotate(-90 42 {0:.1f})\">{1}</g>\n", middle,
                           text(42, middle, "middle", 14, "rank k"));
}

std::string legend(const Frame& f, size_t trials) {
  constexpr int kSteps = 5;
  const double x = f.left + f.width + 28, y = f.top + 30;
  std::string out = text(x, f.top + 4, "start", 13, "recovered") +
                    text(x, f.top + 20, "start", 13, fmt::format("of {}", trials));
  for (int i = 0; i < kSteps; ++i) {
    const double share = 1 - i / (kSteps - 1.0);
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"22\" height=\"22\" fill=\"{}\"/>\n",
                       x, y + 22 * i, colour(share));
    out += text(x + 30, y + 22 * i + 16, "start", 12, fmt::format("{:.0f} %", 100 * share));
  }
  return out;
}

std::string svg(const RecoveryMap& map, const RecoveryOptions& options) {
  const Frame f(map);
  const double width = f.left + f.width + 120, height = f.top + f.height + 68;
  const std::string method = options.method == RecoveryMethod::kSvp ? "singular value projection"
                                                                    : "the least nuclear norm";
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
             "width=\"{0:.0f}\" height=\"{1:.0f}\" font-family=\"Helvetica, Arial, "
             "sans-serif\" fill=\"#212529\">\n<rect width=\"100%\" height=\"100%\" "
             "fill=\"white\"/>\n",
             width, height) +
         "<g font-weight=\"bold\">" +
         text(f.left, 28, "start", 17,
              fmt::format("Which {0} × {0} matrices are recovered exactly?", map.n)) +
         "</g>\n" + text(f.left, 49, "start", 13, fmt::format("random, rank k, by {}", method)) +
         cells(map, f) + bound_line(map, f) + axes(map, f) +
         legend(f, static_cast<size_t>(options.trials)) + "</svg>\n";
}

// --- The command ---

Json json_of(const RecoveryMap& map) {
  Json rows = Json::array();
  for (size_t k = 0; k < map.ranks.size(); ++k) {
    Json row{{"rank", map.ranks[k]},
             {"bound", score(map.bound(static_cast<double>(map.ranks[k])))},
             {"incoherence", score(map.incoherence[k])},
             {"success", Json::array()}};
    for (size_t s = 0; s < map.shares.size(); ++s) row["success"].push_back(score(map.at(k, s)));
    rows.push_back(std::move(row));
  }
  Json shares = Json::array();
  for (const double s : map.shares) shares.push_back(score(s));
  return {{"size", map.n}, {"shares", std::move(shares)}, {"ranks", std::move(rows)}};
}

int run_recover_demo(Args args) {
  RecoveryOptions options;
  RecoverFlags flags;
  Threads threads;
  Quiet quiet;
  if (!parse(args, options, flags, threads, quiet).empty()) {
    misused(kRecoverDemo, "recover-demo takes no arguments");
  }
  if (options.ranks > options.size) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--ranks {} is more than a matrix of --size {} can have", options.ranks,
                            options.size));
  }
  std::optional<OutputFile> file;  // what cannot be written is better known now
  if (!flags.output.empty()) file.emplace(flags.output);
  Context context(threads.threads);
  const Interrupts interrupts(context);
  Status status(quiet.quiet);
  const RecoveryMap map = recovery_map(
      options, context, [&](double share) { status.show(share, "recovering matrices"); });
  status.clear();
  if (file) {
    file->write(svg(map, options));
    file->commit();
  }
  if (flags.json) {
    put_json(json_of(map));
    return kDone;
  }
  put_text(picture(map));
  if (file) say("drawn to {}", flags.output);
  return kDone;
}

}  // namespace

const Command kRecoverDemo{
    "recover-demo",
    "",
    "draw when a matrix can be recovered from some of its entries",
    {"kith recover-demo", "kith recover-demo -o recovery.svg",
     "kith recover-demo --spike 0.9 --ranks 4"},
    "Completes random matrices of every rank from every share of their entries and compares with "
    "the truth. Below 2nk - k² entries there is no hope; a little above, completion succeeds, if "
    "the matrix is spread over its entries: with --spike it is not, and more is needed. The "
    "incoherence (Candès and Tao 2010) measures this: 1 or a little more is spread evenly.",
    groups_for<RecoveryOptions, RecoverFlags, Threads, Quiet>,
    run_recover_demo,
};

}  // namespace kith::cli
