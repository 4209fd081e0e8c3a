// SPDX-License-Identifier: Apache-2.0
// From data to a model file: read, check, train, keep checkpoints, check again, save.
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

#include "core/error.h"
#include "interrupt.h"
#include "json.h"
#include "memory.h"
#include "model_file.h"
#include "train_data.h"
#include "train_report.h"

namespace kith::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check_places(const TrainPlan& plan) {
  const std::string& output = plan.options.output;
  if (output == "-") {
    throw Error(ErrorKind::kUsage,
                "a model cannot be written to standard output: checkpoints stand beside it; name a "
                "file with -o");
  }
  for (const std::string& file : plan.files) {
    std::error_code none;
    if (file == "-" || is_database(file)) continue;
    if (!fs::exists(file, none)) throw Error(ErrorKind::kIo, "{}: there is no such file", file);
    if (fs::is_directory(file, none)) {
      throw Error(ErrorKind::kIo, "{}: this is a folder; name the files in it", file);
    }
    check_distinct(file, output);
    check_distinct(file, plan.checkpoint_path());
  }
  check_writable(output);
}

// Refuses what cannot end well. `available` was taken before anything was loaded.
void check_memory(const TrainPlan& plan, const TrainData& data, const Job& job,
                  std::optional<uint64_t> available, Status& status) {
  const bool asked = !plan.options.max_memory.empty();
  if (asked) available = parse_size("max-memory", plan.options.max_memory);
  const uint64_t needed = data.memory_needed(job);
  const std::string need = in_bytes(static_cast<double>(needed));
  if (!available) return status.line(labelled("memory", fmt::format("about {}", need)));
  const std::string limit = in_bytes(static_cast<double>(*available));
  if (needed > *available) {
    throw Error(ErrorKind::kLimit, "training needs about {} of memory but {} {}; {}", need, limit,
                asked ? "is the limit (--max-memory)" : "is available", data.to_save_memory());
  }
  status.line(labelled(
      "memory", fmt::format("about {} of {} {}", need, limit, asked ? "allowed" : "available")));
}

// What the file says beyond the model itself. Nothing here may depend on time, machine or number
// of threads: a deterministic run gives the same file everywhere.
std::map<std::string, std::string> metadata_of(const TrainPlan& plan, const TrainData& data) {
  std::map<std::string, std::string> out = data.metadata();
  out["run"] = plan.settings;
  out["fingerprint"] = fmt::format("{:016x}", data.fingerprint());
  return out;
}

// The checkpoint of this run. One that another run left under the same name is not touched before
// there is a new one, and never loaded.
class Checkpoints {
 public:
  Checkpoints(const TrainPlan& plan, std::map<std::string, std::string> metadata, Status& status)
      : plan_(plan), metadata_(std::move(metadata)), status_(status) {}

  void resume() {
    const std::string stored = plan_.checkpoint->metadata_at("fingerprint");
    if (stored != metadata_.at("fingerprint")) {
      throw Error(ErrorKind::kInput,
                  "{}: made from other data than {}; resume with the very same files, or start "
                  "anew without --resume",
                  plan_.checkpoint_path(), shown_source(plan_.files.front()));
    }
    restore_checkpoint(*plan_.model, plan_.info->name, *plan_.checkpoint);
    own_ = true;
  }
  void write() {
    save_model(*plan_.model, plan_.info->name, plan_.checkpoint_path(), true, metadata_);
    own_ = true;
    last_ = Clock::now();
  }
  void write_if_due(const Progress& p) {
    const auto every = static_cast<double>(plan_.options.checkpoint_every);
    if (every == 0 || p.done >= p.total || seconds_since(last_) < every) return;
    try {
      write();
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::kDiverged) throw;  // the trainer rolls back
      // The work goes on: the last checkpoint is whole, and the disk may have room again later.
      status_.warning(fmt::format("no checkpoint this time: {}", e.what()));
      last_ = Clock::now();
    }
  }
  bool roll_back() {
    if (!own_) return false;
    restore_checkpoint(*plan_.model, plan_.info->name, Archive::open(plan_.checkpoint_path()));
    return true;
  }
  void remove() {
    std::error_code none;
    if (own_) fs::remove(plan_.checkpoint_path(), none);
  }
  bool own() const { return own_; }

 private:
  const TrainPlan& plan_;
  std::map<std::string, std::string> metadata_;
  Status& status_;
  Clock::time_point last_ = Clock::now();
  bool own_ = false;  // written or resumed by this run
};

std::string resume_command(Args args) {
  std::string out = shell_quoted(program) + " train";
  bool has_resume = false;
  for (const std::string_view arg : args) {
    out += ' ' + shell_quoted(shown_source(arg));
    has_resume = has_resume || arg == "--resume";
  }
  return out + (has_resume ? "" : " --resume");
}

