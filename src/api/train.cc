// SPDX-License-Identifier: Apache-2.0
// From data to a model file: read, check, train, keep checkpoints, check again, save.
#include "kith/train.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "api/evaluate.h"
#include "api/opened.h"
#include "api/plan.h"
#include "api/self_check.h"
#include "api/training.h"
#include "core/error.h"
#include "data/table/schema_file.h"
#include "kith/text.h"
#include "models/popularity.h"
#include "models/remarks.h"
#include "models/tells_error.h"

namespace kith {
namespace {

namespace fs = std::filesystem;

// Refuses what cannot end well.
void check_memory(const Plan::Impl& plan, const Dataset& data, const Job& job, Observer* observer) {
  const MemoryLimit limit = plan.limit();
  Memory memory;
  memory.needed = data.bytes() + plan.model->memory_needed(data, job);
  memory.asked = limit.asked;
  memory.limit = limit.bytes;
  limit.check(memory.needed, "training", data.kind());
  if (observer) observer->on(memory);
}

// What the file says beyond the model itself. Nothing here may depend on time, machine or number
// of threads: a deterministic run gives the same file wherever vector_instructions() are the same.
std::map<std::string, std::string> metadata_of(const Plan::Impl& plan, const Dataset& data) {
  std::map<std::string, std::string> out = data.metadata();
  out["run"] = plan.settings;
  out["fingerprint"] = fmt::format("{:016x}", data.fingerprint());
  return out;
}

// What a run goes on from was made from these data.
void check_same_data(const Plan::Impl& plan, const std::string& where, const std::string& stored,
                     const std::map<std::string, std::string>& metadata) {
  if (stored == metadata.at("fingerprint")) return;
  throw fault(ErrorKind::kInput,
              "{}: made from other data than {}; resume with the very same {}, or start over "
              "without --resume",
              where, shown_source(plan.sources.front()),
              is_database(plan.sources.front())
                  ? "rows in the same order (a primary key, or ORDER BY in the query)"
                  : "files");
}

// The checkpoint of this run. One that another run left under the same name is not touched before
// there is a new one, and never loaded.
class Checkpoints {
 public:
  Checkpoints(const Plan::Impl& plan, const std::map<std::string, std::string>& metadata,
              Observer* observer)
      : plan_(plan), metadata_(metadata), observer_(observer) {}

  void resume() {
    check_same_data(plan_, plan_.checkpoint_path(), plan_.checkpoint->metadata_at("fingerprint"),
                    metadata_);
    restore_checkpoint(*plan_.model, plan_.info->name, *plan_.checkpoint);
    own_ = true;
  }
  void write() {
    save_model(*plan_.model, plan_.info->name, plan_.checkpoint_path(), true, metadata_);
    own_ = true;
    since_.restart();
    if (observer_) observer_->on(Checkpoint{plan_.checkpoint_path(), ""});
  }
  void write_if_due(const Progress& p) {
    const auto every = static_cast<double>(plan_.options.checkpoint_every);
    if (every == 0 || p.done >= p.total || since_.seconds() < every) return;
    try {
      write();
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::kDiverged) throw;  // the trainer rolls back
      // The work goes on: the last checkpoint is whole, and the disk may have room again later.
      since_.restart();
      if (observer_) observer_->on(Checkpoint{plan_.checkpoint_path(), e.what()});
    }
  }
  void remove() {
    std::error_code none;
    if (own_) fs::remove(plan_.checkpoint_path(), none);
  }
  bool own() const { return own_; }

