// SPDX-License-Identifier: Apache-2.0
// eval for models of tables: hide one column, rank or guess its values from others, and say what
// simpler ways would reach.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "core/error.h"
#include "json.h"
#include "table_query.h"

namespace kith::cli {
namespace {

// Where the true values were ranked. Ties count half.
class Ranks {
 public:
  void add(std::span<const float> scores, size_t truth, const std::vector<uint8_t>& others) {
    size_t above = 0, equal = 0, candidates = 0;
    for (size_t v = 0; v < scores.size(); ++v) {
      if (v == truth || (!others.empty() && others[v])) continue;
      ++candidates;
      above += scores[v] > scores[truth];
      equal += scores[v] == scores[truth];
    }
    add_rank(above + equal / 2, candidates + 1);
  }
  void add_rank(size_t rank, size_t candidates) {
    ranks_.push_back(rank);
    mpr_ += static_cast<double>(rank) / static_cast<double>(candidates);
    mrr_ += 1 / static_cast<double>(rank + 1);
  }
  size_t size() const { return ranks_.size(); }
  Json json() const {
    std::vector<size_t> sorted = ranks_;
    std::ranges::sort(sorted);
    const auto n = static_cast<double>(std::max<size_t>(1, sorted.size()));
    const auto hits = [&](size_t k) {
      return static_cast<double>(std::ranges::count_if(sorted, [&](size_t r) { return r < k; })) /
             n;
    };
    return {{"mrr", score(mrr_ / n)},
            {"mpr", score(mpr_ / n)},
            {"hit1", score(hits(1))},
            {"hit10", score(hits(10))},
            {"median_rank", sorted.empty() ? 0 : sorted[sorted.size() / 2] + 1}};
  }

 private:
  std::vector<size_t> ranks_;
  double mpr_ = 0, mrr_ = 0;
};

class Errors {
 public:
  void add(double guess, double truth) {
    errors_.push_back(std::abs(guess - truth));
    squares_ += (guess - truth) * (guess - truth);
  }
  size_t size() const { return errors_.size(); }
  Json json() const {
    std::vector<double> sorted = errors_;
    std::ranges::sort(sorted);
    const auto n = static_cast<double>(std::max<size_t>(1, sorted.size()));
    return {{"rmse", score(std::sqrt(squares_ / n))},
            {"mae", score(std::accumulate(sorted.begin(), sorted.end(), 0.0) / n)},
            {"median_error", score(sorted.empty() ? 0 : sorted[sorted.size() / 2])}};
  }

 private:
  std::vector<double> errors_;
  double squares_ = 0;
};

// A row as words, for the baseline: "director=Frank_Lloyd". Numbers become their nearest knot. Long
// texts, which are context only, are left out: every pair of their words would be trained, and
// would drown the rest.
class RowWords {
 public:
  explicit RowWords(const Encoding& encoding) : encoding_(encoding), encoder_(encoding) {}
  void add(size_t g, const Cell& cell, std::vector<std::string>& out) {
    const Group& group = encoding_.groups[g];
    if (!cell || !group.column.sampled) return;
    if (group.numeric()) {
      const NumericCell found = numeric_cell(group.column, *cell);
      if (!found.value) return;
      const auto knot = std::ranges::min_element(
          group.knots, {}, [&](double k) { return std::abs(k - *found.value); });
      out.push_back(fmt::format("{}={:g}", group.column.name, *knot));
    } else if (group.named()) {
      for (const std::string_view m : encoder_.members(group.column, *cell)) {
        out.push_back(word(g, m));
      }
    }
  }
  std::string word(size_t g, std::string_view value) const {
    std::string out = fmt::format("{}={}", encoding_.groups[g].column.name, value);
    std::ranges::replace_if(
        out, [](char c) { return static_cast<uint8_t>(c) <= ' '; }, '_');
    return out;
  }

