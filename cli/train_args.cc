// SPDX-License-Identifier: Apache-2.0
#include "train_args.h"

#include <algorithm>
#include <filesystem>

#include "kith/text.h"
#include "terminal.h"

namespace kith::cli {
namespace {

namespace fs = std::filesystem;

// Takes the model's name off the front, if the user gave one. `from`: a model is named to begin
// with, which may be all that there is to learn from.
std::string take_model_name(const Command& command, std::vector<std::string>& words, bool from) {
  if (words.empty()) misused(command, fmt::format("{} needs a file to learn from", command.name));
  std::string first = words.front();
  if (is_model(first)) {
    words.erase(words.begin());
    if (words.empty() && !from) {
      misused(command, fmt::format("{} {} needs a file to learn from", command.name, first));
    }
    return first;
  }
  std::error_code none;
  const bool plain = first.find_first_of("./:") == std::string::npos;
  if (!plain || first == "-" || fs::exists(first, none)) return "";
  if (words.size() > 1) describe_model(first);  // no file and no model: says so
  std::vector<ModelDescription> models = available_models();
  std::vector<std::string_view> names;
  for (const ModelDescription& m : models) names.push_back(m.name);
  const std::string nearest = suggest(first, names);
  throw Error(nearest.empty() ? ErrorKind::kIo : ErrorKind::kUsage,
              fmt::format("{}: there is no file and no model of this name{}", first, nearest));
}

}  // namespace

std::vector<FieldGroup> train_groups(std::string_view model) {
  std::vector<FieldGroup> out = groups_for<TrainOptions, TrainFlags>();
  const std::vector<FieldGroup> more =
      model.empty() ? std::vector{FieldGroup{"The run", field_infos<RunOptions>()}}
                    : train_settings(model);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

std::string words_of(Args args, std::span<const std::string> left_out) {
  std::string out;
  for (size_t i = 0; i < args.size(); ++i) {
    const size_t sign = args[i].find('=');
    std::string name(args[i].substr(0, sign));
    std::ranges::replace(name, '_', '-');
    const bool ours =
        std::ranges::any_of(left_out, [&](const std::string& flag) { return name == "--" + flag; });
    if (ours && sign == std::string_view::npos) ++i;  // its value
    if (!ours) out += ' ' + shell_quoted(shown_source(args[i]));
  }
  return out;
}

TrainArgs parse_train(const Command& command, Args args, std::span<const Section> own) {
  TrainArgs out;
  out.words = words_of(args);
  const std::vector<Section> front{Section("Options", out.request.options),
                                   Section("Options", out.flags)};
  const auto groups_with = [&](std::vector<FieldGroup> groups) {
    for (const Section& s : front) groups.push_back(s);
    for (const Section& s : own) groups.push_back(s);
    return groups;
  };
  const auto take = [&](std::vector<Setting> settings) {
    apply_known(settings, front);
    apply_known(settings, own);
    out.request.settings = std::move(settings);
  };
  // Which flags there are depends on the model. A flag takes a value or not whatever the model, so
  // all flags together tell where it is named, or what it follows from.
  const Arguments first = parse_arguments(args, groups_with(train_settings("")));
  out.request.sources = first.positional;
  const bool from =
      std::ranges::find(first.settings, "from", &Setting::name) != first.settings.end();
  out.request.model = take_model_name(command, out.request.sources, from);
  std::string model = out.request.model;
  if (model.empty()) {
    take(with_config(first.settings, ""));
    model = model_for(out.request);
  }
  take(with_config(parse_arguments(args, groups_with(train_settings(model))).settings, model));
  return out;
}

}  // namespace kith::cli