 private:
  const Plan::Impl& plan_;
  const std::map<std::string, std::string>& metadata_;
  Observer* observer_;
  Stopwatch since_;
  bool own_ = false;  // written or resumed by this run
};

// As what a held-out loss is told.
double held_out_told(const ModelBase& model, double loss) {
  const auto* const telling = dynamic_cast<const TellsError*>(&model);
  return telling ? telling->error_of(loss) : loss;
}
void take_held_out(const ModelBase& model, Trained& out) {
  const RunState& state = model.state();
  if (state.held_out.empty()) return;
  const auto* const telling = dynamic_cast<const TellsError*>(&model);
  out.first_held_out = telling ? telling->error_before() : state.held_out.front();
  out.held_out = telling ? telling->error_now() : state.held_out_now();
}

void tell_what_is_held_out(const ModelBase& model, Observer* observer) {
  const auto* const telling = dynamic_cast<const TellsError*>(&model);
  const std::string name = telling ? telling->error_name() : "";
  if (observer && !name.empty()) observer->on(Note{Note::Level::kNote, "held-out is " + name});
}

// Whoever asks to stop when all is learned goes without them, and not without the model.
void tell_examples(const ModelBase& model, const Job& job, Observer& observer) {
  try {
    observer.on(examples_of(model, job.seed, job));
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kCancelled) throw;
  }
}

// What stopping early would have kept, if the last epoch is kept and is not the best. The patience
// is the least with which a run comes as far as that. Rankings are left out: they are best once the
// learning rate has fallen, and a run that is stopped before that ranks worse for all it was best.
void tell_of_better_epoch(ModelBase& model, Observer& observer) {
  const RunState& state = model.state();
  const std::vector<double>& losses = state.held_out;
  if (state.kept || losses.size() < 3 || !model.settings().find("early-stop")) return;
  const auto* const ranking = dynamic_cast<const BesidePopularity*>(&model);
  if (ranking && ranking->popularity_held_out()) return;
  const auto best = std::min_element(losses.begin() + 1, losses.end());
  const std::string then = fmt::format("{:.4f}", held_out_told(model, *best)),
                    now = fmt::format("{:.4f}", held_out_told(model, losses.back()));
  if (then == now) return;
  int64_t patience = 1;
  for (auto record = losses.begin() + 1, at = record; at <= best; ++at) {
    if (*at >= *record) continue;
    patience = std::max<int64_t>(patience, at - record);
    record = at;
  }
  observer.on(
      Note{Note::Level::kHint,
           fmt::format("the held-out loss was lowest after epoch {} ({}; now {}), and --early-stop "
                       "{} would keep that epoch; other measures may be better now: compare them "
                       "with eval",
                       best - losses.begin(), then, now, patience)});
}

// A list for everybody takes no training; a model that ranks no better has learned nothing of use.
void tell_of_popularity(const ModelBase& model, std::string_view name, Observer& observer) {
  const auto* const ranking = dynamic_cast<const BesidePopularity*>(&model);
  const auto popular = ranking ? ranking->popularity_held_out() : std::nullopt;
  const auto own = model.state().held_out_now();
  if (!popular || !own || *own < *popular) return;
  observer.on(
      Note{Note::Level::kHint,
           fmt::format("a list of the most popular items ranks what was held out {} ({:.4f}, "
                       "this model {:.4f}; 0 is best); {}, and compare them with kith eval",
                       *own > *popular ? "better" : "as well", *popular, *own, instead_of(name))});
}

