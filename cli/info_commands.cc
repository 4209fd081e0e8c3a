// SPDX-License-Identifier: Apache-2.0
// info, models, version: what is in a file, and in this program.
#include <filesystem>

#include "commands.h"
#include "json.h"
#include "kith/kith.h"

namespace kith::cli {
namespace {

struct InfoOptions {
  bool toml = false;
  std::string plot{};

  static constexpr std::tuple fields{
      field("toml", &InfoOptions::toml, "print the settings of the run, for kith train --config"),
      field("plot", &InfoOptions::plot,
            "pca: write a picture of what each component explains (SVG)"),
  };
};

Json json_of(const Model& model) {
  Json out{{"file", model.path()}, {"model", model.kind()}};
  for (const Fact& f : model.facts()) {
    out["facts"][f.name] = f.number ? number_in(f.value) : Json(f.value);
  }
  for (const auto& [key, value] : model.metadata()) out["metadata"][key] = value;
  return out;
}

int run_info(Args args) {
  Output output;
  InfoOptions options;
  const std::vector<std::string> words = parse(args, output, options);
  if (words.size() != 1) misused(kInfo, "info needs one model");
  const Model model = open(words[0]);
  const std::string run = model.run_settings();
  if (!options.plot.empty()) {
    check_output(options.plot, words);
    OutputFile file(options.plot);
    file.write(scree_plot(model));
    file.commit();
    if (!output.json && !options.toml) say("{}: a picture, for a browser", options.plot);
  }
  if (options.toml) {
    if (run.empty()) {
      throw Error(
          ErrorKind::kInput,
          fmt::format("{}: a {} model that kith train did not make, so it has no settings of a run",
                      model.path(), model.kind()));
    }
    put_text(run);
    return kDone;
  }
  if (output.json) {
    put_json(json_of(model));
    return kDone;
  }
  std::vector<std::vector<std::string>> rows{{"model", model.kind()}};
  for (const Fact& f : model.facts()) rows.push_back({f.name, printable(f.value)});
  for (const auto& [key, value] : model.metadata()) {
    const bool of_data = key.starts_with("corpus.") || key.starts_with("table.") ||
                         key.starts_with("source.") || key.starts_with("imported.");
    if (of_data || key == "version" || key == "compressed") rows.push_back({key, printable(value)});
  }
  std::error_code none;
  const auto size = std::filesystem::file_size(model.path(), none);
  rows.push_back({"file", in_bytes(static_cast<double>(size))});
  put("{}\n", styled(Stream::kOut, Look::kBold, model.path()));
  put_text(table(rows, "<<"));
  if (!run.empty() && is_terminal(Stream::kOut)) {
    say("its settings: {} info {} --toml", program, shell_quoted(model.path()));
  }
  return kDone;
}

Json json_of(const FieldInfo& f) {
  Json out{{"name", f.name}, {"type", f.type_text()}, {"default", f.default_text}};
  if (!f.automatic.empty()) out["auto"] = f.automatic;
  if (!f.choices.empty()) out["choices"] = f.choices;
  out["help"] = f.help;
  return out;
}

std::string_view data_of(const ModelDescription& m) { return m.data.empty() ? "none" : m.data; }

int run_models(Args args) {
  Output output;
  if (!parse(args, output).empty()) misused(kModels, "models takes no arguments");
  const std::vector<ModelDescription> models = available_models();
  if (output.json) {
    Json all = Json::array();
    for (const ModelDescription& m : models) {
      Json settings = Json::array();
      for (const FieldInfo& f : m.settings.fields) settings.push_back(json_of(f));
      all.push_back({{"name", m.name},
                     {"summary", m.summary},
                     {"input", data_of(m)},
                     {"settings", std::move(settings)}});
    }
    put_json(all);
    return kDone;
  }
  std::vector<std::vector<std::string>> rows;
  for (const ModelDescription& m : models) {
    rows.push_back({std::string(m.name), std::string(data_of(m)), std::string(m.summary)});
  }
  put_text(table(rows, "<<<"));
  if (is_terminal(Stream::kOut)) say("the settings of one: {} help word2vec", program);
  return kDone;
}

int run_version(Args args) {
  Output output;
  if (!parse(args, output).empty()) misused(kVersionCommand, "version takes no arguments");
  if (output.json) {
    put_json({{"version", kVersion}, {"vector_instructions", vector_instructions()}});
    return kDone;
  }
  put("kith {}\n", kVersion);
  put("vector instructions: {}\n", vector_instructions());
  return kDone;
}

}  // namespace

const Command kInfo{
    "info",
    "MODEL",
    "show what is in a model file",
    {"kith info words.kith", "kith info words.kith --json",
     "kith info words.kith --toml > run.toml && kith train corpus.txt --config run.toml"},
    "",
    groups_for<Output, InfoOptions>,
    run_info,
};

const Command kModels{
    "models",
    "",
    "list the models that can be trained",
    {"kith models", "kith models --json", "kith help word2vec"},
    "",
    groups_for<Output>,
    run_models,
};

const Command kVersionCommand{
    "version",
    "",
    "print the version",
    {"kith version", "kith --version", "kith version --json"},
    "",
    groups_for<Output>,
    run_version,
};

}  // namespace kith::cli
