// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "core/error.h"
#include "model_file.h"
#include "train.h"

namespace kith::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kDefaultModel = "word2vec";

// The last text given for a setting, before any of them is applied.
std::string text_of(std::span<const Setting> settings, std::string_view name) {
  std::string out;
  for (const Setting& s : settings) {
    if (s.name == name) out = detail::convert<std::string>(name, s.value);
  }
  return out;
}

bool flag_of(std::span<const Setting> settings, std::string_view name) {
  bool out = false;
  for (const Setting& s : settings) {
    if (s.name == name) out = detail::convert<bool>(name, s.value);
  }
  return out;
}

bool is_model(std::string_view name) {
  return std::ranges::any_of(models(), [&](const ModelInfo& m) { return m.name == name; });
}

// Takes the model's name off the front, if the user gave one.
std::string take_model_name(std::vector<std::string>& words) {
  if (words.empty()) misused(kTrain, "train needs a file to learn from");
  std::string first = words.front();
  if (is_model(first)) {
    words.erase(words.begin());
    if (words.empty()) {
      misused(kTrain, fmt::format("train {} needs a file to learn from", first));
    }
    return first;
  }
  std::error_code none;
  if (first == "-" || fs::exists(first, none)) return "";
  std::vector<std::string_view> names;
  for (const ModelInfo& m : models()) names.push_back(m.name);
  const std::string nearest = suggest(first, names);
  if (words.size() > 1 && first.find_first_of("./") == std::string::npos) {
    throw Error(ErrorKind::kUsage, "unknown model {}{}", first,
                nearest.empty() ? "; kith models lists them" : nearest);
  }
  throw Error(nearest.empty() ? ErrorKind::kIo : ErrorKind::kUsage,
              "{}: there is no file and no model of this name{}", first, nearest);
}

// corpora/news.txt.gz -> news.kith, here.
std::string default_output(const std::string& input) {
  fs::path path = fs::path(input).filename();
  if (input == "-" || path.empty()) return "vectors.kith";
  const fs::path end = path.extension();
  if (end == ".gz" || end == ".zst" || end == ".zstd") path = path.stem();
  if (path.extension() != ".kith") path = path.stem();
  return path.string() + ".kith";
}

std::string choose_kind(const std::string& named, const std::string& stored,
                        const std::string& where) {
  if (stored.empty()) return named.empty() ? std::string(kDefaultModel) : named;
  if (!named.empty() && named != stored) {
    throw Error(ErrorKind::kUsage, "{} holds a {} model; it cannot go on as {}", where, stored,
                named);
  }
  return stored;
}

std::vector<Setting> user_settings(const Arguments& arguments, std::string_view table) {
  std::vector<Setting> out;
  if (const std::string config = text_of(arguments.settings, "config"); !config.empty()) {
    if (!fs::is_regular_file(config)) {
      throw Error(ErrorKind::kIo, "{}: there is no such file to read settings from", config);
    }
    out = settings_from_toml(config, table);
  }
  out.insert(out.end(), arguments.settings.begin(), arguments.settings.end());
  return out;
}

std::map<std::string, std::string> values_of(std::span<const Section> sections) {
  std::map<std::string, std::string> out;
  for (const Section& s : sections) {
    for (const FieldInfo& f : s.fields) out[std::string(f.name)] = s.get(f.name);
  }
  return out;
}

// Applies what the user said on top of what is stored; it may repeat, not contradict.
void apply_agreeing(std::span<const Setting> said, std::span<const Section> all,
                    std::span<const Section> stored, const std::string& where) {
  const auto before = values_of(stored);
  kith::apply(said, all);
  for (const auto& [name, value] : values_of(stored)) {
    if (value == before.at(name)) continue;
    throw Error(ErrorKind::kUsage,
                "--{} {} contradicts {} = {} in {}; leave it out, or start anew without --resume",
                name, shell_quoted(value), name, shell_quoted(before.at(name)), where);
  }
}

Archive open_checkpoint(const std::string& path) {
  if (!fs::exists(path)) {
    throw Error(ErrorKind::kIo, "{}: there is no such checkpoint to resume; start without --resume",
                path);
  }
  Archive archive = Archive::open(path);
  if (!archive.metadata().contains("checkpoint")) {
    throw Error(ErrorKind::kInput, "{}: a finished model, not a checkpoint", path);
  }
  return archive;
}

Vocabulary vocabulary_of(const Model& model) {
  return {model.names(), {model.counts().begin(), model.counts().end()}};
}