// Trains and saves; true if it came to its end.
bool train_and_save(Plan::Impl& plan, Dataset& data, Job& job, Checkpoints& checkpoints,
                    const std::map<std::string, std::string>& metadata, Observer* observer,
                    Trained& out) {
  TrainingReport report(observer, out.unit, out.size, plan.checkpoint.has_value(),
                        [&](double loss) { return held_out_told(*plan.model, loss); });
  bool told = false;
  job.on_progress = [&](const Progress& p) {
    if (p.held_out && !std::exchange(told, true)) tell_what_is_held_out(*plan.model, observer);
    report.update(p);
    checkpoints.write_if_due(p);
  };
  job.on_trial = [&](const TrialRun& t) {
    if (observer) observer->on(Attempt{t.number, t.total, t.share, t.text, t.better});
  };
  const Stopwatch watch;
  plan.model->fit(data, job, true);
  out.training = watch.seconds();
  out.loss = report.loss();
  out.epochs = report.epochs_done();
  out.per_second = report.per_second();
  out.curve = report.take_curve();
  take_held_out(*plan.model, out);
  out.curve.before = out.first_held_out;
  if (!plan.model->finished()) {
    checkpoints.write();
    return false;
  }
  out.loss = plan.model->state().loss;  // of what was kept
  plan.model->check_loadable();
  if (const auto* const vectors = dynamic_cast<const HasVectors*>(plan.model.get())) {
    out.vectors = 0;
    for (const VectorGroup& g : vectors->vectors_of({})) out.vectors += g.names->size();
  }
  const auto* const remarks = dynamic_cast<const Remarks*>(plan.model.get());
  if (remarks && observer) {
    for (const Note& n : remarks->remarks()) observer->on(n);
  }
  if (observer) tell_of_better_epoch(*plan.model, *observer);
  if (observer) tell_of_popularity(*plan.model, plan.info->name, *observer);
  if (observer) tell_examples(*plan.model, job, *observer);
  save_model(*plan.model, plan.info->name, plan.options.output, false, metadata);
  checkpoints.remove();
  // What an earlier model under this name said of its columns.
  const bool of_rows = dynamic_cast<const CompletesRows*>(plan.model.get()) != nullptr;
  const auto note = of_rows ? std::nullopt : retire_schema(plan.schema_path());
  if (note && observer) observer->on(*note);
  return true;
}

bool has_target(const ModelBase& model) {
  const auto* const rows = dynamic_cast<const CompletesRows*>(&model);
  return dynamic_cast<const Classifies*>(&model) || (rows && rows->target() != Encoding::npos);
}

// There is nothing left to do, if it is this run that made the model.
Trained finished_before(const Plan::Impl& plan, const std::map<std::string, std::string>& metadata,
                        Trained out, Observer* observer) {
  const auto& stored = plan.finished->metadata();
  const auto fingerprint = stored.find("fingerprint");
  check_same_data(plan, out.output, fingerprint == stored.end() ? "" : fingerprint->second,
                  metadata);
  out.finished = out.before = true;
  const ModelBase& model = plan.finished->impl().whole();
  const RunState& state = model.state();
  out.target = has_target(model);
  out.loss = state.loss;
  take_held_out(model, out);
  if (observer) {
    observer->on(Note{Note::Level::kNote, out.output +
                                              " was finished with these settings and these data; "
                                              "to train it again, leave out --resume"});
  }
  return out;
}

}  // namespace

Trained train(Plan planned, Context& context, Observer* observer) {
  const Stopwatch watch;
  Plan::Impl& plan = planned.impl();
  Job job(context);
  job.seed = static_cast<uint64_t>(plan.run.seed);
  job.deterministic = plan.run.deterministic;
  const std::unique_ptr<Dataset> data = read_data(plan, context, observer);
  // The data may be given up on the way.
  const std::map<std::string, std::string> metadata = metadata_of(plan, *data);
  Trained out;
  out.model = plan.info->name;
  out.output = plan.options.output;
  out.unit = data->profile().unit;
  out.example = data->example();
  out.rates = dynamic_cast<const Ranks*>(plan.model.get()) != nullptr;
  out.divides = dynamic_cast<const HasClusters*>(plan.model.get()) != nullptr;
  out.topics = dynamic_cast<const Topics*>(plan.model.get()) != nullptr;
  out.size = data->size();
  out.vectors = data->vectors();
  if (plan.finished) return finished_before(plan, metadata, std::move(out), observer);
  check_memory(plan, *data, job, observer);
  Checkpoints checkpoints(plan, metadata, observer);
  if (plan.checkpoint) checkpoints.resume();
  try {
    out.finished = train_and_save(plan, *data, job, checkpoints, metadata, observer, out);
  } catch (const Error& e) {
    if (checkpoints.own() && e.kind() != ErrorKind::kDiverged && observer) {
      observer->on(Note{
          Note::Level::kNote,
          plan.checkpoint_path() + " is kept; once the cause is gone, --resume continues from it"});
    }
    throw;
  }
  out.target = has_target(*plan.model);
  out.seconds = watch.seconds();
  return out;
}

}  // namespace kith
