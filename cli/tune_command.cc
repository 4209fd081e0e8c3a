// SPDX-License-Identifier: Apache-2.0
// tune: settings by search.
#include <algorithm>
#include <numeric>

#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "narrator.h"
#include "train_args.h"

namespace kith::cli {
namespace {

std::vector<FieldGroup> tune_groups(std::string_view model) {
  std::vector<FieldGroup> out{FieldGroup{"Search", field_infos<TuneOptions>()}};
  for (FieldGroup& group : train_groups(model)) out.push_back(std::move(group));
  return out;
}

void put_trials(const Tuned& tuned) {
  const std::vector<Trial>& trials = tuned.trials;
  std::vector<std::vector<std::string>> rows{{""}};
  rows[0].insert(rows[0].end(), tuned.names.begin(), tuned.names.end());
  rows[0].insert(rows[0].end(), {"held-out", "time"});
  std::vector<size_t> order(trials.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return trials[a].held_out.value_or(HUGE_VAL) < trials[b].held_out.value_or(HUGE_VAL);
  });
  constexpr size_t kShown = 10;
  for (size_t place = 0; place < order.size(); ++place) {
    const size_t i = order[place];
    if (place >= kShown && i != 0) continue;  // the settings as given are always among them
    auto& row = rows.emplace_back(
        std::vector<std::string>{i == 0 ? std::string("as given") : fmt::format("run {}", i)});
    row.insert(row.end(), trials[i].values.begin(), trials[i].values.end());
    row.push_back(trials[i].held_out ? fmt::format("{:.4f}", *trials[i].held_out) : "diverged");
    row.push_back(in_time(trials[i].seconds));
  }
  put_text(table(rows, "<" + std::string(tuned.names.size() + 2, '>')));
}

Json json_of(const Tuned& tuned, const Trial& trial) {
  Json settings = Json::object();
  for (size_t d = 0; d < tuned.names.size(); ++d) {
    settings[tuned.names[d]] = number_in(trial.values[d]);
  }
  return {{"settings", settings},
          {"held_out", trial.held_out ? Json(*trial.held_out) : Json()},
          {"seconds", trial.seconds}};
}

int run_tune(Args args) {
  TuneOptions options;
  const Section own("Search", options);
  TrainArgs told = parse_train(kTune, args, {&own, 1});
  Tuned tuned;
  {
    Context context(told.flags.threads);
    const Interrupts interrupts(context);
    Narrator narrator(told.flags.quiet || told.flags.json);
    tuned = tune(plan(told.request, &narrator), options, context, &narrator);
  }
  std::vector<std::string> left_out;  // each flag stands once
  for (const FieldInfo& f : own.fields) left_out.emplace_back(f.name);
  for (const Setting& s : tuned.best_settings()) left_out.push_back(s.name);
  told.words = words_of(args, left_out) + tuned.flags(tuned.trials[tuned.best]);
  const std::string command = "train" + told.words;
  if (told.flags.json) {
    Json all = Json::array();
    for (const Trial& t : tuned.trials) all.push_back(json_of(tuned, t));
    put_json({{"model", tuned.model},
              {"best", json_of(tuned, tuned.trials[tuned.best])},
              {"given", json_of(tuned, tuned.trials[0])},
              {"runs", all},
              {"command", command}});
  } else {
    put_trials(tuned);
    say("{}", labelled(told.request.options.output.empty() ? "next" : "best",
                       fmt::format("{} {}", program, command)));
  }
  if (tuned.cancelled) return kInterrupted;
  if (told.request.options.output.empty()) return kDone;
  for (Setting& s : tuned.best_settings()) told.request.settings.push_back(std::move(s));
  told.flags.quiet = told.flags.quiet || told.flags.json;
  told.flags.json = false;  // that of the search stands there
  return run_training(told);
}

bool is_trainable(const ModelDescription& m) { return !m.data.empty(); }

}  // namespace

const Command kTune{
    "tune",
    "[MODEL] FILE...",
    "search for the settings of a model with the best held-out score",
    {"kith tune mf ratings.dat", "kith tune classifier news.txt --budget 300 -o news.kith",
     "kith tune word2vec corpus.txt --search lr --trials 8"},
    "Takes the options of train. Settings that you give stay as they are, unless --search names "
    "them. The first run uses the settings as given, the next are spread evenly over the ranges, "
    "then they gather around the best. The same seed gives the same runs; the budget decides how "
    "many. With -o, a model is trained with the best settings at the end.",
    tune_groups,
    run_tune,
    is_trainable,
};

}  // namespace kith::cli
