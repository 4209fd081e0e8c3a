// SPDX-License-Identifier: Apache-2.0
// eval: how good a model is, with what simpler ways would reach beside it.
#include <algorithm>
#include <cmath>

#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "narrator.h"

namespace kith::cli {
namespace {

// --- As JSON ---

// The model's own measures at the top, the others' below "baselines".
Json json_of(const Report& r) {
  Json out = Json::object();
  Json baselines = Json::object();
  for (const Comparison& c : r.comparisons) {
    for (size_t w = 0; w < c.ways.size(); ++w) {
      Json& to = w == 0 ? out : baselines[c.ways[w].name];
      for (const Measure& m : c.ways[w].measures) {
        const bool whole = m.name == "median_rank" && m.value == std::trunc(m.value);
        to[m.name] = whole ? Json(static_cast<uint64_t>(m.value)) : score(m.value);
      }
    }
  }
  for (const auto& [name, value] : r.counts) out[name] = value;
  if (!r.rule.empty()) out["rule"] = r.rule;
  for (const Report::Section& s : r.sections) {
    out["sections"].push_back({{"id", s.name}, {"right", s.right}, {"asked", s.asked}});
  }
  for (const Report::Label& l : r.labels) {
    out["labels"][l.name] = {{"precision", score(l.precision)},
                             {"recall", score(l.recall)},
                             {"f1", score(l.f1)},
                             {"texts", l.texts}};
  }
  if (!baselines.empty()) out["baselines"] = std::move(baselines);
  if (r.confusion) {
    Json counts = Json::object();
    for (size_t v = 0; v < r.confusion->values.size(); ++v) {
      for (size_t w = 0; w < r.confusion->values.size(); ++w) {
        counts[r.confusion->values[v]][r.confusion->values[w]] = r.confusion->counts[v][w];
      }
    }
    out["confusion"] = std::move(counts);
  }
  for (const auto& [column, share] : r.shares) out["leaks"][column] = score(share);
  for (const Report& part : r.parts) out["folds"].push_back(json_of(part));
  return out;
}

// One object for several files: at the top the first of each measure, what most scripts ask for.
Json json_of(const std::vector<Report>& reports) {
  if (reports.size() == 1) return json_of(reports.front());
  Json out;
  for (const Report& r : reports) {
    Json one = json_of(r);
    for (const char* name : {"accuracy", "spearman"}) {
      if (!one.contains(name) || out.contains(name)) continue;
      out[name] = one[name];
      out["baselines"]["chance"].update(one["baselines"]["chance"]);
    }
    out["files"][r.title] = std::move(one);
  }
  return out;
}

// --- For people ---

std::string shown_value(const Measure& m) {
  if (!std::isfinite(m.value)) return "-";
  if (m.name == "median_rank") return fmt::format("{:g}", m.value);
  return m.value != 0 && std::abs(m.value) < 0.001 ? fmt::format("{:.2g}", m.value)
                                                   : fmt::format("{:.4f}", m.value);
}

// Of rankings, how long the lists are.
std::string shown_name(const std::string& name, const Report& r) {
  const bool ranked = name == "recall" || name == "ndcg" || name == "map";
  const auto top = r.count("top");
  return ranked && top ? fmt::format("{}@{}", name, *top) : name;
}

void put_comparison(const Comparison& c, const Report& r) {
  std::vector<std::string> names;
  for (const Way& way : c.ways) {
    for (const Measure& m : way.measures) {
      if (std::ranges::find(names, m.name) == names.end()) names.push_back(m.name);
    }
  }
  std::vector<std::vector<std::string>> rows{{""}};
  for (const std::string& name : names) rows[0].push_back(shown_name(name, r));
  for (const Way& way : c.ways) {
    auto& row =
        rows.emplace_back(std::vector<std::string>{way.name == "model" ? "this model" : way.name});
    for (const std::string& name : names) {
      const auto value = way.at(name);
      row.push_back(value ? shown_value({name, *value}) : "-");
    }
  }
  put_text(table(rows, "<" + std::string(names.size(), '>')));
}

void put_sections(const Report& r) {
  std::vector<std::vector<std::string>> rows;
  for (const Report::Section& s : r.sections) {
    const double share = s.asked ? static_cast<double>(s.right) / static_cast<double>(s.asked) : 0;
    rows.push_back({printable(s.name.empty() ? "(no section)" : s.name),
                    s.asked ? fmt::format("{:.1f} %", 100 * share) : "-",
                    fmt::format("{} of {}", grouped(s.right), grouped(s.asked))});
  }
  put_text(table(rows, "<>>"));
}

void put_confusion(const Report::Confusion& c) {
  std::vector<std::vector<std::string>> rows{{"true \\ guess"}};
  for (const std::string& value : c.values) rows[0].push_back(printable(value));
  for (size_t v = 0; v < c.values.size(); ++v) {
    auto& row = rows.emplace_back(std::vector<std::string>{printable(c.values[v])});
    for (const uint64_t count : c.counts[v]) row.push_back(grouped(count));
  }
  put_text("\n");
  put_text(table(rows, "<" + std::string(c.values.size(), '>')));
}

void put_labels(const std::vector<Report::Label>& labels) {
  constexpr size_t kMost = 30;
  std::vector<std::vector<std::string>> rows{{"label", "precision", "recall", "f1", "texts"}};
  for (const Report::Label& l : std::span(labels).first(std::min(labels.size(), kMost))) {
    rows.push_back({printable(l.name), fmt::format("{:.4f}", l.precision),
                    fmt::format("{:.4f}", l.recall), fmt::format("{:.4f}", l.f1),
                    grouped(l.texts)});
  }
  put_text("\n");
  put_text(table(rows, "<>>>>"));
  if (labels.size() > kMost) {
    put("  and {} more; --json shows all\n", count_of(labels.size() - kMost, "label"));
  }
}

// One line a fold, the model's measures and how far they vary.
void put_folds(const Report& r) {
  std::vector<Measure> means;
  for (const Comparison& c : r.comparisons) {
    means.insert(means.end(), c.ways.front().measures.begin(), c.ways.front().measures.end());
  }
  std::vector<std::vector<std::string>> rows{{"fold"}};
  for (const Measure& m : means) rows[0].push_back(shown_name(m.name, r.parts.front()));
  std::vector<double> squares(means.size());
  for (size_t f = 0; f < r.parts.size(); ++f) {
    auto& row = rows.emplace_back(std::vector<std::string>{fmt::format("{}", f + 1)});
    for (size_t k = 0; k < means.size(); ++k) {
      const double value = r.parts[f].at(means[k].name).value_or(NAN);
      row.push_back(shown_value({means[k].name, value}));
      squares[k] += (value - means[k].value) * (value - means[k].value);
    }
  }
  auto& deviations = rows.emplace_back(std::vector<std::string>{"deviation"});
  const double freedom = static_cast<double>(r.parts.size()) - 1;
  for (size_t k = 0; k < means.size(); ++k) {
    deviations.push_back(fmt::format("{:.4f}", std::sqrt(squares[k] / freedom)));
  }
  put_text("\n");
  put_text(table(rows, "<" + std::string(means.size(), '>')));
}

void put_report(const Report& r) {
  put("{}\n", styled(Stream::kOut, Look::kBold, printable(r.title)));
  if (!r.subtitle.empty()) put("  {}\n", r.subtitle);
  if (!r.sections.empty()) {
    put_sections(r);
    put_text("\n");
  }
  // The lists of folds are all as long.
  const Report& shown = r.parts.empty() ? r : r.parts.front();
  for (size_t i = 0; i < r.comparisons.size(); ++i) {
    if (i > 0) put_text("\n");
    put_comparison(r.comparisons[i], shown);
  }
  if (!r.labels.empty()) put_labels(r.labels);
  if (r.confusion) put_confusion(*r.confusion);
  if (!r.parts.empty()) put_folds(r);
}

int put_reports(const std::vector<Report>& reports, bool json, Json head, Narrator& narrator) {
  narrator.status().clear();
  if (json) {
    head.update(json_of(reports));
    put_json(head);
  }
  for (size_t i = 0; i < reports.size(); ++i) {
    if (!json && i > 0) put_text("\n");
    if (!json) put_report(reports[i]);
    for (const Note& note : reports[i].notes) narrator.on(note);
  }
  return kDone;
}

// --- The command ---

constexpr std::initializer_list<Can> kReading{Can::kCompleteRows, Can::kRateItems, Can::kClassify,
                                              Can::kShowTopics};

bool can_be_tested(const ModelDescription& m) {
  return std::ranges::find(m.can, Can::kRateItems) != m.can.end();
}

// A model that is there is told how to read; one that is trained here also how to train and split.
std::vector<FieldGroup> eval_groups(std::string_view model) {
  std::vector<FieldGroup> out = groups_for<EvaluateOptions, Threads, Output, Quiet>();
  const auto add = [&](std::vector<FieldGroup> groups) {
    for (FieldGroup& g : groups) out.push_back(std::move(g));
  };
  if (model.empty()) {
    add(reading_settings(kReading));
  } else {
    out.push_back({"Training on a part", field_infos<SplitOptions>()});
    add(data_settings(describe_model(model).data));
    out.push_back(describe_model(model).settings);
  }
  return out;
}

// The name of a model to be trained, if the first word is one and no file.
std::string model_to_train(Args args) {
  std::vector<FieldGroup> all = eval_groups("");
  for (const ModelDescription& m : available_models()) {
    if (!can_be_tested(m)) continue;
    for (FieldGroup& g : eval_groups(m.name)) all.push_back(std::move(g));
  }
  const std::vector<std::string> words = parse_arguments(args, all).positional;
  return !words.empty() && is_model(words[0]) ? words[0] : "";
}

int run_eval(Args args) {
  EvaluateOptions options;
  SplitOptions split;
  Threads threads;
  Output output;
  Quiet quiet;
  const std::string name = model_to_train(args);
  const bool testable = name.empty() || can_be_tested(describe_model(name));
  Arguments told = parse_arguments(args, eval_groups(testable ? name : ""));
  const std::vector<Section> own{Section("", options), Section("", threads), Section("", output),
                                 Section("", quiet)};
  apply_known(told.settings, own);
  if (!name.empty()) apply_known(told.settings, std::vector<Section>{Section("", split)});
  const std::vector<std::string>& words = told.positional;
  if (words.size() < 2) {
    misused(kEval, name.empty() ? "eval needs a model and a file of questions"
                                : fmt::format("eval {} needs a file of ratings", name));
  }
  Context context(threads.threads);
  const Interrupts interrupts(context);
  Narrator narrator(output.json || quiet.quiet);
  std::vector<Report> reports;
  if (name.empty()) {
    reports = evaluate(open(words[0]), rest_of(words), options, told.settings, context, &narrator);
  } else {
    reports.push_back(
        cross_validate(name, rest_of(words), told.settings, split, options, context, &narrator));
  }
  Json told_of = Json::object();  // of a model that was trained here
  if (!name.empty()) told_of = {{"model", name}, {"split", detail::show(split.split)}};
  return put_reports(reports, output.json, std::move(told_of), narrator);
}

}  // namespace

const Command kEval{
    "eval",
    "MODEL FILE... | NAME FILE...",
    "score a model by questions whose answers are known",
    {"kith eval words.kith questions-words.txt wordsim353.tsv",
     "kith eval als ratings.dat --split user --folds 5",
     "kith eval movies.kith test.csv --target director --given cast --train movies.csv"},
    "For words, each line of a file is a question: four words (Google's analogies), or two words "
    "and a number (human similarity). A model of a table fills the column --target of each row of "
    "a table; a model of ratings predicts ratings and ranks items; a classifier guesses the "
    "labels of texts; a model of topics foretells words of documents. Given the NAME of a model of "
    "ratings, such as als, instead of a model file, eval trains it on a part of the ratings and "
    "tests it on the rest.",
    eval_groups,
    run_eval,
    can_be_tested,
};

}  // namespace kith::cli
