// SPDX-License-Identifier: Apache-2.0
// A target's values as numbers that a score can be compared with.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.h"
#include "data/table/cells.h"
#include "models/feat2vec/choices.h"
#include "models/feat2vec/model.h"
#include "models/feat2vec/problem.h"

namespace kith::feat2vec {
namespace {

constexpr double kNormal = 1.4826;  // deviation / median distance, of normal numbers
constexpr double kClearly = 0.99;   // of an error: less is no accident
constexpr double kMilder = 3;       // a penalty, where few columns have to say all

// The value with as much weight below as above.
double middle(const std::vector<double>& values, const std::vector<uint64_t>& counts) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](uint32_t i) { return values[i]; });
  const uint64_t total = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  uint64_t seen = 0;
  for (const uint32_t i : order) {
    seen += counts[i];
    if (2 * seen >= total) return values[i];
  }
  return values[order.back()];
}

}  // namespace

// 0 and 1; which is which stays with the model.
std::vector<double> Feat2Vec::class_values(const Group& group, const Entities& e) {
  const bool classes = is_of_classes(*used_.loss);
  if (e.size != 2 || (!group.numeric() && !group.named())) {
    throw fault(ErrorKind::kInput, "--loss {} wants a target of {}; {} has {} values of type {}",
                detail::show(*used_.loss), classes ? "two values" : "numbers", group.column.name,
                e.size, detail::show(group.column.type));
  }
  std::vector<double> y{0, 1};
  if (group.numeric()) {
    if (e.numbers[0] > e.numbers[1]) std::swap(y[0], y[1]);
    target_yes_ = fmt::format("{}", std::max(e.numbers[0], e.numbers[1]));
    return y;
  }
  const Names& names = encoding_.spaces[group.space].names;
  const auto yes = parse_boolean(names[0]);
  const bool first = yes ? *yes : names[0] > names[1];
  if (first) std::swap(y[0], y[1]);
  target_yes_ = std::string(names[first ? 0 : 1]);
  return y;
}

// In units of their own spread: robust losses by quantiles, which a few wild values cannot move.
std::vector<double> Feat2Vec::number_values(const Entities& e) {
  const std::vector<double>& y = e.numbers;
  // In units of the largest, so that sums and squares stay in range.
  double unit = 0, total = 0, sum = 0, squares = 0;
  for (const double v : y) unit = std::max(unit, std::abs(v));
  if (unit == 0) unit = 1;
  for (size_t i = 0; i < y.size(); ++i) {
    const auto c = static_cast<double>(e.counts[i]);
    total += c;
    sum += c * (y[i] / unit);
  }
  const double mean = sum / std::max(1.0, total);
  target_mean_ = mean * unit;
  for (size_t i = 0; i < y.size(); ++i) {
    const double away = y[i] / unit - mean;
    squares += static_cast<double>(e.counts[i]) * away * away;
  }
  double spread = std::sqrt(squares / std::max(1.0, total)) * unit;
  if (*used_.loss != Loss::kSquared) {
    const double median = middle(y, e.counts);
    std::vector<double> away(y.size());
    for (size_t i = 0; i < y.size(); ++i) away[i] = std::abs(y[i] - median);
    const double deviation = kNormal * middle(away, e.counts);
    target_mean_ = median;
    if (deviation > 0) spread = deviation;
  }
  target_scale_ = spread > 0 ? spread : 1;
  target_low_ = *std::ranges::min_element(y);
  target_high_ = *std::ranges::max_element(y);
  return y;
}

namespace {

// The least of a function that falls and then rises, to within `near`.
template <class F>
double least(const F& f, double low, double high, double near) {
  constexpr double kGolden = 0.6180339887498949;
  double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
  double at_a = f(a), at_b = f(b);
  while (high - low > near) {
    if (at_a <= at_b) {
      high = std::exchange(b, a);
      at_b = at_a;
      a = high - kGolden * (high - low);
      at_a = f(a);
    } else {
      low = std::exchange(a, b);
      at_a = at_b;
      b = low + kGolden * (high - low);
      at_b = f(b);
    }
  }
  return (low + high) / 2;
}

// -log of e^(k z_truth) / sum e^(k z).
double surprise(std::span<const float> z, size_t truth, double k) {
  const double highest = *std::ranges::max_element(z);
  double sum = 0;
  for (const float x : z) sum += std::exp(k * (x - highest));
  return std::log(sum) - k * (z[truth] - highest);
}

// Of a cell that holds several values: whether the likeliest is one of them, as one is told it.
double doubt(std::span<const float> z, bool right, double k) {
  const double highest = *std::ranges::max_element(z);
  double sum = 0;
  for (const float x : z) sum += std::exp(k * (x - highest));
  constexpr double kLeast = 1e-12;
  return -std::log(std::max(kLeast, right ? 1 / sum : 1 - 1 / sum));
}

}  // namespace