 private:
  const Encoding& encoding_;
  CellEncoder encoder_;
};

// Skip-gram on rows as sentences, every pair of values a pair of words: what a user would otherwise
// reach for. Scored by the input vectors of what is given with the output vectors of the values.
class SkipGram {
 public:
  SkipGram(const AskedTable& asked, const std::string& file, const TableOptions& options,
           int threads) {
    namespace fs = std::filesystem;
    const Encoding& encoding = asked.encoding();
    const fs::path folder = fs::temp_directory_path();
    const fs::path path = folder / fmt::format("kith-eval-{}.txt", ::getpid());
    struct Remove {
      fs::path path;
      ~Remove() {
        std::error_code none;
        fs::remove(path, none);
      }
    } remove{path};
    {
      std::ofstream out(path);
      RowWords words(encoding);
      GroupedRows rows(encoding, {file}, options);
      std::vector<std::string> line;
      while (rows.next()) {
        line.clear();
        for (size_t g = 0; g < encoding.groups.size(); ++g) words.add(g, rows.cells()[g], line);
        out << fmt::format("{}\n", fmt::join(line, " "));
      }
      if (!out.flush()) throw Error(ErrorKind::kIo, "{}: cannot write", path.string());
    }
    CorpusOptions corpus_options;
    corpus_options.min_count = 1;
    corpus_options.holdout = 0;
    const Corpus corpus = Corpus::read({path.string()}, corpus_options, folder.string());
    model_ = model("word2vec").make();
    const Section settings = model_->settings();
    const auto dim = static_cast<int64_t>(asked.model().vectors(Side::kInput).cols());
    const std::vector<Setting> said{{"dim", dim, ""},
                                    {"window", int64_t{100}, ""},
                                    {"fixed-window", true, ""},
                                    {"sample", 0.0, ""},
                                    {"negatives", int64_t{20}, ""},
                                    {"alpha", 0.75, ""},
                                    {"epochs", int64_t{30}, ""},
                                    {"noise", std::string("pair"), ""},
                                    {"lr", 0.025, ""},
                                    {"adapt", 0.0, ""}};
    kith::apply(said, {&settings, 1});
    Job job;
    job.threads = thread_count(threads);
    dynamic_cast<TextModel&>(*model_).train(corpus, job);
    input_ = model_->vectors(Side::kInput);
    output_ = model_->vectors(Side::kOutput);
  }

  std::vector<float> scores(std::span<const std::string> given, const RowWords& words, size_t g,
                            const Names& values) const {
    std::vector<float> query(input_.cols(), 0.0f);
    for (const std::string& word : given) {
      const auto row = model_->names().find(word);
      for (size_t k = 0; row && k < query.size(); ++k) query[k] += input_.row(*row)[k];
    }
    std::vector<float> out(values.size(), 0.0f);
    for (size_t v = 0; v < out.size(); ++v) {
      const auto row = model_->names().find(words.word(g, values[v]));
      for (size_t k = 0; row && k < query.size(); ++k) out[v] += query[k] * output_.row(*row)[k];
    }
    return out;
  }

