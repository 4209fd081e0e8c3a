// SPDX-License-Identifier: Apache-2.0
// Finds the command, runs it, and turns whatever it throws into one line and an exit code.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "commands.h"
#include "core/error.h"
#include "models/model.h"
#include "terminal.h"

namespace kith::cli {
namespace {

constexpr const Command* kCommands[] = {
    &kTrain, &kNear,   &kAnalogy, &kSimilarity,  &kOdd,  &kPredict,       &kRecommend,
    &kTune,  &kScore,  &kEmbed,   &kUpdate,      &kEval, &kExport,        &kImport,
    &kInfo,  &kModels, &kDemo,    &kRecoverDemo, &kHelp, &kVersionCommand};

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return kMisused;
    case ErrorKind::kDiverged:
      return kDivergedExit;
    case ErrorKind::kLimit:
      return kNoMemory;
    case ErrorKind::kInput:
    case ErrorKind::kIo:
      break;
  }
  return kFailed;
}

int complain(std::string_view what, int code) {
  say("kith: {}", printable(what));
  return code;
}

bool wants_help(Args args) {
  const auto end = std::find(args.begin(), args.end(), "--");
  return std::any_of(args.begin(), end, [](auto a) { return a == "--help" || a == "-h"; });
}

// The model that help is asked about, if one is named.
std::string_view topic_of(Args args) {
  for (const std::string_view arg : args) {
    for (const ModelInfo& m : models()) {
      if (m.name == arg) return m.name;
    }
  }
  return "";
}

int dispatch(Args args) {
  if (args.empty() || args[0] == "--help" || args[0] == "-h") {
    put_text(overview());
    return kDone;
  }
  if (args[0] == "--version") return kVersionCommand.run({});
  const Command& found = command(args[0]);
  const Args rest = args.subspan(1);
  if (wants_help(rest)) {
    put_text(help_of(found, topic_of(rest)));
    return kDone;
  }
  return found.run(rest);
}

// The same with results that must arrive.
int run_and_flush(Args args) {
  const int code = dispatch(args);
  flush_results();
  return code;
}

int guarded(Args args) {
  try {
    return run_and_flush(args);
  } catch (const Error& e) {
    return complain(e.what(), exit_code(e.kind()));
  } catch (const OutputError& e) {
    // `kith near ... | head -1`: the reader has what it wanted.
    if (e.code == EPIPE) return kDone;
    return complain(fmt::format("standard output: cannot write: {}", std::strerror(e.code)),
                    kFailed);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory", kNoMemory);
  } catch (const std::exception& e) {
    return complain(e.what(), kFailed);
  }
}

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

const Command& command(std::string_view name) {
  if (name == "similar") name = kNear.name;  // as other tools call it
  std::vector<std::string_view> names;
  for (const Command* c : kCommands) {
    if (c->name == name) return *c;
    names.push_back(c->name);
  }
  const std::string nearest = suggest(name, names);
  throw Error(ErrorKind::kUsage, "unknown command {}{}", name,
              nearest.empty() ? "; kith help lists them" : nearest);
}

}  // namespace kith::cli

int main(int argc, char** argv) {
  // A closed pipe shows as a failed write, so that a training run outlives its log.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // likewise a file over the limit of `ulimit -f`
  if (argc > 0) kith::cli::program = argv[0];
  const std::vector<std::string_view> args(argv + std::min(argc, 1), argv + argc);
  return kith::cli::guarded(args);
}
