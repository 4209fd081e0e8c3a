// SPDX-License-Identifier: Apache-2.0
// How good a model is by public test files, with what chance would reach beside it.
#include <cmath>

#include "commands.h"
#include "core/error.h"
#include "enums.h"
#include "json.h"
#include "model_file.h"
#include "query/evaluate.h"
#include "table_query.h"

namespace kith::cli {
namespace {

struct EvalOptions {
  int64_t restrict_to = 30000;
  AnalogyRule rule = AnalogyRule::kAdd;
  Side vectors = Side::kInput;
  std::string target, given, train;
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

int run_eval(Args args) {
  EvalOptions options;
  TableOptions table_options;
  const std::vector<std::string> words = parse(args, options, table_options);
  if (words.size() < 2) misused(kEval, "eval needs a model and a file of questions");
  OpenModel opened = open_model(words[0]);
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
    "MODEL FILE...",
    "score a model by questions whose answers are known",
    {"kith eval words.kith questions-words.txt wordsim353.tsv",
     "kith eval words.kith questions-words.txt --restrict 0 --rule mul --json",
     "kith eval movies.kith test.csv --target director --given cast --train movies.csv"},
    "What a file asks is seen from its lines: four words (Google's analogies), or two words and a "
    "number (human similarity). A model of a table is asked to fill the column --target of the "
    "rows "
    "of a table.",
    sections_of<EvalOptions, TableOptions>,
    run_eval,
};

}  // namespace kith::cli
