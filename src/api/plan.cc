// SPDX-License-Identifier: Apache-2.0
#include "api/plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "api/opened.h"
#include "api/reading.h"
#include "core/error.h"
#include "data/table/table_readers.h"
#include "io/file.h"
#include "io/vector_formats.h"
#include "kith/files.h"
#include "kith/models.h"
#include "kith/text.h"

namespace kith {
namespace {

namespace fs = std::filesystem;

// The first model in the list that learns from such data.
const ModelInfo& model_of_kind(const DataKind& kind) {
  const auto all = models();
  return *std::ranges::find(all, &kind, &ModelInfo::data);
}

// corpora/news.txt.gz -> news.kith, here.
std::string default_output(const std::string& source) {
  if (is_database(source)) return "table.kith";
  fs::path path = name_unpacked(fs::path(source).filename().string());
  if (source == "-" || path.empty()) return "vectors.kith";
  if (path.extension() != ".kith") path = path.stem();
  return path.string() + ".kith";
}

bool holds_tensors(const std::string& path) {
  const auto source = open_source(path);
  const std::span<const char> start = source->next();
  return is_safetensors({start.data(), start.size()});
}

void check_sources(const std::vector<std::string>& sources) {
  if (sources.empty()) throw fault(ErrorKind::kUsage, "there is nothing to learn from");
  for (const std::string& source : sources) {
    std::error_code none;
    if (source == "-" || is_database(source)) continue;
    if (!fs::exists(source, none)) throw fault(ErrorKind::kIo, "{}: there is no such file", source);
    if (fs::is_directory(source, none)) {
      throw fault(ErrorKind::kIo, "{}: this is a folder; name the files in it", source);
    }
    if (fs::is_regular_file(source, none) && holds_tensors(source) &&
        seen_as(source).look.sure < 1) {
      throw fault(ErrorKind::kInput,
                  "{}: this is a model, not data to learn from; kith info shows what is in it, and "
                  "--from continues its training",
                  source);
    }
  }
}

// A file that says itself what it holds is not read as something else.
void check_kinds(const Plan::Impl& plan) {
  for (const std::string& source : plan.sources) {
    if (is_database(source) || is_sqlite_file(source)) continue;
    const SeenAs seen = seen_as(source);
    const DataKind& wanted = *plan.info->data;
    if (seen.kind == &wanted || seen.look.sure < 1 || seen.kind->name == wanted.takes) continue;
    const DataKind& kind = *seen.kind;
    std::vector<std::string_view> able;
    for (const ModelInfo& m : models()) {
      if (m.data == &kind) able.push_back(m.name);
    }
    throw fault(ErrorKind::kUsage, "{}: these are {}, and {} learns from {}; choose {}", source,
                kind.noun, plan.info->name, plan.info->data->noun, fmt::join(able, " or "));
  }
}

void check_places(const Plan::Impl& plan) {
  const std::string& output = plan.options.output;
  if (output == "-") {
    throw fault(ErrorKind::kUsage,
                "a model cannot be written to standard output: checkpoints are kept beside it; "
                "name a file with -o");
  }
  check_output(output, plan.sources);
  check_output(plan.checkpoint_path(), plan.sources);
}

std::string checkpoint_of(const std::string& output) { return output + ".checkpoint"; }

std::string text_setting(std::span<const Setting> settings, std::string_view name) {
  std::string out;
  for (const Setting& s : settings) {
    if (s.name == name) out = detail::convert<std::string>(name, s.value);
  }
  return out;
}

// A later auto takes back what was given.
std::vector<std::string> given_in(const TrainRequest& request) {
  std::vector<std::string> out;
  for (const Setting& s : request.settings) {
    std::string name = s.name;
    std::ranges::replace(name, '_', '-');
    std::erase(out, name);
    const auto* const value = std::get_if<std::string>(&s.value);
    if (!value || *value != "auto") out.push_back(std::move(name));
  }
  return out;
}

Archive open_checkpoint(const std::string& path) {
  Archive archive = Archive::open(path);
  if (!is_checkpoint(archive)) {
    throw fault(ErrorKind::kInput, "{}: a finished model, not a checkpoint", path);
  }
  return archive;
}

// Where a run goes on from, and with which model. One that is resumed goes on from its checkpoint;
// without one it has come to its end if the model is there, and has not begun if not, so that a
// script may say --resume whenever it runs.
struct Origin {
  std::string where, kind;
  std::optional<Archive> checkpoint;
  std::optional<Model> model, finished;
};
Origin origin_of(const TrainRequest& request, const std::string& output) {
  Origin out;
  const std::string from = text_setting(request.settings, "from");
  const std::string checkpoint = checkpoint_of(output);
  std::error_code none;
  if (request.options.resume && fs::exists(checkpoint)) {
    out.where = checkpoint;
    out.checkpoint = open_checkpoint(out.where);
    out.kind = kind_of(*out.checkpoint);
  } else if (request.options.resume && fs::is_regular_file(output, none) &&
             !fs::equivalent(from, output, none)) {  // a file that goes on from itself is no end
    out.where = output;
    out.finished = open(out.where);
    out.kind = out.finished->kind();
  } else if (!from.empty()) {
    out.where = from;
    out.model = open(out.where);
    out.kind = out.model->kind();
  }
  return out;
}

// The kind that a setting asks for, or what the first source looks like.
SeenAs kind_wanted(const TrainRequest& request) {
  for (const DataKind* kind : data_kinds()) {
    if (!kind->chosen_by.empty() && !text_setting(request.settings, kind->chosen_by).empty()) {
      return {kind, {}};
    }
  }
  return seen_as(request.sources.front(), text_setting(request.settings, "query"));
}

// `why`: what was seen of the data, if it was them that chose.
std::string choose_model(const TrainRequest& request, const Origin& origin, std::string& why) {
  if (origin.kind.empty()) {
    if (!request.model.empty()) return request.model;
    SeenAs seen = kind_wanted(request);
    why = std::move(seen.look.why);
    return std::string(model_of_kind(*seen.kind).name);
  }
  if (!request.model.empty() && request.model != origin.kind) {
    throw fault(ErrorKind::kUsage, "{} holds a {} model; it cannot go on as {}", origin.where,
                origin.kind, request.model);
  }
  return origin.kind;
}

std::map<std::string, std::string> values_of(std::span<const Section> sections) {
  std::map<std::string, std::string> out;
  for (const Section& s : sections) {
    for (const FieldInfo& f : s.fields) out[std::string(f.name)] = s.get(f.name);
  }
  return out;
}

// Applies what the caller said on top of what is stored; it may repeat, not contradict.
void apply_agreeing(std::span<const Setting> said, std::span<const Section> stored,
                    const std::string& where) {
  const auto before = values_of(stored);
  apply_settings(said, stored);
  for (const auto& [name, value] : values_of(stored)) {
    if (value == before.at(name)) continue;
    throw fault(ErrorKind::kUsage,
                "--{} {} contradicts {} = {} in {}; leave it out, or start over without --resume",
                name, shell_quoted(value), name, shell_quoted(before.at(name)), where);
  }
}

// A model that was trained before: its settings, and those of the data it was trained on, are the
// defaults of the new run.
void start_from(Plan::Impl& plan, const Model& from, std::span<const Setting> said) {
  const Model::Impl& opened = from.impl();
  const Asked asked = opened.asked("train --from");
  if (!opened.can<Continues>() && opened.can<Updates>()) {
    throw fault(ErrorKind::kUsage, "{} takes new data in with kith update",
                unanswered(asked, Continues::kWhat));
  }
  opened.ask<Continues>("train --from");
  plan.model = clone(opened.whole(), opened.kind);
  auto& going_on = require<Continues>(*plan.model, asked);
  plan.base = going_on.known();
  going_on.reopen();
  const std::vector<Section> of_data = plan.reader->settings();
  std::vector<Setting> stored = settings_from_toml_text(from.run_settings(), from.path());
  std::erase_if(stored, [&](const Setting& s) {
    return std::ranges::none_of(of_data, [&](const Section& d) { return d.find(s.name); });
  });
  apply_settings(stored, of_data);
  const Section own = plan.model->settings();
  const auto before = values_of({&own, 1});
  apply_settings(said, plan.kept());
  if (const auto dim = before.find("dim"); dim != before.end() && own.get("dim") != dim->second) {
    throw fault(ErrorKind::kUsage, "--dim {} contradicts dim = {} of {}; leave it out",
                own.get("dim"), dim->second, from.path());
  }
}

// The settings are those of a run that was begun before.
void start_again(Plan::Impl& plan, const std::string& run, const std::string& where,
                 std::span<const Setting> said) {
  plan.model = plan.info->make();
  const std::vector<Section> stored = plan.kept();
  apply_settings(settings_from_toml_text(run, where), stored);
  apply_agreeing(said, stored, where);
  if (plan.run.from.empty()) return;
  const Model from = open(plan.run.from);
  plan.base = from.impl().ask<Continues>("train --from").known();
}

void tell_of_checkpoint(const Plan::Impl& plan, Observer& observer) {
  const std::string path = plan.checkpoint_path();
  if (plan.options.resume && !plan.checkpoint && !plan.finished) {
    observer.on(Note{Note::Level::kNote,
                     path + ": there is none yet, so training starts from the beginning"});
  } else if (!plan.checkpoint && fs::exists(path)) {
    observer.on(
        Note{Note::Level::kWarning, path + " is left from an unfinished run; --resume continues "
                                           "it, else the next checkpoint replaces it"});
  }
}

const ModelInfo& trainable(std::string_view name) {
  const ModelInfo& out = model(name);
  if (out.data) return out;
  throw fault(ErrorKind::kUsage, "{} cannot be trained: they are {}", out.name, out.summary);
}

}  // namespace

std::vector<Section> Plan::Impl::kept() {
  std::vector<Section> out{{"The run", run}};
  for (Section& s : reader->settings()) out.push_back(std::move(s));
  out.push_back(model->settings());
  return out;
}

std::string Plan::Impl::checkpoint_path() const { return checkpoint_of(options.output); }

std::string Plan::Impl::scratch_folder() const {
  if (!options.scratch.empty()) return options.scratch;
  const auto folder = fs::path(options.output).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string Plan::Impl::schema_path() const {
  fs::path path = options.output;
  if (path.extension() == ".kith") path.replace_extension();
  return path.string() + ".schema.json";
}

MemoryLimit Plan::Impl::limit() const {
  if (options.max_memory.empty()) return {available, false};
  return {parse_size("max-memory", options.max_memory), true};
}

std::unique_ptr<Dataset> read_data(Plan::Impl& plan, const Context& context, Observer* observer) {
  const Stopwatch watch;
  ReadRequest request;
  request.sources = plan.sources;
  request.scratch = plan.scratch_folder();
  request.schema_path = plan.schema_path();
  request.wishes = plan.model->wishes();
  request.base = plan.base;
  auto out = read_watched(*plan.reader, std::move(request), context, observer, *plan.info->data,
                          plan.limit());
  if (observer) {
    Profile profile = out->profile();
    profile.seconds = watch.seconds();
    observer->on(profile);
  }
  return out;
}

std::vector<FieldGroup> train_settings(std::string_view name) {
  RunOptions run;
  std::vector<FieldGroup> out{Section("The run", run)};
  const auto add = [&](const std::vector<FieldGroup>& groups) {
    out.insert(out.end(), groups.begin(), groups.end());
  };
  if (!name.empty()) {
    const ModelInfo& info = trainable(name);
    add(groups_of(info.data->reader()->settings()));
    out.push_back(info.make()->settings());
    return out;
  }
  for (const DataKind* kind : data_kinds()) add(groups_of(kind->reader()->settings()));
  for (const ModelInfo& info : models()) {
    if (info.data) out.push_back(info.make()->settings());
  }
  return out;
}

std::vector<Setting> with_config(std::vector<Setting> settings, std::string_view model) {
  const std::string config = text_setting(settings, "config");
  if (config.empty()) return settings;
  if (!fs::is_regular_file(config)) {
    throw fault(ErrorKind::kIo, "{}: there is no such file to read settings from", config);
  }
  std::vector<std::string_view> names;
  for (const ModelInfo& m : models()) names.push_back(m.name);
  std::vector<Setting> out = settings_from_toml(config, model, names);
  out.insert(out.end(), settings.begin(), settings.end());
  return out;
}

std::string model_for(const TrainRequest& request) {
  check_sources(request.sources);
  const std::string output = request.options.output.empty()
                                 ? default_output(request.sources.front())
                                 : request.options.output;
  std::string why;
  return choose_model(request, origin_of(request, output), why);
}

Plan plan(const TrainRequest& request, Observer* observer) {
  auto out = std::make_unique<Plan::Impl>();
  out->available = available_memory();
  check_sources(request.sources);
  out->sources = request.sources;
  out->options = request.options;
  if (out->options.output.empty()) out->options.output = default_output(request.sources.front());
  if (!out->options.max_memory.empty()) parse_size("max-memory", out->options.max_memory);

  Origin origin = origin_of(request, out->options.output);
  std::string why;
  out->info = &trainable(choose_model(request, origin, why));
  out->chosen = request.model.empty() && origin.kind.empty();
  check_kinds(*out);
  out->reader = out->info->data->reader();
  if (origin.checkpoint) {
    out->checkpoint = std::move(origin.checkpoint);
    start_again(*out, out->checkpoint->metadata_at("run"), origin.where, request.settings);
  } else if (origin.finished) {
    out->finished = std::move(origin.finished);
    start_again(*out, out->finished->run_settings(), origin.where, request.settings);
  } else if (origin.model) {
    start_from(*out, *origin.model, request.settings);
  } else {
    out->model = out->info->make();
    apply_settings(request.settings, out->kept());
  }
  out->given = given_in(request);
  out->settings = to_toml(out->kept());
  check_places(*out);

  if (out->chosen && observer) {
    const std::string& source = out->sources.front();
    observer->on(Choice{source == "-" ? "standard input" : shown_source(source),
                        std::string(out->info->data->noun), std::string(out->info->name),
                        std::string(out->info->summary), why});
  }
  if (observer) tell_of_checkpoint(*out, *observer);
  return Plan(std::move(out));
}

Plan::Plan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;
std::string_view Plan::model() const { return impl_->info->name; }
std::string_view Plan::data() const { return impl_->info->data->name; }
const std::string& Plan::output() const { return impl_->options.output; }
std::string Plan::checkpoint_path() const { return impl_->checkpoint_path(); }
const std::string& Plan::settings() const { return impl_->settings; }
bool Plan::chosen() const { return impl_->chosen; }

}  // namespace kith