void Feat2Vec::calibrate(const Table& table, const Context& context) {
  sharpness_.reset();
  const size_t t = target();
  if (t == Encoding::npos || !encoding_.groups[t].named()) return;
  if (scores_target() && *used_.loss != Loss::kLogistic) return;
  const Entities& e = table.entities(t);
  const Group& group = encoding_.groups[t];
  const Names& names = encoding_.spaces[group.space].names;
  if (names.size() < 2) return;
  const bool several =
      group.column.type == ColumnType::kSet || group.column.type == ColumnType::kText;
  const uint64_t rows = std::min(table.held_out(), kMostScores / names.size());
  const Matrix all = scores_target() ? Matrix() : values(t);
  Matrix scores(rows, names.size());
  std::vector<uint32_t> truth;  // the value; of several, whether the likeliest is one of them
  std::vector<uint32_t> members;
  SeenRow seen;
  for (uint64_t r = 0; r < rows; ++r) {
    if (r % 256 == 0) context.check();
    const auto row = table.held_out_row(r);
    if (row[t] == kNoEntity) continue;
    members.clear();
    Feature one{};
    for (const Feature& f : e.bag(row[t], one)) {
      const uint64_t name = f.row - encoding_.base(group.space);
      if (name < names.size()) members.push_back(static_cast<uint32_t>(name));
    }
    if (members.empty()) continue;
    see_entities(table, row, seen);
    const auto z = scores.row(truth.size());
    if (scores_target()) {
      std::ranges::copy(class_scores(seen).scores, z.begin());
    } else {
      const std::vector<float> c = this->context(seen, t);
      for (size_t v = 0; v < names.size(); ++v) {
        z[v] = std::inner_product(c.begin(), c.end(), all.row(v).begin(), 0.0f);
      }
    }
    const auto best = std::ranges::max_element(z.first(names.size())) - z.begin();
    truth.push_back(several ? std::ranges::count(members, best) > 0 : members.front());
  }
  // A little is known beforehand, which matters where few rows are held out.
  const auto loss = [&](double log_k) {
    double sum = log_k * log_k / 2;
    for (size_t i = 0; i < truth.size(); ++i) {
      const auto z = scores.row(i).first(names.size());
      sum += several ? doubt(z, truth[i] == 1, std::exp(log_k))
                     : surprise(z, truth[i], std::exp(log_k));
    }
    return sum;
  };
  sharpness_ = std::exp(least(loss, -4, 4, 1e-3));
}

double Feat2Vec::squared_error(const Table& table, double unit, const Context& context) const {
  const size_t t = target();
  const Entities& e = table.entities(t);
  const std::vector<double>& numbers = encoding_.groups[t].values;
  const Matrix all = scores_target() ? Matrix() : values(t);
  SeenRow seen;
  double sum = 0, count = 0;
  for (uint64_t r = 0; r < table.held_out(); ++r) {
    if (r % 256 == 0) context.check();
    const auto row = table.held_out_row(r);
    if (row[t] == kNoEntity) continue;
    see_entities(table, row, seen);
    double guess = 0;
    if (scores_target()) {
      guess = target_value(seen);
    } else {
      const std::vector<float> c = this->context(seen, t);
      std::vector<double> z(numbers.size());
      for (size_t v = 0; v < z.size(); ++v) {
        z[v] = std::inner_product(c.begin(), c.end(), all.row(v).begin(), 0.0);
      }
      const double highest = *std::ranges::max_element(z);
      double total = 0;
      for (size_t v = 0; v < z.size(); ++v) {
        const double p = std::exp(z[v] - highest);
        total += p;
        guess += p * numbers[v];
      }
      guess /= total;
    }
    const double away = guess / unit - e.numbers[row[t]] / unit;
    sum += away * away;
    ++count;
  }
  return sum / std::max(1.0, count);
}

