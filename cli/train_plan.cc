// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include "core/error.h"
#include "data/rating_columns.h"
#include "model_file.h"
#include "models/table_model.h"
#include "train.h"

namespace kith::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kTextModel = "word2vec", kTableModel = "feat2vec", kRatingsModel = "als";

// Whether it looks like a table: by its name, or for a database by its first bytes.
bool looks_like_table(const std::string& path) {
  if (is_database(path)) return true;
  fs::path name = fs::path(path).filename();
  const fs::path end = name.extension();
  if (end == ".gz" || end == ".zst" || end == ".zstd") name = name.stem();
  constexpr std::array<std::string_view, 8> kEnds{".csv",    ".tsv", ".json",   ".jsonl",
                                                  ".ndjson", ".db",  ".sqlite", ".sqlite3"};
  return std::ranges::find(kEnds, name.extension().string()) != kEnds.end();
}

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
  if (first == "-" || is_database(first) || fs::exists(first, none)) return "";
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
  if (is_database(input)) return "table.kith";
  fs::path path = fs::path(input).filename();
  if (input == "-" || path.empty()) return "vectors.kith";
  const fs::path end = path.extension();
  if (end == ".gz" || end == ".zst" || end == ".zstd") path = path.stem();
  if (path.extension() != ".kith") path = path.stem();
  return path.string() + ".kith";
}

std::string choose_kind(const std::string& named, const std::string& stored,
                        const std::string& where, const std::string& file) {
  if (stored.empty()) {
    if (!named.empty()) return named;
    if (looks_like_ratings(file)) return std::string(kRatingsModel);
    return std::string(looks_like_table(file) ? kTableModel : kTextModel);
  }
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

// What the model to go on from knows already.
void set_base(TrainPlan& plan, const Model& model) {
  if (const auto* table = dynamic_cast<const TableModel*>(&model)) {
    plan.base_encoding = table->encoding();
  } else {
    plan.base = Vocabulary{model.names(), {model.counts().begin(), model.counts().end()}};
  }
}

// A model that was trained before: its settings, and those of the text it was trained on, are the
// defaults of the new run.
void start_from(TrainPlan& plan, OpenModel opened, std::span<const Setting> said) {
  set_base(plan, *opened.model);
  plan.model = std::move(opened.model);
  plan.model->reopen();
  const Section own = plan.model->settings();
  std::vector<Section> all = plan.kept();
  all.emplace_back("", plan.options);
  const Section of_run("", plan.run);
  if (const auto run = opened.metadata.find("run"); run != opened.metadata.end()) {
    std::vector<Setting> stored = settings_from_toml_text(run->second, plan.run.from);
    std::erase_if(stored, [&](const Setting& s) {
      return std::ranges::any_of(of_run.fields, [&](const auto& f) { return f.name == s.name; });
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
  const std::vector<Section> stored = plan.kept();
  std::vector<Section> all = stored;
  all.emplace_back("", plan.options);
  const std::string where = plan.checkpoint->where();
  kith::apply(settings_from_toml_text(plan.checkpoint->metadata_at("run"), where), stored);
  apply_agreeing(said, all, stored, where);
  if (!plan.run.from.empty()) set_base(plan, *open_model(plan.run.from).model);
}

}  // namespace

std::vector<Section> train_sections(std::string_view name) {
  static TrainOptions options;
  static RunOptions run;
  static CorpusOptions corpus;
  static TableOptions table_options;
  static TableUse table;
  static RatingsOptions ratings_options;
  static RatingsUse ratings;
  static const auto all = [] {
    std::vector<std::pair<const ModelInfo*, std::unique_ptr<Model>>> out;
    for (const ModelInfo& info : models()) {
      if (info.input != InputKind::kNone) out.emplace_back(&info, info.make());
    }
    return out;
  }();
  std::vector<Section> out{{"Options", options}, {"The run", run}};
  const auto wanted = [&](InputKind kind) {
    return name.empty() || kith::model(name).input == kind;
  };
  if (wanted(InputKind::kText)) out.emplace_back("The text", corpus);
  if (wanted(InputKind::kTable) || wanted(InputKind::kRatings)) {
    out.emplace_back("The table", table_options);
  }
  if (wanted(InputKind::kTable)) out.emplace_back("Its columns", table);
  if (wanted(InputKind::kRatings)) {
    out.emplace_back("The ratings", ratings_options);
    out.emplace_back("Of the ratings", ratings);
  }
  for (const auto& [info, model] : all) {
    if (name.empty() || info->name == name) out.push_back(model->settings());
  }
  return out;
}

std::vector<Section> TrainPlan::kept() {
  std::vector<Section> out{{"", run}};
  if (info->input == InputKind::kTable) {
    out.emplace_back("", table_options);
    out.emplace_back("", table);
  } else if (info->input == InputKind::kRatings) {
    out.emplace_back("", table_options);
    out.emplace_back("", ratings_options);
    out.emplace_back("", ratings);
  } else {
    out.emplace_back("", corpus);
  }
  out.push_back(model->settings());
  return out;
}

bool is_database(std::string_view source) {
  return source.starts_with("postgresql://") || source.starts_with("postgres://");
}

std::string shown_source(std::string_view source) {
  std::string out(source);
  if (!is_database(source)) return out;
  const size_t user = out.find("://") + 3, end = std::min(out.find('/', user), out.size());
  const size_t at = out.rfind('@', end), colon = out.find(':', user);
  if (at != std::string::npos && at > user && colon < at) {
    out.replace(colon, at - colon, ":PASSWORD");
  }
  const size_t secret = out.find("password=");
  if (secret != std::string::npos) {
    out.replace(secret + 9, std::min(out.find('&', secret), out.size()) - secret - 9, "PASSWORD");
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
  plan.info = &model(choose_kind(named, stored_kind, where, plan.files.front()));
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
    std::vector<Section> all = plan.kept();
    all.emplace_back("", plan.options);
    kith::apply(said, all);
  }
  plan.options.output = output;
  plan.settings = to_toml(plan.kept());
  return plan;
}

}  // namespace kith::cli
