// SPDX-License-Identifier: Apache-2.0
// info, models, version: what is in a file, and in this program.
#include <filesystem>

#include "commands.h"
#include "core/error.h"
#include "json.h"
#include "model_file.h"

namespace kith::cli {
namespace {

struct InfoOptions {
  bool json = false;
  bool toml = false;

  static constexpr std::tuple fields{
      field("json", &InfoOptions::json, "print JSON"),
      field("toml", &InfoOptions::toml, "print the settings of the run, for kith train --config"),
  };
};

struct ListOptions {
  bool json = false;

  static constexpr std::tuple fields{
      field("json", &ListOptions::json, "print JSON, with all settings"),
  };
};

struct NoOptions {
  static constexpr std::tuple<> fields{};
};

int run_info(Args args) {
  InfoOptions options;
  const std::vector<std::string> words = parse(args, options);
  if (words.size() != 1) misused(kInfo, "info needs one model");
  const std::string& path = words[0];
  const OpenModel opened = open_model(path);
  const auto run = opened.metadata.find("run");
  if (options.toml) {
    if (run == opened.metadata.end()) {
      throw Error(ErrorKind::kInput, "{}: a {} model, which no run of kith train made", path,
                  opened.kind);
    }
    put_text(run->second);
    return kDone;
  }
  const std::vector<Fact> facts = opened.model->info();
  if (options.json) {
    Json out{{"file", path}, {"model", opened.kind}, {"words", opened.model->names().size()}};
    for (const Fact& f : facts) out["facts"][f.name] = f.value;
    for (const auto& [key, value] : opened.metadata) out["metadata"][key] = value;
    put_json(out);
    return kDone;
  }
  std::vector<std::vector<std::string>> rows{{"model", opened.kind}};
  for (const Fact& f : facts) rows.push_back({f.name, printable(f.value)});
  for (const auto& [key, value] : opened.metadata) {
    if (key.starts_with("corpus.") || key == "version" || key.starts_with("imported.")) {
      rows.push_back({key, printable(value)});
    }
  }
  std::error_code none;
  rows.push_back({"file", in_bytes(static_cast<double>(std::filesystem::file_size(path, none)))});
  put("{}\n", styled(Stream::kOut, Look::kBold, path));
  put_text(table(rows, "<<"));
  if (run != opened.metadata.end() && is_terminal(Stream::kOut)) {
    say("its settings: {} info {} --toml", program, shell_quoted(path));
  }
  return kDone;
}

std::string_view input_of(const ModelInfo& info) {
  switch (info.input) {
    case InputKind::kText:
      return "text";
    case InputKind::kTable:
      return "table";
    case InputKind::kRatings:
      return "ratings";
    case InputKind::kNone:
      break;
  }
  return "none";
}

Json json_of(const FieldInfo& f) {
  Json out{{"name", f.name}, {"type", f.type}, {"default", f.default_text}, {"help", f.help}};
  if (!f.choices.empty()) out["choices"] = f.choices;
  return out;
}

int run_models(Args args) {
  ListOptions options;
  if (!parse(args, options).empty()) misused(kModels, "models takes no words");
  if (options.json) {
    Json all = Json::array();
    for (const ModelInfo& info : models()) {
      const auto model = info.make();
      Json settings = Json::array();
      for (const FieldInfo& f : model->settings().fields) settings.push_back(json_of(f));
      all.push_back({{"name", info.name},
                     {"summary", info.summary},
                     {"input", input_of(info)},
                     {"settings", std::move(settings)}});
    }
    put_json(all);
    return kDone;
  }
  std::vector<std::vector<std::string>> rows;
  for (const ModelInfo& info : models()) {
    rows.push_back(
        {std::string(info.name), std::string(input_of(info)), std::string(info.summary)});
  }
  put_text(table(rows, "<<<"));
  if (is_terminal(Stream::kOut)) say("the settings of one: {} help word2vec", program);
  return kDone;
}

int run_version(Args) {
  put("kith {}\n", kVersion);
  return kDone;
}

}  // namespace

const Command kInfo{
    "info",
    "MODEL",
    "tell what is in a model file",
    {"kith info words.kith", "kith info words.kith --json",
     "kith info words.kith --toml > run.toml && kith train corpus.txt --config run.toml"},
    "",
    sections_of<InfoOptions>,
    run_info,
};

const Command kModels{
    "models",
    "",
    "list the models that can be trained",
    {"kith models", "kith models --json", "kith help word2vec"},
    "",
    sections_of<ListOptions>,
    run_models,
};

const Command kVersionCommand{
    "version",
    "",
    "print the version",
    {"kith version", "kith --version", "kith models"},
    "",
    sections_of<NoOptions>,
    run_version,
};

}  // namespace kith::cli
