// SPDX-License-Identifier: Apache-2.0
// train: from data to a model file.
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "narrator.h"
#include "train_args.h"

namespace kith::cli {
namespace {

Json json_of(const Trained& t) {
  const std::string units = t.unit + "s";
  return {{"model", t.model},
          {"output", t.output},
          {units, t.size},
          {"vocabulary", t.vectors},
          {"epochs", number_in(fmt::format("{}", t.epochs))},
          {"seconds", t.seconds},
          {"training_seconds", t.training},
          {"cpu_seconds", cpu_seconds()},
          {units + "_per_second", t.per_second},
          {"peak_memory", peak_memory()},
          {"loss", t.loss},
          {"held_out", t.held_out ? Json(*t.held_out) : Json()}};
}

void say_summary(const Trained& t) {
  const std::string speed =
      fmt::format(" in {}, {} {}s/s", in_time(t.seconds), rate_of(t.per_second), t.unit);
  const std::string what =
      t.vectors > 0 ? count_of(t.vectors, "vector") : "from " + count_of(t.size, t.unit);
  say("{}",
      labelled("done",
               fmt::format("{}: {}{}; loss {:.4f}{}", t.output, what, t.before ? "" : speed, t.loss,
                           t.held_out ? fmt::format(", held-out {:.4f}", *t.held_out) : "")));
  const std::string output = shell_quoted(t.output);
  std::vector<std::string> next;
  if (t.target) {
    next.push_back(fmt::format("predict {} FILE, with {}s that it has not seen", output, t.unit));
    next.push_back(fmt::format("eval {} FILE, likewise", output));
  }
  if (t.topics) next.push_back("topics " + output);
  if (t.divides) next.push_back(fmt::format("clusters {} FILE", output));
  if (!t.example.empty()) {
    next.push_back(
        fmt::format("{} {} {}", t.rates ? "recommend" : "near", output, shell_quoted(t.example)));
  }
  if (next.empty()) next.push_back("info " + output);
  for (size_t i = 0; i < next.size(); ++i) {
    say("{}", labelled(i == 0 ? "next" : "", fmt::format("{} {}", program, next[i])));
  }
}

void draw(const Trained& t, const std::string& path) {
  OutputFile file(path);
  file.write(training_plot(t.curve, fmt::format("{}: {}", t.model, t.output)));
  file.commit();
}

int run_train(Args args) { return run_training(parse_train(kTrain, args)); }

bool is_trainable(const ModelDescription& m) { return !m.data.empty(); }

}  // namespace

Outcome train_aloud(const TrainArgs& args) {
  Context context(args.flags.threads);
  const Interrupts interrupts(context);
  Narrator narrator(args.flags.quiet);
  Plan planned = plan(args.request, &narrator);
  const std::string checkpoint = planned.checkpoint_path();
  Trained trained = train(std::move(planned), context, &narrator);
  narrator.status().clear();
  if (trained.finished) return {std::move(trained), kDone};
  const std::string command = fmt::format("{} train{}{}", shell_quoted(program), args.words,
                                          args.request.options.resume ? "" : " --resume");
  complain(ErrorKind::kCancelled, fmt::format("interrupted; {} is kept, continue with{}",
                                              checkpoint, json_wanted ? ": " + command : ""));
  if (!json_wanted) say("  {}", command);
  return {std::move(trained), kInterrupted};
}

int run_training(const TrainArgs& args) {
  const std::string& plot = args.flags.plot;
  if (!plot.empty()) check_output(plot, args.request.sources);
  const Outcome done = train_aloud(args);
  if (done.code != kDone) return done.code;
  if (!plot.empty()) draw(done.trained, plot);
  if (args.flags.json) put_json(json_of(done.trained));
  if (!args.flags.quiet) say_summary(done.trained);
  return kDone;
}

const Command kTrain{
    "train",
    "[MODEL] FILE...",
    "learn vectors from data",
    {"kith train corpus.txt",
     "kith train word2vec news.txt.zst more.txt -o news.kith --tokens words --dim 200",
     "kith train als ratings.dat -o films.kith --dim 100"},
    "Files are text, CSV, TSV, JSON or SQLite, plain, gzip, zstd, xz or bzip2; - is standard "
    "input, postgresql://... a database. Without MODEL, Kith looks at the data, chooses a model "
    "and says which. Ctrl-C keeps a checkpoint; the same command with --resume continues from it.",
    train_groups,
    run_train,
    is_trainable,
};

}  // namespace kith::cli