// Trains and saves; true if it came to its end.
bool train_and_save(TrainSummary& out, TrainData& data, Job& job, Checkpoints& checkpoints,
                    Status& status) {
  const TrainPlan& plan = out.plan;
  TrainReport report(status, data.unit(), data.size(), plan.checkpoint.has_value());
  job.on_progress = [&](const Progress& p) {
    report.update(p);
    checkpoints.write_if_due(p);
  };
  job.restore = [&] { return checkpoints.roll_back(); };
  const auto start = Clock::now();
  data.train_last(*plan.model, job);
  status.clear();
  out.training = seconds_since(start);
  out.loss = report.loss();
  out.epochs = report.epochs_done();
  out.per_second = report.per_second();
  out.first_held_out = report.first_held_out();
  out.held_out = report.held_out();
  if (!plan.model->finished()) {
    checkpoints.write();
    return false;
  }
  self_check(*plan.model, job.seed, job.threads, status);
  save_model(*plan.model, plan.info->name, plan.options.output, false, metadata_of(plan, data));
  checkpoints.remove();
  return true;
}

void print_summary(const TrainSummary& s) {
  const TrainOptions& options = s.plan.options;
  if (options.json) {
    Json out{{"model", s.plan.info->name},
             {"output", options.output},
             {s.unit + "s", s.size},
             {"vocabulary", s.vectors},
             {"epochs", s.epochs},
             {"seconds", s.seconds},
             {"training_seconds", s.training},
             {"cpu_seconds", cpu_seconds()},
             {s.unit + "s_per_second", s.per_second},
             {"peak_memory", peak_memory()},
             {"loss", s.loss},
             {"held_out", nullptr}};
    if (s.held_out) out["held_out"] = *s.held_out;
    put_json(out);
  }
  if (options.quiet) return;
  say("{}", labelled("done",
                     fmt::format("{}: {} in {}, {} {}s/s; loss {:.4f}{}", options.output,
                                 count_of(s.vectors, "vector"), in_time(s.seconds),
                                 rate_of(s.per_second), s.unit, s.loss,
                                 s.held_out ? fmt::format(", held-out {:.4f}", *s.held_out) : "")));
  std::string next = s.next;
  next.replace(next.find("MODEL"), 5, shell_quoted(options.output));
  say("{}", labelled("next", fmt::format("{} {}", program, next)));
}

int run_train(Args args) {
  const TrainSummary summary = train(args);
  if (!summary.finished) return kInterrupted;
  print_summary(summary);
  return kDone;
}

}  // namespace

std::function<void(uint64_t, double)> reading_progress(Status& status) {
  return [&status, start = Clock::now()](uint64_t bytes, double share) {
    if (!status.due()) return;
    const auto size = static_cast<double>(bytes);
    status.show(share, fmt::format("reading  {}  {}/s", in_bytes(size),
                                   in_bytes(size / seconds_since(start))));
  };
}

std::unique_ptr<TrainData> read_data(const TrainPlan& plan, Status& status) {
  switch (plan.info->input) {
    case InputKind::kTable:
      return read_table(plan, status);
    case InputKind::kRatings:
      return read_ratings(plan, status);
    case InputKind::kText:
    case InputKind::kNone:
      break;
  }
  return read_text(plan, status);
}

TrainSummary train(Args args) {
  const auto start = Clock::now();
  const std::optional<uint64_t> available = available_memory();
  Interrupts interrupts;
  TrainSummary out;
  out.plan = make_plan(args);
  const TrainPlan& plan = out.plan;
  Status status(plan.options.quiet);
  check_places(plan);
  if (!plan.options.max_memory.empty()) parse_size("max-memory", plan.options.max_memory);
  if (plan.chosen) report_choice(plan.files.front(), *plan.info, plan.corpus, status);
  if (!plan.checkpoint && fs::exists(plan.checkpoint_path())) {
    status.warning(
        fmt::format("{} is left from an unfinished run; --resume would go on from it, "
                    "and the next checkpoint replaces it",
                    plan.checkpoint_path()));
  }

  Job job;
  job.threads = thread_count(plan.options.threads);
  job.seed = static_cast<uint64_t>(plan.run.seed);
  job.deterministic = plan.run.deterministic;
  const std::unique_ptr<TrainData> data = read_data(plan, status);
  check_memory(plan, *data, job, available, status);
  Checkpoints checkpoints(plan, metadata_of(plan, *data), status);
  if (plan.checkpoint) checkpoints.resume();
  interrupts.guard(job);
  out.unit = data->unit();
  out.next = data->next();
  out.size = data->size();
  out.vectors = data->vectors();
  try {
    out.finished = train_and_save(out, *data, job, checkpoints, status);
  } catch (const Error& e) {
    if (checkpoints.own() && e.kind() != ErrorKind::kDiverged) {
      status.line(labelled("note", fmt::format("{} is kept; once the cause is gone, go on with",
                                               plan.checkpoint_path())));
      status.line("  " + resume_command(args));
    }
    throw;
  }
  out.seconds = seconds_since(start);
  if (!out.finished) {
    say("kith: interrupted; {} is kept, go on with", plan.checkpoint_path());
    say("  {}", resume_command(args));
  }
  return out;
}

const Command kTrain{
    "train",
    "[MODEL] FILE...",
    "learn vectors from data",
    {"kith train corpus.txt",
     "kith train word2vec news.txt.zst more.txt -o news.kith --tokens words --dim 200",
     "kith train als ratings.dat -o films.kith --dim 100"},
    "Files are text, CSV, TSV, JSON or SQLite, plain, gzip or zstd; - is standard input, "
    "postgresql://... a database. Without MODEL, Kith looks at the "
    "data and says which it takes. Ctrl-C keeps a checkpoint; the same command with --resume "
    "goes on from it.",
    train_sections,
    run_train,
};

}  // namespace kith::cli
