// SPDX-License-Identifier: Apache-2.0
#include "kith/tune.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "api/plan.h"
#include "api/reading.h"
#include "core/error.h"
#include "core/job.h"
#include "core/rng.h"
#include "data/labelled/labelled.h"
#include "data/table/cells.h"
#include "eval/calibrated_loss.h"
#include "models/capabilities.h"
#include "models/tells_error.h"

namespace kith {
namespace {

// A point of the search: one number in [0, 1] for each setting, on its own logarithmic scale.
using Point = std::vector<double>;

bool is_among(std::span<const std::string> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// What was asked for; else all that have a range, and what was given stays as it is.
std::vector<FieldInfo> searched_fields(Plan::Impl& plan, const Dataset& data,
                                       const std::string& wanted, std::vector<std::string>& fixed) {
  const Section settings = plan.model->settings();
  std::vector<std::string_view> names;
  for (const FieldInfo& f : settings.fields) {
    if (f.search && plan.model->matters(f.name, data)) names.push_back(f.name);
  }
  if (names.empty()) {
    throw fault(ErrorKind::kUsage, "{} has no settings with a range to search", plan.info->name);
  }
  std::vector<std::string> asked;
  for_each_member(wanted, ",", [&](std::string_view name) { asked.emplace_back(name); });
  for (const std::string& name : asked) {
    if (std::ranges::find(names, name) != names.end()) continue;
    const std::string nearest = suggest(name, names);
    throw fault(
        ErrorKind::kUsage, "{} has no range to search{}", name,
        nearest.empty() ? fmt::format("; these have: {}", fmt::join(names, ", ")) : nearest);
  }
  std::vector<FieldInfo> out;
  for (const FieldInfo& f : settings.fields) {
    if (std::ranges::find(names, f.name) == names.end()) continue;
    const bool stays = asked.empty() ? is_among(plan.given, f.name) : !is_among(asked, f.name);
    if (!stays) {
      out.push_back(f);
    } else if (is_among(plan.given, f.name)) {
      fixed.emplace_back(f.name);
    }
  }
  if (out.empty()) {
    throw fault(ErrorKind::kUsage,
                "all settings of {} with a range are given, so nothing is left to search; leave "
                "some out, or name them: --search {}",
                plan.info->name, fmt::join(fixed, ","));
  }
  return out;
}

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1.0 - rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

class Points {
 public:
  Points(size_t settings, uint64_t seed) : settings_(settings), seed_(seed) {}

  // The k-th point, k from 1: first evenly over everything, then near the best, nearer and nearer.
  Point at(uint64_t k, const Point& best) const {
    const uint64_t even = 4 + 2 * settings_;
    if (k <= even || best.empty()) return evenly(k);
    Rng rng(seed_, k);
    Point out(settings_);
    const double radius = 0.25 * std::pow(0.93, static_cast<double>(k - even));
    for (size_t d = 0; d < settings_; ++d) {
      out[d] = std::clamp(best[d] + radius * normal(rng), 0.0, 1.0);
    }
    return out;
  }

  // The additive recurrence of the generalised golden ratio.
  Point evenly(uint64_t k) const {
    Point out(settings_);
    double phi = 2;
    for (int i = 0; i < 30; ++i) {
      phi = std::pow(1 + phi, 1.0 / (static_cast<double>(settings_) + 1));
    }
    Rng shift(seed_, 0);
    for (size_t d = 0; d < settings_; ++d) {
      const double start = shift.uniform();
      const double x = start + static_cast<double>(k) * std::pow(phi, -static_cast<double>(d + 1));
      out[d] = x - std::floor(x);
    }
    return out;
  }

 private:
  size_t settings_;
  uint64_t seed_;
};

double value_at(const FieldInfo& f, double x) {
  const double v = f.search->low * std::pow(f.search->high / f.search->low, x);
  if (f.type == FieldType::kWhole) return std::round(v);
  const double digits = std::pow(10, 2 - std::floor(std::log10(v)));  // three that count
  return std::round(v * digits) / digits;
}

// The middle for what is not given, or is no number.
double place_of(const FieldInfo& f, const std::string& text) {
  const double v = std::strtod(text.c_str(), nullptr);
  if (!(v > 0)) return 0.5;
  return std::clamp(std::log(v / f.search->low) / std::log(f.search->high / f.search->low), 0.0,
                    1.0);
}

// Of models that classify, and settings should not be chosen by how sure of themselves they are:
// see CalibratedLoss. Nothing of others, which are judged by the score of their training.
std::optional<double> loss_of_labels(const ModelBase& model, const Dataset& data) {
  constexpr size_t kNumbers = size_t{1} << 19;  // probabilities, so that judging takes no time
  const auto* const asked = dynamic_cast<const Classifies*>(&model);
  const auto* const texts = dynamic_cast<const Labelled*>(&data);
  if (!asked || !texts || texts->held_out().size() == 0) return std::nullopt;
  const Documents& held_out = texts->held_out();
  std::vector<float> likely(asked->labels().size());
  eval::CalibratedLoss out(likely.size(), asked->exclusive());
  const size_t step = 1 + held_out.size() * likely.size() / kNumbers;
  for (size_t i = 0; i < held_out.size(); i += step) {
    asked->classify(held_out.words_of(i), likely);
    out.add(likely, held_out.labels_of(i));
  }
  return out.best();
}

class Tuner {
 public:
  Tuner(Plan::Impl& plan, Dataset& data, std::vector<FieldInfo> fields, Job& job)
      : plan_(plan), data_(data), fields_(std::move(fields)), job_(job) {
    base_ = to_toml(std::vector<Section>{plan.model->settings()});
  }

  // Settings as given, the first of all runs.
  std::pair<Trial, Point> first() {
    Trial out;
    Point point;
    const Section given = plan_.model->settings();
    for (const FieldInfo& f : fields_) {
      out.values.push_back(given.get(f.name));
      point.push_back(place_of(f, out.values.back()));
    }
    run(out);
    return {std::move(out), std::move(point)};
  }
  // Not run yet.
  Trial at(const Point& point) const {
    Trial out;
    for (size_t d = 0; d < fields_.size(); ++d) {
      out.values.push_back(fmt::format("{:g}", value_at(fields_[d], point[d])));
    }
    return out;
  }

  void run(Trial& trial) {
    const Stopwatch watch;
    const std::unique_ptr<ModelBase> model = plan_.info->make();
    const Section section = model->settings();
    apply_settings(settings_from_toml_text(base_, "the settings"), {&section, 1});
    for (size_t d = 0; d < fields_.size(); ++d) {
      if (trial.values[d] == "auto") continue;
      section.set(fields_[d].name, Value(std::strtod(trial.values[d].c_str(), nullptr)));
    }
    section.set("refit", Value(false));  // a run is judged by what is held out, and no longer
    std::optional<double> held_out;
    job_.on_progress = [&](const Progress& p) {
      if (p.held_out) held_out = p.held_out;
    };
    try {
      if (model->fit(data_, job_, false)) trial.held_out = judged(*model, held_out);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kDiverged && e.kind() != ErrorKind::kCancelled) throw;
    }
    trial.seconds = watch.seconds();
  }
  // What the scores of runs are, if not the loss of training.
  const std::string& judged_by() const { return judged_by_; }

 private:
  // Runs that learned a number with different losses can be compared by its error alone.
  std::optional<double> judged(const ModelBase& model, std::optional<double> held_out) {
    if (const auto of_labels = loss_of_labels(model, data_)) return of_labels;
    const auto* const telling = dynamic_cast<const TellsError*>(&model);
    if (!held_out || !telling || telling->error_name().empty()) return held_out;
    judged_by_ = telling->error_name();
    return telling->error_now();
  }

  Plan::Impl& plan_;
  Dataset& data_;
  const std::vector<FieldInfo> fields_;
  Job& job_;
  std::string base_, judged_by_;
};

bool better(const Trial& a, const Trial& b) {
  return a.held_out && (!b.held_out || *a.held_out < *b.held_out);
}

constexpr uint64_t kEnoughRepeats = 1000;  // then there is nothing new to try

bool was_tried(const std::vector<Trial>& trials, const Trial& trial) {
  return std::ranges::any_of(trials, [&](const Trial& t) { return t.values == trial.values; });
}

Note note_of_fixed(std::span<const std::string> names) {
  return {
      Note::Level::kNote,
      fmt::format("{} as given, not searched; to search around the value{}: "
                  "--search {}",
                  fmt::join(names, " and "), names.size() == 1 ? "" : "s", fmt::join(names, ","))};
}

// More is held out than by training, where that is little and nobody said how much.
void widen_holdout(Plan::Impl& plan) {
  if (!plan.info->data->holdout_to_tune) return;
  for (const Section& s : plan.reader->settings()) {
    if (s.find("holdout") && s.get("holdout") == "auto") {
      s.set("holdout", *plan.info->data->holdout_to_tune);
    }
  }
}

}  // namespace

std::vector<Setting> Tuned::best_settings() const {
  std::vector<Setting> out;
  for (size_t d = 0; d < names.size(); ++d) {
    const std::string& value = trials[best].values[d];
    if (value == "auto") continue;
    out.push_back({names[d], std::strtod(value.c_str(), nullptr), "tune"});
  }
  return out;
}

std::string Tuned::flags(const Trial& trial) const {
  std::string out;
  for (size_t d = 0; d < names.size(); ++d) {
    if (trial.values[d] != "auto") out += fmt::format(" --{} {}", names[d], trial.values[d]);
  }
  return out;
}

Tuned tune(Plan planned, const TuneOptions& options, Context& context, Observer* observer) {
  const Stopwatch watch;
  Plan::Impl& plan = planned.impl();
  widen_holdout(plan);
  const std::unique_ptr<Dataset> data = read_data(plan, context, observer);
  Tuned out;
  const std::vector<FieldInfo> fields = searched_fields(plan, *data, options.search, out.fixed);
  if (observer && !out.fixed.empty()) observer->on(note_of_fixed(out.fixed));
  Job job(context);
  job.seed = static_cast<uint64_t>(plan.run.seed);
  job.deterministic = true;  // so that the runs do not depend on which thread was first
  out.model = plan.info->name;
  for (const FieldInfo& f : fields) out.names.emplace_back(f.name);
  Tuner tuner(plan, *data, fields, job);
  auto [given, best_point] = tuner.first();
  out.trials.push_back(std::move(given));
  if (!out.trials[0].held_out && !job.cancelled()) {
    throw fault(ErrorKind::kUsage,
                "nothing was held out to compare settings with; give --holdout, or more data");
  }
  if (observer && !tuner.judged_by().empty()) {
    observer->on(Note{Note::Level::kNote, "held-out is " + tuner.judged_by()});
  }
  const Points points(fields.size(), job.seed);
  const auto total = static_cast<uint64_t>(options.trials.value_or(0));
  uint64_t again = 0;  // points whose settings had been tried, one after the other
  for (uint64_t k = 1; !job.cancelled() && again < kEnoughRepeats; ++k) {
    const uint64_t number = out.trials.size();
    if (total > 0 ? number >= total : watch.seconds() > options.budget) break;
    Point point = points.at(k, best_point);
    Trial trial = tuner.at(point);
    if (was_tried(out.trials, trial)) {  // all about the best has been tried
      point = points.evenly(k);
      trial = tuner.at(point);
    }
    again = was_tried(out.trials, trial) ? again + 1 : 0;
    if (again > 0) continue;
    tuner.run(trial);
    if (job.cancelled()) break;
    Attempt attempt;
    attempt.number = number;
    attempt.total = total;
    attempt.share = total > 0 ? static_cast<double>(number) / static_cast<double>(total)
                              : std::min(1.0, watch.seconds() / options.budget);
    attempt.better = better(trial, out.trials[out.best]);
    if (attempt.better) {
      out.best = out.trials.size();
      best_point = point;
      attempt.text =
          fmt::format("{}: held-out {:.4f}", out.flags(trial).substr(1), *trial.held_out);
    } else {
      attempt.text = fmt::format("best held-out {:.4f}", out.trials[out.best].held_out.value_or(0));
    }
    out.trials.push_back(std::move(trial));
    if (observer) observer->on(attempt);
  }
  out.cancelled = job.cancelled();
  return out;
}

}  // namespace kith
