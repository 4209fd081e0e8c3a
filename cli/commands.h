// SPDX-License-Identifier: Apache-2.0
#pragma once
// A command is a row of a table and a function that returns. Its options are a struct with
// `fields`, so help, man page and shell completion come from what the parser uses.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace kith::cli {

enum ExitCode {
  kDone = 0,
  kFailed = 1,  // input or io
  kMisused = 2,
  kInterrupted = 3,  // a checkpoint was kept
  kDivergedExit = 4,
  kNoMemory = 5,
};

using Args = std::span<const std::string_view>;

// How this program was called, for commands that are shown to the user. Set once, by main.
inline std::string program = "kith";

struct Command {
  std::string_view name;
  std::string_view operands;  // what follows the name: "MODEL QUERY..."
  std::string_view summary;
  std::array<std::string_view, 3> examples;
  std::string_view more;  // a paragraph for --help; may be empty
  // What it can be told; `topic` narrows it to one model where that matters, "" is everything.
  std::vector<Section> (*sections)(std::string_view topic);
  int (*run)(Args args);
};

std::span<const Command* const> commands();
const Command& command(std::string_view name);  // Error(kUsage) with a suggestion

extern const Command kTrain, kNear, kAnalogy, kSimilarity, kOdd, kEval, kExport, kImport, kInfo,
    kPredict, kScore, kEmbed, kUpdate, kRecommend, kTune, kModels, kDemo, kRecoverDemo, kHelp,
    kVersionCommand;

// The sections of a command that has one struct of options and no models.
template <class Options>
std::vector<Section> sections_of(std::string_view) {
  static Options defaults;
  return {Section("Options", defaults)};
}

// Reads flags into `options` and returns the rest.
template <class Options>
std::vector<std::string> parse(Args args, Options& options) {
  const std::array sections{Section("Options", options)};
  Arguments arguments = parse_arguments(args, sections);
  kith::apply(arguments.settings, sections);
  return std::move(arguments.positional);
}

// "near needs a model and a query; usage: kith near MODEL QUERY... [options]"
[[noreturn]] void misused(const Command& command, std::string_view what);

// What help.cc prints; `topic` as for sections.
std::string help_of(const Command& command, std::string_view topic);
std::string overview();

}  // namespace kith::cli