 private:
  std::unique_ptr<Model> model_;
  Matrix input_, output_;
};

std::string lower(std::string_view s) {
  std::string out(s);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

void put_report(const std::string& title, const Json& result) {
  put("{}\n", styled(Stream::kOut, Look::kBold, title));
  std::vector<std::vector<std::string>> lines{{""}};
  std::vector<std::string> keys;
  for (const auto& [key, value] : result.items()) {
    if (!value.is_number() || key == "rows" || key == "unseen") continue;
    keys.push_back(key);
    lines[0].push_back(key);
  }
  const auto line = [&](const std::string& name, const Json& of) {
    std::vector<std::string> out{name};
    for (const std::string& key : keys) {
      out.push_back(!of.contains(key)             ? "-"
                    : of[key].is_number_integer() ? fmt::format("{}", of[key].get<int64_t>())
                                                  : fmt::format("{:.4f}", of[key].get<double>()));
    }
    lines.push_back(std::move(out));
  };
  line("this model", result);
  for (const auto& [name, values] : result["baselines"].items()) line(name, values);
  put_text(table(lines, std::string("<") + std::string(keys.size(), '>'), 2));
}

}  // namespace

int eval_table(OpenModel opened, const std::vector<std::string>& files, const TableEval& options,
               const TableOptions& table_options) {
  AskedTable asked(std::move(opened));
  const Encoding& encoding = asked.encoding();
  if (options.target.empty()) {
    throw Error(ErrorKind::kUsage, "say which column to predict with --target, such as --target {}",
                encoding.groups.back().column.name);
  }
  const size_t target = encoding.group(options.target);
  const Group& group = asked.group(target);
  if (group.column.type == ColumnType::kVector) {
    throw Error(ErrorKind::kUsage, "a column of vectors cannot be predicted");
  }
  std::vector<uint8_t> given(encoding.groups.size(), options.given.empty());
  std::istringstream names(options.given);
  for (std::string name; std::getline(names, name, ',');) given[encoding.group(name)] = 1;
  given[target] = 0;

  std::optional<SkipGram> skip_gram;
  RowWords words(encoding);
  if (!options.train.empty() && group.named()) {
    skip_gram.emplace(asked, options.train, table_options, options.threads);
  }
  GroupedRows rows(encoding, files, table_options);
  if (!rows.has(target)) {
    throw Error(ErrorKind::kInput, "{}: it has no column {} to compare with", files.front(),
                options.target);
  }
  const bool head = asked.model().scores_target() && target == asked.model().target();
  Ranks ranks, popular, skipped;
  Errors errors, medians, mean_errors, middle_errors;
  Guess prior{};
  std::vector<float> counts;
  if (group.named()) {
    for (const uint64_t c : encoding.spaces[group.space].counts) {
      counts.push_back(static_cast<float>(c));
    }
  } else {
    const double total = static_cast<double>(
        std::accumulate(group.value_counts.begin(), group.value_counts.end(), uint64_t{0}));
    std::vector<double> p;
    for (const uint64_t c : group.value_counts) p.push_back(static_cast<double>(c) / total);
    prior = guess(group, p);
  }
  CellEncoder encoder(encoding);
  uint64_t all = 0, unseen = 0;
  std::vector<uint64_t> leaks(encoding.groups.size(), 0);
  while (rows.next()) {
    const Cell truth = rows.cells()[target];
    if (!truth) continue;
    ++all;
    std::vector<Cell> cells(rows.cells().begin(), rows.cells().end());
    for (size_t g = 0; g < cells.size(); ++g) {
      if (!given[g]) cells[g].reset();
    }
    const SeenRow& row = asked.see(cells);
    if (!group.named()) {
      const NumericCell number = numeric_cell(group.column, *truth);
      if (!number.value) continue;
      Guess found{};
      if (head) {
        found.mean = found.median = asked.model().target_value(row);
      } else {
        found = guess(group, probabilities(asked.scores(row, target)));
      }
      errors.add(found.mean, *number.value);
      medians.add(found.median, *number.value);
      mean_errors.add(prior.mean, *number.value);
      middle_errors.add(prior.median, *number.value);
      continue;
    }
    const std::string wanted = lower(*truth);
    for (size_t g = 0; g < cells.size(); ++g) {
      if (cells[g] && encoding.groups[g].column.type == ColumnType::kText && wanted.size() > 3 &&
          lower(*cells[g]).find(wanted) != std::string::npos) {
        ++leaks[g];
      }
    }
    std::vector<uint8_t> others(asked.names(target).size(), 0);
    std::vector<uint32_t> right;
    for (const std::string_view m : encoder.members(group.column, *truth)) {
      if (const auto id = asked.names(target).find(m)) right.push_back(*id);
    }
    if (right.empty()) {
      ++unseen;
      continue;
    }
    for (const uint32_t id : right) others[id] = right.size() > 1;
    const std::vector<float> scores = asked.scores(row, target);
    std::vector<float> by_words;
    if (skip_gram) {
      std::vector<std::string> line;
      for (size_t g = 0; g < cells.size(); ++g) words.add(g, cells[g], line);
      by_words = skip_gram->scores(line, words, target, asked.names(target));
    }
    for (const uint32_t id : right) {
      ranks.add(scores, id, others);
      popular.add(counts, id, others);
      if (skip_gram) skipped.add(by_words, id, others);
    }
  }
  if (ranks.size() + errors.size() == 0) {
    throw Error(ErrorKind::kInput, "{}: no row has a value of {} that the model knows",
                files.front(), options.target);
  }
  Json out;
  if (group.named()) {
    out = ranks.json();
    out["rows"] = all;
    out["unseen"] = unseen;
    out["baselines"]["popularity"] = popular.json();
    const auto n = static_cast<double>(asked.names(target).size());
    double harmonic = 0;
    for (double r = 1; r <= n; ++r) harmonic += 1 / r;
    out["baselines"]["random"] = {{"mrr", score(harmonic / n)},
                                  {"mpr", score((n - 1) / (2 * n))},
                                  {"hit1", score(1 / n)},
                                  {"hit10", score(std::min(1.0, 10 / n))},
                                  {"median_rank", static_cast<int64_t>(n / 2)}};
    if (skip_gram) out["baselines"]["skip-gram"] = skipped.json();
  } else {
    out = errors.json();
    out["median_error"] = medians.json()["median_error"];
    out["mae"] = medians.json()["mae"];
    out["rows"] = all;
    out["baselines"]["mean"] = mean_errors.json();
    out["baselines"]["median"] = middle_errors.json();
  }
  for (size_t g = 0; g < leaks.size(); ++g) {
    const double share = static_cast<double>(leaks[g]) / static_cast<double>(all);
    if (share < 0.01) continue;
    out["leaks"][encoding.groups[g].column.name] = score(share);
    say("kith: warning: in {:.1f} % of the rows the {} stands in {} word for word: the score says "
        "little about rows where it does not",
        100 * share, options.target, encoding.groups[g].column.name);
  }
  if (options.json) {
    put_json(out);
    return kDone;
  }
  put_report(
      fmt::format(
          "{} from {}, {}{}", options.target,
          options.given.empty() ? "the other columns" : options.given, count_of(all, "row"),
          unseen ? fmt::format("; {} have a value that training never saw", grouped(unseen)) : ""),
      out);
  if (group.named() && options.train.empty()) {
    say("with --train and the table it was trained on, skip-gram is measured beside it");
  }
  return kDone;
}

}  // namespace kith::cli
