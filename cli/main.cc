// SPDX-License-Identifier: Apache-2.0
// Finds the command, runs it, and turns whatever it throws into one line and an exit code.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "terminal.h"

namespace kith::cli {
namespace {

constexpr const Command* kCommands[] = {
    &kTrain,  &kCount,   &kPhrases,   &kNear,        &kAnalogy, &kSimilarity,
    &kOdd,    &kPredict, &kRecommend, &kTune,        &kScore,   &kEmbed,
    &kTopics, &kUpdate,  &kEval,      &kExport,      &kImport,  &kCompress,
    &kInfo,   &kModels,  &kDemo,      &kRecoverDemo, &kHelp,    &kVersionCommand};

// In the order of ErrorKind: what JSON calls it, and how the program ends.
struct Ending {
  std::string_view name;
  ExitCode code;
};
constexpr std::array kEndings{Ending{"usage", kMisused},
                              Ending{"input", kFailed},
                              Ending{"io", kFailed},
                              Ending{"memory", kNoMemory},
                              Ending{"diverged", kDivergedExit},
                              Ending{"cancelled", kInterrupted},
                              Ending{"closed", kDone}};

const Ending& ending(ErrorKind kind) { return kEndings[static_cast<size_t>(kind)]; }

// Whether one of the flags is given.
bool has_flag(Args args, std::initializer_list<std::string_view> flags) {
  const auto end = std::find(args.begin(), args.end(), "--");
  return std::find_first_of(args.begin(), end, flags.begin(), flags.end()) != end;
}

// The model that help is asked about, if one is named.
std::string_view model_named(Args args) {
  const auto found = std::ranges::find_if(args, is_model);
  return found == args.end() ? std::string_view() : *found;
}

int dispatch(Args args) {
  if (args.empty() || args[0] == "--help" || args[0] == "-h") {
    put_text(overview());
    return kDone;
  }
  if (args[0] == "--version") return kVersionCommand.run({});
  const Command& found = command(args[0]);
  const Args rest = args.subspan(1);
  if (has_flag(rest, {"--help", "-h"})) {
    put_text(help_of(found, model_named(rest)));
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

// Says so without asking for any.
int out_of_memory() {
  constexpr std::string_view kText = "kith: not enough memory\n";
  constexpr std::string_view kJson =
      R"({"error":{"kind":"memory","message":"not enough memory","exit":5}})"
      "\n";
  const std::string_view text = json_wanted ? kJson : kText;
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return kNoMemory;
  return kNoMemory;
}

int guarded_once(int argc, char** argv) {
  try {
    if (argc > 0) program = argv[0];
    const std::vector<std::string_view> args(argv + std::min(argc, 1), argv + argc);
    json_wanted = has_flag(args, {"--json"});
    const bool typed = has_flag(args, {"-"}) && ::isatty(STDIN_FILENO) == 1;  // not into that
    const bool read = is_terminal(Stream::kErr) || !json_wanted;              // by a person
    const Heartbeat heartbeat(!typed && read && !has_flag(args, {"--quiet", "-q"}));
    return run_and_flush(args);
  } catch (const Error& e) {
    // `kith near ... | head -1`: the reader has what it wanted.
    if (e.kind() != ErrorKind::kClosed) complain(e.kind(), e.what());
    return exit_code(e.kind());
  } catch (const OutputError& e) {
    if (e.code == EPIPE) return kDone;
    complain(ErrorKind::kIo,
             fmt::format("standard output: cannot write: {}", std::strerror(e.code)));
    return kFailed;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& e) {
    complain(ErrorKind::kIo, e.what());
    return kFailed;
  }
}

// What is said about a failure may need memory, too.
int guarded(int argc, char** argv) {
  try {
    return guarded_once(argc, argv);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

// A file that is opened must not get the number of a stream that was closed: what is said would
// land in it. What stands in for such a stream fails where results or input are at stake.
void hold_standard_streams() {
  constexpr std::array modes{O_WRONLY, O_RDONLY, O_WRONLY};  // of 0, 1 and 2
  for (int fd = 0; fd < static_cast<int>(modes.size()); ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", modes[static_cast<size_t>(fd)]) < 0) return;
  }
}

}  // namespace

ExitCode exit_code(ErrorKind kind) { return ending(kind).code; }

void complain(ErrorKind kind, std::string_view what) {
  if (!json_wanted) return say("kith: {}", printable(what));
  Json error{{"kind", ending(kind).name}, {"message", printable(what)}};
  const Place place = place_in(what);
  if (!place.file.empty()) error["file"] = place.file;
  if (place.line > 0) error["line"] = place.line;
  error["exit"] = static_cast<int>(exit_code(kind));
  say_text(dumped({{"error", std::move(error)}}));
}

std::span<const Command* const> commands() { return kCommands; }

const Command& command(std::string_view name) {
  if (name == "similar") name = kNear.name;  // as other tools call it
  std::vector<std::string_view> names;
  for (const Command* c : kCommands) {
    if (c->name == name) return *c;
    names.push_back(c->name);
  }
  const std::string nearest = suggest(name, names);
  throw Error(ErrorKind::kUsage, fmt::format("unknown command {}{}", name,
                                             nearest.empty() ? "; kith help lists them" : nearest));
}

}  // namespace kith::cli

int main(int argc, char** argv) {
  kith::cli::hold_standard_streams();
  // A closed pipe shows as a failed write, so that a training run outlives its log.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // likewise a file over the limit of `ulimit -f`
  kith::cli::explain_lost_files();
  return kith::cli::guarded(argc, argv);
}