// A model that was trained before: its settings, and those of the text it was trained on, are the
// defaults of the new run.
void start_from(TrainPlan& plan, OpenModel opened, std::span<const Setting> said) {
  plan.base = vocabulary_of(*opened.model);
  plan.model = std::move(opened.model);
  plan.model->reopen();
  const Section own = plan.model->settings();
  const std::vector<Section> all{{"", plan.options}, {"", plan.run}, {"", plan.corpus}, own};
  if (const auto run = opened.metadata.find("run"); run != opened.metadata.end()) {
    std::vector<Setting> stored = settings_from_toml_text(run->second, plan.run.from);
    std::erase_if(stored, [&](const Setting& s) {
      return std::ranges::any_of(all[1].fields, [&](const auto& f) { return f.name == s.name; });
    });
    kith::apply(stored, all);
  }
  const auto before = values_of({&own, 1});
  kith::apply(said, all);
  if (const auto dim = before.find("dim"); dim != before.end() && own.get("dim") != dim->second) {
    throw Error(ErrorKind::kUsage, "--dim {} contradicts dim = {} of {}; leave it out",
                own.get("dim"), dim->second, plan.run.from);
  }
}

void start_from_checkpoint(TrainPlan& plan, std::span<const Setting> said) {
  plan.model = plan.info->make();
  const std::vector<Section> stored{{"", plan.run}, {"", plan.corpus}, plan.model->settings()};
  std::vector<Section> all = stored;
  all.emplace_back("", plan.options);
  const std::string where = plan.checkpoint->where();
  kith::apply(settings_from_toml_text(plan.checkpoint->metadata_at("run"), where), stored);
  apply_agreeing(said, all, stored, where);
  if (!plan.run.from.empty()) plan.base = vocabulary_of(*open_model(plan.run.from).model);
}

}  // namespace

std::vector<Section> train_sections(std::string_view name) {
  static TrainOptions options;
  static RunOptions run;
  static CorpusOptions corpus;
  static const auto all = [] {
    std::vector<std::pair<const ModelInfo*, std::unique_ptr<Model>>> out;
    for (const ModelInfo& info : models()) {
      if (info.input != InputKind::kNone) out.emplace_back(&info, info.make());
    }
    return out;
  }();
  std::vector<Section> out{{"Options", options}, {"The run", run}, {"The text", corpus}};
  for (const auto& [info, model] : all) {
    if (name.empty() || info->name == name) out.push_back(model->settings());
  }
  return out;
}

TrainPlan make_plan(Args args) {
  // Which flags there are depends on the model, and where the model stands among the words depends
  // on which flags take a value: so read once with the flags of all models, then with its own.
  const Arguments first = parse_arguments(args, train_sections(""));
  TrainPlan plan;
  plan.files = first.positional;
  const std::string named = take_model_name(plan.files);
  if (!named.empty() && model(named).input == InputKind::kNone) model(named).make()->reopen();

  const std::vector<Setting> early = user_settings(first, named);
  plan.options.output = text_of(early, "output");
  if (plan.options.output.empty()) plan.options.output = default_output(plan.files.front());
  const std::string output = plan.options.output;

  std::optional<OpenModel> opened;
  std::string stored_kind, where;
  if (flag_of(early, "resume")) {
    where = plan.checkpoint_path();
    plan.checkpoint = open_checkpoint(where);
    stored_kind = plan.checkpoint->metadata_at("model");
  } else if (where = text_of(early, "from"); !where.empty()) {
    opened = open_model(where);
    stored_kind = opened->kind;
  }
  plan.info = &model(choose_kind(named, stored_kind, where));
  plan.chosen = named.empty() && stored_kind.empty();

  const Arguments exact = parse_arguments(args, train_sections(plan.info->name));
  const std::vector<Setting> said = user_settings(exact, plan.info->name);
  if (plan.checkpoint) {
    start_from_checkpoint(plan, said);
  } else if (opened) {
    plan.run.from = where;
    start_from(plan, std::move(*opened), said);
  } else {
    plan.model = plan.info->make();
    const std::vector<Section> all{
        {"", plan.options}, {"", plan.run}, {"", plan.corpus}, plan.model->settings()};
    kith::apply(said, all);
  }
  plan.options.output = output;
  const std::vector<Section> kept{{"", plan.run}, {"", plan.corpus}, plan.model->settings()};
  plan.settings = to_toml(kept);
  return plan;
}

}  // namespace kith::cli
