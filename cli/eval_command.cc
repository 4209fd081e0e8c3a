// SPDX-License-Identifier: Apache-2.0
// How good a model is by public test files, with what chance would reach beside it.
#include <cmath>

#include "commands.h"
#include "core/error.h"
#include "data/cells.h"
#include "enums.h"
#include "json.h"
#include "model_file.h"
#include "query/evaluate.h"
#include "ratings_eval.h"
#include "table_query.h"

namespace kith::cli {
namespace {

struct EvalOptions {
  int64_t restrict_to = 30000;
  AnalogyRule rule = AnalogyRule::kAdd;
  Side vectors = Side::kInput;
  std::string target, given, train;
  int64_t top = 10;
  std::string relevant;
  int threads = 0;
  bool json = false;

  static constexpr std::tuple fields{
      field("restrict", &EvalOptions::restrict_to,
            "analogies among the so many most frequent words; 0 for all")
          .between(0, 4e9),
      field("rule", &EvalOptions::rule, "for analogies: 3CosAdd, or 3CosMul"),
      field("vectors", &EvalOptions::vectors, "which vectors of the model to compare"),
      field("target", &EvalOptions::target, "tables: the column to predict"),
      field("given", &EvalOptions::given, "tables: from these columns, such as cast,year"),
      field("train", &EvalOptions::train,
            "tables: what the model was trained on, to measure skip-gram beside it"),
      field("top", &EvalOptions::top, "ratings: how long a list of recommendations is")
          .between(1, 1e6),
      field(
          "relevant", &EvalOptions::relevant,
          "ratings: what should be recommended is rated so or higher; else above the user's mean"),
      field("threads", &EvalOptions::threads, "0 for all cores").between(0, 1024),
      field("json", &EvalOptions::json, "print JSON"),
  };
};

double share(uint64_t right, uint64_t asked) {
  return asked ? static_cast<double>(right) / static_cast<double>(asked) : 0;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// A guess among the words asked, the three given ones left out.
double chance_of(const Space& space, size_t restrict_to) {
  const size_t rows = restrict_to ? std::min(restrict_to, space.size()) : space.size();
  return rows > 3 ? 1 / static_cast<double>(rows - 3) : 1;
}

Json json_of(const AnalogyResult& r, double chance) {
  return {{"accuracy", score(r.accuracy())},
          {"semantic", score(share(r.semantic_right, r.semantic_asked))},
          {"syntactic", score(share(r.syntactic_right, r.syntactic_asked))},
          {"asked", r.asked},
          {"skipped", r.skipped},
          {"baselines", {{"chance", {{"accuracy", score(chance)}}}}}};
}

void put_table(const std::string& path, const AnalogyResult& r, const EvalOptions& options,
               double chance) {
  const auto row = [](const std::string& name, uint64_t right, uint64_t asked) {
    return std::vector<std::string>{name, asked ? percent(share(right, asked)) : "-",
                                    fmt::format("{} of {}", grouped(right), grouped(asked))};
  };
  std::vector<std::vector<std::string>> rows;
  for (const AnalogySection& s : r.sections) {
    rows.push_back(row(printable(s.name.empty() ? "(no section)" : s.name), s.right, s.asked));
  }
  rows.push_back({});
  rows.push_back(row("semantic", r.semantic_right, r.semantic_asked));
  rows.push_back(row("syntactic", r.syntactic_right, r.syntactic_asked));
  rows.push_back(row("all", r.right, r.asked));
  rows.push_back({"by chance", fmt::format("{:.2g} %", 100 * chance)});
  const std::string among = options.restrict_to
                                ? fmt::format(", among the {} most frequent words",
                                              grouped(static_cast<uint64_t>(options.restrict_to)))
                                : "";
  put("{}\n  analogies by 3Cos{}{}; {} skipped for an unknown word\n",
      styled(Stream::kOut, Look::kBold, path), options.rule == AnalogyRule::kAdd ? "Add" : "Mul",
      among, grouped(r.skipped));
  put_text(table(rows, "<>>"));
}

// Under chance the rank correlation of n pairs is 0 with this standard deviation.
double spread_of(const SimilarityResult& r) {
  return r.pairs > 1 ? 1 / std::sqrt(static_cast<double>(r.pairs - 1)) : 1;
}

Json json_of(const SimilarityResult& r) {
  return {{"spearman", score(r.spearman)},
          {"pairs", r.pairs},
          {"skipped", r.skipped},
          {"baselines", {{"chance", {{"spearman", 0}, {"deviation", score(spread_of(r))}}}}}};
}

void put_table(const std::string& path, const SimilarityResult& r) {
  put("{}\n  similarity of {}; {} skipped for an unknown word\n",
      styled(Stream::kOut, Look::kBold, path), count_of(r.pairs, "pair"), grouped(r.skipped));
  put_text(table({{"spearman", std::isfinite(r.spearman) ? fmt::format("{:.4f}", r.spearman) : "-"},
                  {"by chance", fmt::format("0 ± {:.2f}", spread_of(r))}},
                 "<<"));
}

Json evaluate(const Space& space, const std::string& path, const EvalOptions& options) {
  if (recognise_eval_file(path) == EvalKind::kAnalogies) {
    const auto restrict_to = static_cast<size_t>(options.restrict_to);
    const AnalogyResult result =
        evaluate_analogies(space, path, options.rule, restrict_to, thread_count(options.threads));
    const double chance = chance_of(space, restrict_to);
    if (!options.json) put_table(path, result, options, chance);
    return json_of(result, chance);
  }
  const SimilarityResult result = evaluate_similarity(space, path);
  if (!options.json) put_table(path, result);
  return json_of(result);
}

// All that can be told; of the models' settings those of one, or of all that learn from ratings.
std::vector<Section> sections_with(EvalOptions& options, TableOptions& table,
                                   RatingsOptions& columns, SplitOptions& split,
                                   std::span<const std::unique_ptr<Model>> models) {
  std::vector<Section> out{{"Options", options},
                           {"The table", table},
                           {"The ratings", columns},
                           {"Training on a part of the ratings (eval als FILE)", split}};
  for (const auto& model : models) out.push_back(model->settings());
  return out;
}

std::vector<std::unique_ptr<Model>> made_for_ratings(std::string_view only) {
  std::vector<std::unique_ptr<Model>> out;
  for (const ModelInfo& info : models()) {
    const bool wanted = only.empty() || info.name == only;
    if (wanted && info.input == InputKind::kRatings) out.push_back(info.make());
  }
  return out;
}

std::vector<Section> eval_sections(std::string_view topic) {
  static EvalOptions options;
  static TableOptions table;
  static RatingsOptions columns;
  static SplitOptions split;
  static std::vector<std::unique_ptr<Model>> made;
  made = topic.empty() ? std::vector<std::unique_ptr<Model>>() : made_for_ratings(topic);
  return sections_with(options, table, columns, split, made);
}

RatingsEval ratings_eval(const EvalOptions& options) {
  RatingsEval out{static_cast<size_t>(options.top), std::nullopt, options.threads, options.json};
  if (options.relevant.empty()) return out;
  out.relevant = parse_number(options.relevant);
  if (!out.relevant) {
    throw Error(ErrorKind::kUsage, "relevant must be a rating, a number; got {}", options.relevant);
  }
  return out;
}

// eval MODEL-NAME FILE...: the settings of the model are flags, too.
int run_eval_training(Args args, const ModelInfo& info) {
  EvalOptions options;
  TableOptions table;
  RatingsOptions columns;
  SplitOptions split;
  const auto made = made_for_ratings(info.name);
  const std::vector<Section> sections = sections_with(options, table, columns, split, made);
  const Arguments arguments = parse_arguments(args, sections);
  if (arguments.positional.size() < 2) {
    misused(kEval, fmt::format("eval {} needs a file of ratings", info.name));
  }
  kith::apply(arguments.settings, sections);
  std::vector<Setting> own;
  for (const Setting& s : arguments.settings) {
    const auto has = [&](const Section& section) {
      return std::ranges::any_of(section.fields, [&](const auto& f) { return f.name == s.name; });
    };
    if (std::none_of(sections.begin(), sections.end() - 1, has)) own.push_back(s);
  }
  return eval_training(info, {arguments.positional.begin() + 1, arguments.positional.end()}, own,
                       ratings_eval(options), split, table, columns);
}

// The model's name, if it is one that can be trained here, and no file.
const ModelInfo* named_model(Args args) {
  EvalOptions options;
  TableOptions table;
  RatingsOptions columns;
  SplitOptions split;
  const auto made = made_for_ratings("");
  const auto words =
      parse_arguments(args, sections_with(options, table, columns, split, made)).positional;
  for (const ModelInfo& info : models()) {
    if (words.empty() || info.name != words[0]) continue;
    if (info.input == InputKind::kRatings) return &info;
    throw Error(ErrorKind::kUsage,
                "eval trains models of ratings only; train {} first, and give its file", info.name);
  }
  return nullptr;
}

int run_eval(Args args) {
  if (const ModelInfo* const info = named_model(args)) return run_eval_training(args, *info);
  EvalOptions options;
  TableOptions table_options;
  RatingsOptions columns;
  const std::vector<std::string> words = parse(args, options, table_options, columns);
  if (words.size() < 2) misused(kEval, "eval needs a model and a file of questions");
  OpenModel opened = open_model(words[0]);
  if (is_ratings(*opened.model)) {
    return eval_ratings(std::move(opened), {words.begin() + 1, words.end()}, ratings_eval(options),
                        table_options, columns);
  }
  if (dynamic_cast<TableModel*>(opened.model.get())) {
    return eval_table(std::move(opened), {words.begin() + 1, words.end()},
                      {options.target, options.given, options.train, options.threads, options.json},
                      table_options);
  }
  if (!options.target.empty() || !options.given.empty() || !options.train.empty()) {
    throw Error(ErrorKind::kUsage,
                "--target, --given and --train are for models of tables; {} "
                "holds {}",
                words[0], opened.kind);
  }
  const AskedModel asked(std::move(opened), options.vectors);
  Json all;
  for (size_t i = 1; i < words.size(); ++i) {
    if (i > 1 && !options.json) put_text("\n");
    Json result = evaluate(asked.space, words[i], options);
    if (words.size() == 2) {
      all = std::move(result);
      break;
    }
    // At the top, the first of each kind: what most scripts ask for.
    for (const char* name : {"accuracy", "spearman"}) {
      if (result.contains(name) && !all.contains(name)) {
        all[name] = result[name];
        all["baselines"]["chance"].update(result["baselines"]["chance"]);
      }
    }
    all["files"][words[i]] = std::move(result);
  }
  if (options.json) put_json(all);
  return kDone;
}

}  // namespace

const Command kEval{
    "eval",
    "MODEL FILE... | NAME FILE...",
    "score a model by questions whose answers are known",
    {"kith eval words.kith questions-words.txt wordsim353.tsv",
     "kith eval als ratings.dat --split user --folds 5",
     "kith eval movies.kith test.csv --target director --given cast --train movies.csv"},
    "What a file asks is seen from its lines: four words (Google's analogies), or two words and a "
    "number (human similarity). A model of a table is asked to fill the column --target of the "
    "rows of a table, a model of ratings to predict ratings and to rank items. With the NAME of a "
    "kind of model for ratings instead of a file, it is trained on a part of them and tested on "
    "the rest.",
    eval_sections,
    run_eval,
};

}  // namespace kith::cli
