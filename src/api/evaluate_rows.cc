// SPDX-License-Identifier: Apache-2.0
// Rows of a table with one column hidden: rank or guess its values from others, and say what
// simpler ways would reach.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "api/evaluate.h"
#include "api/leaks.h"
#include "api/rows.h"
#include "api/simple_rows.h"
#include "api/skip_gram.h"
#include "api/training.h"
#include "core/error.h"
#include "data/table/cells.h"
#include "data/table/table.h"
#include "eval/metrics.h"
#include "kith/text.h"
#include "models/model.h"

namespace kith {
namespace {

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
          {{"rmse", means.rmse()},
           {"mae", medians.mae()},
           {"median_error", medians.median()},
           {"r2", means.r2()}}};
}

// A hinge, say, knows only sides: then there are no probabilities to measure.
Way way_of(std::string name, const eval::Classes& c, bool probabilities) {
  Way out{std::move(name), {{"accuracy", c.accuracy()}, {"macro_f1", c.macro_f1()}}};
  if (probabilities) {
    out.measures.push_back({"log_loss", c.log_loss()});
    out.measures.push_back({"calibration_error", c.calibration_error()});
  }
  if (const double auc = c.auc(); !std::isnan(auc)) out.measures.push_back({"auc", auc});
  return out;
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

// Says how sure it is of each value of the column that it learned to predict.
class ClassGuesses {
 public:
  ClassGuesses(const RowAsker& asker, size_t target, LinearRows* linear)
      : asker_(asker),
        target_(target),
        linear_(linear),
        own_(asker.names(target).size()),
        prior_(asker.names(target).size()),
        of_linear_(asker.names(target).size()) {
    const auto& counts = asker.encoding().spaces[asker.group(target).space].counts;
    double total = 0;
    for (const uint64_t c : counts) total += static_cast<double>(c);
    for (const uint64_t c : counts) shares_.push_back(static_cast<double>(c) / total);
  }
  void add(const SeenRow& row, std::span<const Cell> given, uint32_t truth) {
    const RowAsker::Scores found = asker_.scores(row, target_);
    sure_ = found.probabilities;
    own_.add(probabilities(found.scores), truth);
    prior_.add(shares_, truth);
    if (linear_) of_linear_.add(linear_->shares(given), truth);
  }
  void tell(Report& out) const {
    Comparison& c = out.comparisons.emplace_back();
    c.ways = {way_of("model", own_, sure_), way_of("popularity", prior_, true)};
    if (linear_) c.ways.push_back(way_of("linear", of_linear_, true));
    const Names& names = asker_.names(target_);
    if (names.size() > eval::Classes::kFew) return;
    Report::Confusion& confusion = out.confusion.emplace();
    for (size_t v = 0; v < names.size(); ++v) {
      confusion.values.emplace_back(names[v]);
      auto& counts = confusion.counts.emplace_back();
      for (size_t w = 0; w < names.size(); ++w) counts.push_back(own_.count(v, w));
    }
  }

 private:
  const RowAsker& asker_;
  size_t target_;
  LinearRows* linear_;
  bool sure_ = true;  // whether its scores are probabilities
  std::vector<double> shares_;
  eval::Classes own_, prior_, of_linear_;
};

// Ranks the names of a column.
class NameRankings {
 public:
  // `sure`: whether the model learned to tell how likely values are.
  NameRankings(RowAsker& asker, size_t target, bool sure, const SkipGram* skip_gram)
      : asker_(asker),
        target_(target),
        sure_(sure),
        skip_gram_(skip_gram),
        words_(asker.encoding()) {
    const Group& group = asker.group(target);
    for (const uint64_t c : asker.encoding().spaces[group.space].counts) {
      counts_.push_back(static_cast<float>(c));
    }
  }
  void add(const SeenRow& row, std::span<const Cell> given, std::span<const uint32_t> right) {
    // The others that are right are not in the way of one.
    std::vector<uint8_t> others(asker_.names(target_).size(), 0);
    for (const uint32_t id : right) others[id] = right.size() > 1;
    const std::vector<float> scores = asker_.scores(row, target_).scores;
    if (sure_) {
      const std::vector<double> p = probabilities(scores);
      const auto best = std::ranges::max_element(p);
      calibration_.add(*best, std::ranges::count(right, best - p.begin()) > 0);
    }
    std::vector<float> by_words;
    if (skip_gram_) {
      std::vector<std::string> line;
      for (size_t g = 0; g < given.size(); ++g) words_.add(g, given[g], line);
      by_words = skip_gram_->scores(line);
    }
    for (const uint32_t id : right) {
      add(own_, scores, id, others);
      add(popular_, counts_, id, others);
      if (skip_gram_) add(skipped_, by_words, id, others);
    }
  }
  Comparison comparison() const {
    Comparison out{{way_of("model", own_), way_of("popularity", popular_),
                    by_chance(asker_.names(target_).size())}};
    if (sure_) out.ways[0].measures.push_back({"calibration_error", calibration_.error()});
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
  bool sure_;
  const SkipGram* skip_gram_;
  RowWords words_;
  std::vector<float> counts_;
  eval::Ranking own_, popular_, skipped_;
  eval::Calibration calibration_;  // whether the likeliest value is one of those of the row
};

// Guesses the numbers of a column.
class NumberGuesses {
 public:
  NumberGuesses(const RowAsker& asker, size_t target, LinearRows* linear,
                const std::optional<BiasesOfRows>& biases)
      : asker_(asker),
        target_(target),
        linear_(linear),
        biases_(biases),
        prior_(asker.guess_of_all(target)) {}
  void add(const SeenRow& row, std::span<const Cell> given, std::string_view truth) {
    const NumericCell number = numeric_cell(asker_.group(target_).column, truth);
    if (!number.value) return;
    const RowAsker::Guess found = asker_.guess(row, target_);
    means_.add(found.mean, *number.value);
    medians_.add(found.median, *number.value);
    prior_means_.add(prior_.mean, *number.value);
    prior_medians_.add(prior_.median, *number.value);
    if (linear_) of_linear_.add(linear_->number(given), *number.value);
    if (biases_) of_biases_.add(biases_->number(given), *number.value);
  }
  uint64_t size() const { return means_.size(); }
  Comparison comparison() const {
    Comparison out{{way_of("model", means_, medians_), way_of("mean", prior_means_, prior_means_),
                    way_of("median", prior_medians_, prior_medians_)}};
    if (linear_) out.ways.push_back(way_of("linear", of_linear_, of_linear_));
    if (biases_) out.ways.push_back(way_of("biases", of_biases_, of_biases_));
    return out;
  }

 private:
  const RowAsker& asker_;
  size_t target_;
  LinearRows* linear_;
  const std::optional<BiasesOfRows>& biases_;
  RowAsker::Guess prior_;
  eval::AllErrors means_, medians_, prior_means_, prior_medians_, of_linear_, of_biases_;
};

// Tells how far the training of a model to compare with has come.
std::function<void(double)> training(const std::string& what, Observer* observer) {
  return [=](double share) {
    if (!observer) return;
    observer->on(Attempt{.number = 1,
                         .total = 1,
                         .share = share,
                         .text = fmt::format("training {}, for comparison", what)});
  };
}

// Which groups are given: those that were named, or all but the target.
std::vector<uint8_t> given_groups(const Encoding& encoding, const std::string& names,
                                  size_t target) {
  std::vector<uint8_t> out(encoding.groups.size(), names.empty());
  for_each_member(names, ",", [&](std::string_view name) { out[encoding.group(name)] = 1; });
  out[target] = 0;
  return out;
}

size_t target_of(const RowAsker& asker, const std::string& name) {
  if (name.empty() && asker.model().target() != Encoding::npos) return asker.model().target();
  if (name.empty()) {
    throw fault(ErrorKind::kUsage, "say which column to predict with --target, such as --target {}",
                asker.encoding().groups.back().column.name);
  }
  const size_t out = asker.encoding().group(name);
  asker.check_target(out);
  return out;
}

// What is measured of a target: places of names, sizes of errors, classes; and what beside it.
class Measures {
 public:
  Measures(RowAsker& asker, size_t target, const std::string& train,
           std::span<const Setting> reading, std::span<const uint8_t> given, const Context& context,
           Observer* observer)
      : asker_(asker), target_(target), named_(asker.group(target).named()) {
    const ColumnType type = asker.group(target).column.type;
    const bool own = target == asker.model().target();
    const bool choice = own && (type == ColumnType::kCategory || type == ColumnType::kBoolean);
    // Where there are few values, the place of the right one says little more than how often it
    // is the first.
    const bool ranked = named_ && !(choice && asker.names(target).size() <= eval::Classes::kFew);
    if (!train.empty() && ranked) {
      skip_gram_ =
          std::make_unique<SkipGram>(asker.encoding(), asker.model().row_dim(), target, train,
                                     reading, context, training("skip-gram", observer));
    }
    const bool adds_up = choice || (own && asker.group(target).numeric());
    if (adds_up) left_out_ = LinearRows::too_large(asker.model());
    if (!train.empty() && adds_up) {
      const TrainedOn on{asker.model(), train, reading, context, observer};
      if (left_out_.empty()) {
        linear_ = std::make_unique<LinearRows>(on, training("a linear model", observer));
      }
      if (!named_) biases_ = BiasesOfRows::of(on, given);
    }
    const bool linear = adds_up && left_out_.empty();
    if (train.empty() && (ranked || linear)) beside_ = linear ? "a linear model" : "skip-gram";
    if (ranked) rankings_.emplace(asker, target, own && !choice, skip_gram_.get());
    if (choice) classes_.emplace(asker, target, linear_.get());
    if (!named_) guesses_.emplace(asker, target, linear_.get(), biases_);
  }

  void add(const SeenRow& row, std::span<const Cell> given, const Cell& truth) {
    ++all_;
    if (guesses_) return guesses_->add(row, given, *truth);
    const std::vector<uint32_t> right = asker_.members(target_, *truth);
    unseen_ += right.empty();
    if (right.empty()) return;
    if (rankings_) rankings_->add(row, given, right);
    if (classes_) classes_->add(row, given, right.front());
  }

  uint64_t rows() const { return all_; }
  uint64_t unseen() const { return unseen_; }
  bool nothing() const { return (guesses_ ? guesses_->size() : all_ - unseen_) == 0; }

  void tell(Report& out) {
    if (classes_) classes_->tell(out);
    if (rankings_) out.comparisons.push_back(rankings_->comparison());
    if (guesses_) out.comparisons.push_back(guesses_->comparison());
    out.counts.emplace_back("rows", all_);
    if (named_) out.counts.emplace_back("unseen", unseen_);
  }
  // Why it has no linear model beside it; "" if it has one, or such a target has none.
  const std::string& left_out() const { return left_out_; }
  // What could stand beside it if the table that the model learned from were given; "": nothing.
  std::string_view beside() const { return beside_; }

 private:
  RowAsker& asker_;
  const size_t target_;
  const bool named_;
  std::unique_ptr<SkipGram> skip_gram_;
  std::unique_ptr<LinearRows> linear_;
  std::optional<BiasesOfRows> biases_;
  std::string left_out_;
  std::optional<NameRankings> rankings_;
  std::optional<NumberGuesses> guesses_;
  std::optional<ClassGuesses> classes_;
  std::string_view beside_;
  uint64_t all_ = 0, unseen_ = 0;
};

}  // namespace

Report evaluate_rows(const Model::Impl& model, const std::vector<std::string>& sources,
                     const EvaluateOptions& options, std::span<const Setting> reading,
                     const Context& context, Observer* observer) {
  RowAsker asker(model, "eval");
  const size_t target = target_of(asker, options.target);
  const std::string& name = asker.group(target).column.name;
  const std::vector<uint8_t> given = given_groups(asker.encoding(), options.given, target);
  Measures measures(asker, target, options.train, reading, given, context, observer);
  GroupedRows rows(asker.encoding(), sources, reading, context, observer);
  if (!rows.has(target)) {
    throw fault(ErrorKind::kInput, "{}: it has no column {} to compare with", sources.front(),
                name);
  }
  Leaks leaks(asker.encoding());
  std::vector<Cell> cells;
  while (rows.next()) {
    const Cell truth = rows.cells()[target];
    if (!truth) continue;
    cells.assign(rows.cells().begin(), rows.cells().end());
    for (size_t g = 0; g < cells.size(); ++g) {
      if (!given[g]) cells[g].reset();
    }
    leaks.look(cells, *truth);
    measures.add(asker.see(cells), cells, truth);
  }
  if (measures.nothing()) {
    throw fault(ErrorKind::kInput, "{}: no row has a value of {} that the model knows",
                sources.front(), name);
  }
  Report out;
  out.title = fmt::format(
      "{} from {}, {}{}", name, options.given.empty() ? "the other columns" : options.given,
      count_of(measures.rows(), "row"),
      measures.unseen()
          ? fmt::format("; {} have a value that training never saw", grouped(measures.unseen()))
          : "");
  measures.tell(out);
  leaks.tell(measures.rows(), name, out);
  if (!options.train.empty() && !measures.left_out().empty()) {
    out.notes.push_back({Note::Level::kNote, measures.left_out()});
  }
  if (!measures.beside().empty()) {
    out.notes.push_back(
        {Note::Level::kHint, fmt::format("with --train and the table that the model was trained "
                                         "on, {} is measured for comparison",
                                         measures.beside())});
  }
  return out;
}

}  // namespace kith
