// SPDX-License-Identifier: Apache-2.0
#pragma once
// A command is a row of a table and a function that returns. What it can be told are fields of
// structs, so help, man page and shell completion come from what the parser uses.

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/error.h"
#include "kith/models.h"
#include "kith/settings.h"

namespace kith::cli {

enum ExitCode {
  kDone = 0,
  kFailed = 1,  // input or io
  kMisused = 2,
  kInterrupted = 3,
  kDivergedExit = 4,
  kNoMemory = 5,
};

ExitCode exit_code(ErrorKind kind);
// Says what went wrong, in a line: as JSON if that was asked for.
void complain(ErrorKind kind, std::string_view what);

using Args = std::span<const std::string_view>;

// How this program was called, for commands that are shown to the user. Set once, by main.
inline std::string program = "kith";
inline bool json_wanted = false;  // likewise: errors are JSON, too

struct Command {
  std::string_view name;
  std::string_view operands;  // what follows the name: "MODEL QUERY..."
  std::string_view summary;
  std::array<std::string_view, 3> examples;
  std::string_view more;  // a paragraph for --help; may be empty
  // What it can be told. `model` is the name of one, or "" for what does not depend on a model.
  std::vector<FieldGroup> (*groups)(std::string_view model);
  int (*run)(Args args);
  // Whether the name of such a model may follow, and has settings that the command takes.
  bool (*takes)(const ModelDescription& model) = nullptr;
};

std::span<const Command* const> commands();
const Command& command(std::string_view name);  // Error(kUsage) with a suggestion

extern const Command kTrain, kCount, kPhrases, kNear, kAnalogy, kSimilarity, kOdd, kEval, kExport,
    kImport, kCompress, kInfo, kPredict, kScore, kEmbed, kTopics, kUpdate, kRecommend, kTune,
    kModels, kDemo, kRecoverDemo, kHelp, kVersionCommand;

// What many commands can be told.
// Whether help and completion show its --no- form: where it is on, or the model decides.
inline bool can_be_turned_off(const FieldInfo& f) {
  return f.is_flag() && f.default_text != "false";
}

struct Output {
  bool json = false;
  static constexpr std::tuple fields{field("json", &Output::json, "print JSON")};
};
struct Threads {
  int threads = 0;
  static constexpr std::tuple fields{
      field("threads", &Threads::threads, "0 for all cores").between(0, 1024)};
};
struct Quiet {
  bool quiet = false;
  static constexpr std::tuple fields{
      field("quiet", &Quiet::quiet, "no progress, only warnings and errors (-q)")};
};
struct Nothing {
  static constexpr std::tuple<> fields{};
};

// The groups of a command whose options are these structs.
template <class... Options>
std::vector<FieldGroup> groups_for(std::string_view = {}) {
  FieldGroup out{"Options", {}};
  const auto add = [&](const std::vector<FieldInfo>& fields) {
    out.fields.insert(out.fields.end(), fields.begin(), fields.end());
  };
  (add(field_infos<Options>()), ...);
  return {out};
}

// Adds what sources can be told. What the command itself can be told by the same name is its own.
inline void add_reading(std::vector<FieldGroup>& to, std::initializer_list<Can> any_of) {
  const std::vector<FieldGroup> own = to;
  for (FieldGroup& group : reading_settings(any_of)) {
    std::erase_if(group.fields, [&](const FieldInfo& f) {
      return std::ranges::any_of(own, [&](const FieldGroup& o) { return o.find(f.name); });
    });
    if (!group.fields.empty()) to.push_back(std::move(group));
  }
}

// Reads flags into the structs and returns the words.
template <class... Options>
std::vector<std::string> parse(Args args, Options&... options) {
  const std::vector<Section> sections{Section("Options", options)...};
  Arguments arguments = parse_arguments(args, groups_of(sections));
  apply_settings(arguments.settings, sections);
  return std::move(arguments.positional);
}

// The same as parse(), and the flags of how sources are read as settings: those of all models that
// can be asked so. The words of a model decide later whether it can.
struct Words {
  std::vector<std::string> words;
  std::vector<Setting> reading;
};
template <class... Options>
Words parse_reading(Args args, std::initializer_list<Can> any_of, Options&... options) {
  std::vector<FieldGroup> groups = groups_for<Options...>();
  add_reading(groups, any_of);
  Arguments arguments = parse_arguments(args, groups);
  apply_known(arguments.settings, std::vector<Section>{Section("Options", options)...});
  return {std::move(arguments.positional), std::move(arguments.settings)};
}

// "near needs a model and a query; usage: kith near MODEL QUERY... [options]"
[[noreturn]] void misused(const Command& command, std::string_view what);

// The words behind the first.
inline std::vector<std::string> rest_of(const std::vector<std::string>& words) {
  return {words.begin() + 1, words.end()};
}

// What help.cc prints; `model` as for groups.
std::string help_of(const Command& command, std::string_view model);
std::string overview();

}  // namespace kith::cli
