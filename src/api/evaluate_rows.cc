// SPDX-License-Identifier: Apache-2.0
// Rows of a table with one column hidden: rank or guess its values from others, and say what
// simpler ways would reach.
#include <algorithm>
#include <cmath>

#include "api/evaluate.h"
#include "api/rows.h"
#include "api/skip_gram.h"
#include "core/error.h"
#include "data/table/cells.h"
#include "eval/metrics.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr size_t kShortName = 3;    // may stand in a text by chance
constexpr double kFewLeaks = 0.01;  // of the rows

std::string lower(std::string_view s) {
  std::string out(s);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

Way way_of(std::string name, const eval::Ranking& r) {
  return {std::move(name),
          {{"mrr", r.mrr()},
           {"mpr", r.mpr()},
           {"hit1", r.hits(1)},
           {"hit10", r.hits(10)},
           {"median_rank", r.median_rank()}}};
}

// The mean is right by the square, the median by the size.
Way way_of(std::string name, const eval::AllErrors& means, const eval::AllErrors& medians) {
  return {std::move(name),
          {{"rmse", means.rmse()}, {"mae", medians.mae()}, {"median_error", medians.median()}}};
}

// What a guess among n reaches.
Way by_chance(size_t count) {
  const auto n = static_cast<double>(count);
  double harmonic = 0;
  for (double r = 1; r <= n; ++r) harmonic += 1 / r;
  return {"random",
          {{"mrr", harmonic / n},
           {"mpr", (n - 1) / (2 * n)},
           {"hit1", 1 / n},
           {"hit10", std::min(1.0, 10 / n)},
           {"median_rank", std::floor(n / 2)}}};
}

// Ranks the names of a column.
class NameRankings {
 public:
  NameRankings(RowAsker& asker, size_t target, const SkipGram* skip_gram)
      : asker_(asker), target_(target), skip_gram_(skip_gram), words_(asker.encoding()) {
    const Group& group = asker.group(target);
    for (const uint64_t c : asker.encoding().spaces[group.space].counts) {
      counts_.push_back(static_cast<float>(c));
    }
  }
  // False if training saw none of the true values.
  bool add(const SeenRow& row, std::span<const Cell> given, std::string_view truth) {
    const std::vector<uint32_t> right = asker_.members(target_, truth);
    if (right.empty()) return false;
    // The others that are right are not in the way of one.
    std::vector<uint8_t> others(asker_.names(target_).size(), 0);
    for (const uint32_t id : right) others[id] = right.size() > 1;
    const std::vector<float> scores = asker_.scores(row, target_).scores;
    std::vector<float> by_words;
    if (skip_gram_) {
      std::vector<std::string> line;
      for (size_t g = 0; g < given.size(); ++g) words_.add(g, given[g], line);
      by_words = skip_gram_->scores(line, words_, target_, asker_.names(target_));
    }
    for (const uint32_t id : right) {
      add(own_, scores, id, others);
      add(popular_, counts_, id, others);
      if (skip_gram_) add(skipped_, by_words, id, others);
    }
    return true;
  }
  uint64_t size() const { return own_.questions(); }
  Comparison comparison() const {
    Comparison out{{way_of("model", own_), way_of("popularity", popular_),
                    by_chance(asker_.names(target_).size())}};
    if (skip_gram_) out.ways.push_back(way_of("skip-gram", skipped_));
    return out;
  }

 private:
  static void add(eval::Ranking& ranking, std::span<const float> scores, uint32_t truth,
                  std::span<const uint8_t> others) {
    const auto [rank, candidates] = eval::place_of(scores, truth, others);
    ranking.add({&rank, 1}, 1, candidates);
  }
  RowAsker& asker_;
  size_t target_;
  const SkipGram* skip_gram_;
  RowWords words_;
  std::vector<float> counts_;
  eval::Ranking own_, popular_, skipped_;
};

// Guesses the numbers of a column.
class NumberGuesses {
 public:
  NumberGuesses(const RowAsker& asker, size_t target)
      : asker_(asker), target_(target), prior_(asker.guess_of_all(target)) {}
  void add(const SeenRow& row, std::string_view truth) {
    const NumericCell number = numeric_cell(asker_.group(target_).column, truth);
    if (!number.value) return;
    const RowAsker::Guess found = asker_.guess(row, target_);
    means_.add(found.mean, *number.value);
    medians_.add(found.median, *number.value);
    prior_means_.add(prior_.mean, *number.value);
    prior_medians_.add(prior_.median, *number.value);
  }
  uint64_t size() const { return means_.size(); }
  Comparison comparison() const {
    return {{way_of("model", means_, medians_), way_of("mean", prior_means_, prior_means_),
             way_of("median", prior_medians_, prior_medians_)}};
  }

 private:
  const RowAsker& asker_;
  size_t target_;
  RowAsker::Guess prior_;
  eval::AllErrors means_, medians_, prior_means_, prior_medians_;
};

// Texts in which the answer stands word for word.
class Leaks {
 public:
  explicit Leaks(const Encoding& encoding) : encoding_(encoding), rows_(encoding.groups.size()) {}
  void look(std::span<const Cell> given, std::string_view truth) {
    if (truth.size() <= kShortName) return;
    const std::string wanted = lower(truth);
    for (size_t g = 0; g < given.size(); ++g) {
      const bool text = given[g] && encoding_.groups[g].column.type == ColumnType::kText;
      if (text && lower(*given[g]).find(wanted) != std::string::npos) ++rows_[g];
    }
  }
  void tell(uint64_t all, const std::string& target, Report& out) const {
    for (size_t g = 0; g < rows_.size(); ++g) {
      const double share = static_cast<double>(rows_[g]) / static_cast<double>(all);
      if (share < kFewLeaks) continue;
      const std::string& column = encoding_.groups[g].column.name;
      out.shares.emplace_back(column, share);
      out.notes.push_back(
          {Note::Level::kWarning,
           fmt::format("in {} of the rows the text in column {} holds the {}, word for word: the "
                       "score says little about rows where it does not",
                       in_percent(share), column, target)});
    }
  }

 private:
  const Encoding& encoding_;
  std::vector<uint64_t> rows_;
};

// Which groups are given: those that were named, or all but the target.
std::vector<uint8_t> given_groups(const Encoding& encoding, const std::string& names,
                                  size_t target) {
  std::vector<uint8_t> out(encoding.groups.size(), names.empty());
  for_each_member(names, ",", [&](std::string_view name) { out[encoding.group(name)] = 1; });
  out[target] = 0;
  return out;
}

size_t target_of(const RowAsker& asker, const std::string& name) {
  if (name.empty()) {
    throw fault(ErrorKind::kUsage, "say which column to predict with --target, such as --target {}",
                asker.encoding().groups.back().column.name);
  }
  const size_t out = asker.encoding().group(name);
  asker.check_target(out);
  return out;
}

}  // namespace