// How a number can be learned besides as it was, and what that is called.
std::vector<Feat2Vec::Way> Feat2Vec::other_ways(const Table& table) const {
  const std::string& name = encoding_.groups[target()].column.name;
  std::vector<Way> out;
  const auto add = [&](std::string_view how) -> Config& {
    out.push_back({config_, fmt::format("{} {}", name, how)});
    return out.back().config;
  };
  Config& classes = add("by how likely each of its values is");
  classes.loss = Loss::kSoftmax;
  classes.choices.reset();  // which are of a score
  if (!config_.l2) {
    Config& milder = add("with a milder penalty");
    milder.loss = used_.loss;
    milder.l2 = *used_.l2 / kMilder;
  }
  if (!config_.choices && *used_.l2 > 0 && !columns_of_choices(table, config_).empty()) {
    Config& choices = add("with what values stand with (--choices)");
    choices.loss = used_.loss;
    choices.choices = true;
  }
  return out;
}

void Feat2Vec::choose_settings(const Table& table, const Job& job) {
  if (!loss_is_open(config_, encoding_)) return;
  // Nothing changes before all is known: whoever is cancelled on the way begins here again.
  std::optional<Feat2Vec> best;
  const double first_scale = target_scale_;
  double error = squared_error(table, first_scale, job);
  const std::vector<Way> others = other_ways(table);
  for (size_t k = 0; k < others.size(); ++k) {
    Feat2Vec other;
    other.config_ = others[k].config;
    other.trial_ = true;
    Job run(job.context());
    run.seed = job.seed;
    run.deterministic = job.deterministic;
    TrialRun trial{.number = k + 1, .total = others.size(), .text = others[k].name};
    run.on_progress = [&](const Progress& p) {
      const double done =
          static_cast<double>(p.done) / static_cast<double>(std::max(p.total, p.done));
      trial.share = (static_cast<double>(k) + done) / static_cast<double>(others.size());
      job.on_trial(trial);
    };
    try {
      if (!other.learn(table, run)) job.context().check();
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kDiverged) throw;
      continue;
    }
    const double found = other.squared_error(table, first_scale, job);
    if (!(found < kClearly * error)) continue;
    trial.text += fmt::format(": held-out RMSE {:.4g}, before {:.4g}",
                              std::sqrt(found) * first_scale, std::sqrt(error) * first_scale);
    trial.better = true;
    job.on_trial(trial);
    error = found;
    other.theta_ = Matrix();
    best = std::move(other);
  }
  if (!best) return;
  used_ = best->used_;
  units_ = best->units_;
  target_mean_ = best->target_mean_;
  target_scale_ = best->target_scale_;
  target_low_ = best->target_low_;
  target_high_ = best->target_high_;
  const double first = state_.held_out.front();
  state_.held_out = best->state_.held_out;
  state_.kept = best->state_.kept;
  state_.refit = state_.kept.value_or(state_.held_out.size() - 1);
  if (*used_.loss == Loss::kSquared) return;
  // Nats of values say nothing beside the errors of the first run.
  error_before_ = std::sqrt(2 * first) * first_scale;
  error_ = std::sqrt(error) * first_scale;
}

// A number is told by its error, whatever the loss that was chosen for it.
std::string Feat2Vec::error_name() const {
  const size_t t = target();
  if (t == Encoding::npos || !encoding_.groups[t].numeric()) return "";
  if (*used_.loss != Loss::kSquared && !error_) return "";
  const Column& column = encoding_.groups[t].column;
  return fmt::format("the root mean square error of {}{}", column.name,
                     column.type == ColumnType::kDate ? ", in days" : "");
}

double Feat2Vec::error_of(double loss) const {
  const bool squares = !error_name().empty() && !error_;
  return squares ? std::sqrt(2 * loss) * target_scale_ : loss;
}

double Feat2Vec::error_before() const {
  return error_before_ ? *error_before_ : error_of(state_.held_out.front());
}

double Feat2Vec::error_now() const { return error_ ? *error_ : error_of(*state_.held_out_now()); }

void Feat2Vec::scale_target(const Table& table, Problem& problem) {
  if (problem.target == kNoRow) return;
  const Entities& e = table.entities(problem.target);
  const Group& group = encoding_.groups[problem.target];
  target_mean_ = 0;
  target_scale_ = 1;
  target_low_ = target_high_ = std::nullopt;
  const bool numbers = group.numeric() && !is_of_classes(*used_.loss);
  problem.target_values.clear();
  for (const double v : numbers ? number_values(e) : class_values(group, e)) {
    problem.target_values.push_back(
        static_cast<float>(v / target_scale_ - target_mean_ / target_scale_));
  }
}

}  // namespace kith::feat2vec
