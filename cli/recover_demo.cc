// SPDX-License-Identifier: Apache-2.0
// recover-demo: when a matrix can be recovered from some of its entries, as a picture in the
// terminal and as an SVG file.
#include <algorithm>
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
    file->write(recovery_plot(map, options));
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