Report evaluate_rows(const Model::Impl& model, const std::vector<std::string>& sources,
                     const EvaluateOptions& options, std::span<const Setting> reading,
                     const Context& context, Observer* observer) {
  RowAsker asker(model, "eval");
  const Encoding& encoding = asker.encoding();
  const size_t target = target_of(asker, options.target);
  const bool named = asker.group(target).named();
  const std::vector<uint8_t> given = given_groups(encoding, options.given, target);
  std::unique_ptr<SkipGram> skip_gram;
  if (!options.train.empty() && named) {
    skip_gram = std::make_unique<SkipGram>(encoding, asker.model().row_dim(), options.train,
                                           reading, context);
  }
  GroupedRows rows(encoding, sources, reading, context, observer);
  if (!rows.has(target)) {
    throw fault(ErrorKind::kInput, "{}: it has no column {} to compare with", sources.front(),
                options.target);
  }
  std::optional<NameRankings> rankings;
  std::optional<NumberGuesses> guesses;
  if (named) {
    rankings.emplace(asker, target, skip_gram.get());
  } else {
    guesses.emplace(asker, target);
  }
  Leaks leaks(encoding);
  uint64_t all = 0, unseen = 0;
  std::vector<Cell> cells;
  while (rows.next()) {
    const Cell truth = rows.cells()[target];
    if (!truth) continue;
    ++all;
    cells.assign(rows.cells().begin(), rows.cells().end());
    for (size_t g = 0; g < cells.size(); ++g) {
      if (!given[g]) cells[g].reset();
    }
    const SeenRow& row = asker.see(cells);
    if (guesses) {
      guesses->add(row, *truth);
    } else {
      leaks.look(cells, *truth);
      unseen += !rankings->add(row, cells, *truth);
    }
  }
  if ((rankings ? rankings->size() : guesses->size()) == 0) {
    throw fault(ErrorKind::kInput, "{}: no row has a value of {} that the model knows",
                sources.front(), options.target);
  }
  Report out;
  out.title = fmt::format(
      "{} from {}, {}{}", options.target,
      options.given.empty() ? "the other columns" : options.given, count_of(all, "row"),
      unseen ? fmt::format("; {} have a value that training never saw", grouped(unseen)) : "");
  out.comparisons.push_back(rankings ? rankings->comparison() : guesses->comparison());
  out.counts.emplace_back("rows", all);
  if (named) out.counts.emplace_back("unseen", unseen);
  leaks.tell(all, options.target, out);
  if (named && options.train.empty()) {
    out.notes.push_back({Note::Level::kHint,
                         "with --train and the table it was trained on, skip-gram is measured "
                         "beside it"});
  }
  return out;
}

}  // namespace kith
