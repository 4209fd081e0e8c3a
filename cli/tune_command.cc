// SPDX-License-Identifier: Apache-2.0
// Settings by search: many short runs on the same data, judged by the held-out score. The runs are
// a function of the seed and of each other's scores alone; the budget only says how many there are.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/rng.h"
#include "interrupt.h"
#include "json.h"
#include "model_file.h"
#include "train_data.h"
#include "train_report.h"

namespace kith::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct TuneOptions {
  double budget = 60;
  int64_t trials = 0;
  std::string search;

  static constexpr std::tuple fields{
      field("budget", &TuneOptions::budget, "seconds; no run is begun after them").between(0, 1e9),
      field("trials", &TuneOptions::trials,
            "runs, whatever they take; 0: as many as fit the budget")
          .between(0, 1e6),
      field("search", &TuneOptions::search,
            "settings to search, such as dim,penalty; else all that have a range"),
  };
};

std::vector<Section> sections(std::string_view topic) {
  static TuneOptions defaults;
  std::vector<Section> out{Section("Search", defaults)};
  for (Section& s : train_sections(topic)) out.push_back(std::move(s));
  return out;
}

// The flags of the search, taken out of the words; the rest are those of train.
TuneOptions take_options(std::vector<std::string_view>& args) {
  TuneOptions out;
  const Section section("Search", out);
  std::vector<std::string_view> own, rest;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view name = args[i].substr(0, args[i].find('='));
    const bool ours = std::ranges::any_of(section.fields, [&](const FieldInfo& f) {
      return name.size() > 2 && name.substr(0, 2) == "--" && name.substr(2) == f.name;
    });
    (ours ? own : rest).push_back(args[i]);
    if (ours && name.size() == args[i].size() && i + 1 < args.size()) own.push_back(args[++i]);
  }
  const Arguments parsed = parse_arguments(own, {&section, 1});
  kith::apply(parsed.settings, {&section, 1});
  args = std::move(rest);
  return out;
}

// A point of the search: one number in [0, 1] for each setting, on its own logarithmic scale.
using Point = std::vector<double>;

std::vector<FieldInfo> searched(const Section& settings, const TrainData& data,
                                const std::string& wanted) {
  std::vector<FieldInfo> out;
  std::vector<std::string_view> names;
  for (const FieldInfo& f : settings.fields) {
    if (f.search && data.has_say(f.name)) names.push_back(f.name);
  }
  std::vector<std::string> asked;
  for (size_t at = 0; !wanted.empty() && at <= wanted.size();) {
    const size_t end = std::min(wanted.find(',', at), wanted.size());
    asked.push_back(wanted.substr(at, end - at));
    at = end + 1;
  }
  for (const std::string& name : asked) {
    if (std::ranges::find(names, name) != names.end()) continue;
    const std::string nearest = suggest(name, names);
    throw Error(
        ErrorKind::kUsage, "{} has no range to be searched{}", name,
        nearest.empty() ? fmt::format("; these have: {}", fmt::join(names, ", ")) : nearest);
  }
  for (const FieldInfo& f : settings.fields) {
    if (std::ranges::find(names, f.name) == names.end()) continue;
    if (asked.empty() || std::ranges::find(asked, f.name) != asked.end()) out.push_back(f);
  }
  return out;
}

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1.0 - rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

class Search {
 public:
  Search(size_t settings, uint64_t seed) : settings_(settings), seed_(seed) {}

  // The k-th point, k from 1: first evenly over everything (the additive recurrence of the
  // generalised golden ratio), then near the best, nearer and nearer.
  Point point(uint64_t k, const Point& best) const {
    Rng rng(seed_, k);
    const uint64_t even = 4 + 2 * settings_;
    Point out(settings_);
    double phi = 2;
    for (int i = 0; i < 30; ++i)
      phi = std::pow(1 + phi, 1.0 / (static_cast<double>(settings_) + 1));
    Rng shift(seed_, 0);
    for (size_t d = 0; d < settings_; ++d) {
      const double start = shift.uniform();
      const double x = start + static_cast<double>(k) * std::pow(phi, -static_cast<double>(d + 1));
      out[d] = x - std::floor(x);
    }
    if (k <= even || best.empty()) return out;
    const double radius = 0.25 * std::pow(0.93, static_cast<double>(k - even));
    for (size_t d = 0; d < settings_; ++d) {
      out[d] = std::clamp(best[d] + radius * normal(rng), 0.0, 1.0);
    }
    return out;
  }

 private:
  size_t settings_;
  uint64_t seed_;
};

double value_at(const FieldInfo& f, double x) {
  const double v = f.search->low * std::pow(f.search->high / f.search->low, x);
  if (f.is_whole) return std::round(v);
  const double digits = std::pow(10, 2 - std::floor(std::log10(v)));  // three that count
  return std::round(v * digits) / digits;
}
double place_of(const FieldInfo& f, double v) {
  if (!(v > 0)) return 0.5;
  return std::clamp(std::log(v / f.search->low) / std::log(f.search->high / f.search->low), 0.0,
                    1.0);
}

struct Trial {
  std::vector<std::string> values;  // of the settings that are searched, as a user would type them
  Point point;
  std::optional<double> score;  // nothing if it diverged or was cut off
  double seconds = 0;
};

class Tuner {
 public:
  Tuner(const TrainPlan& plan, TrainData& data, std::vector<FieldInfo> fields, Job& job)
      : plan_(plan), data_(data), fields_(std::move(fields)), job_(job) {
    base_ = to_toml(std::vector<Section>{plan.model->settings()});
  }

  // Settings as given, the first of all runs.
  Trial first() {
    Trial out;
    const Section given = plan_.model->settings();
    for (const FieldInfo& f : fields_) {
      out.values.push_back(given.get(f.name));
      out.point.push_back(place_of(f, std::strtod(out.values.back().c_str(), nullptr)));
    }
    run(out);
    return out;
  }
  Trial at(const Point& point) {
    Trial out;
    out.point = point;
    for (size_t d = 0; d < fields_.size(); ++d) {
      out.values.push_back(fmt::format("{:g}", value_at(fields_[d], point[d])));
    }
    run(out);
    return out;
  }

 private:
  void run(Trial& trial) {
    const auto start = Clock::now();
    const std::unique_ptr<Model> model = plan_.info->make();
    const Section section = model->settings();
    kith::apply(settings_from_toml_text(base_, "the settings"), {&section, 1});
    for (size_t d = 0; d < fields_.size(); ++d) {
      const double v = std::strtod(trial.values[d].c_str(), nullptr);
      section.set(fields_[d].name, Value(v));
    }
    section.set("refit", Value(false));  // a run is judged by what is held out, and no longer
    std::optional<double> held_out;
    job_.on_progress = [&](const Progress& p) {
      if (p.held_out) held_out = p.held_out;
    };
    try {
      data_.train(*model, job_);
      if (model->finished()) trial.score = held_out;
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kDiverged) throw;
    }
    trial.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }

  const TrainPlan& plan_;
  TrainData& data_;
  const std::vector<FieldInfo> fields_;
  Job& job_;
  std::string base_;
};

std::string flags_of(const std::vector<FieldInfo>& fields, const Trial& trial) {
  std::string out;
  for (size_t d = 0; d < fields.size(); ++d) {
    out += fmt::format(" --{} {}", fields[d].name, trial.values[d]);
  }
  return out;
}

bool better(const Trial& a, const Trial& b) { return a.score && (!b.score || *a.score < *b.score); }

void put_trials(const std::vector<FieldInfo>& fields, const std::vector<Trial>& trials) {
  std::vector<std::vector<std::string>> rows{{""}};
  for (const FieldInfo& f : fields) rows[0].emplace_back(f.name);
  rows[0].insert(rows[0].end(), {"held-out", "time"});
  std::vector<size_t> order(trials.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return better(trials[a], trials[b]); });
  constexpr size_t kShown = 10;
  for (size_t place = 0; place < order.size(); ++place) {
    const size_t i = order[place];
    if (place >= kShown && i != 0) continue;  // the settings as given are always among them
    auto& row = rows.emplace_back(
        std::vector<std::string>{i == 0 ? std::string("as given") : fmt::format("run {}", i)});
    row.insert(row.end(), trials[i].values.begin(), trials[i].values.end());
    row.push_back(trials[i].score ? fmt::format("{:.4f}", *trials[i].score) : "diverged");
    row.push_back(in_time(trials[i].seconds));
  }
  put_text(table(rows, "<" + std::string(fields.size() + 2, '>')));
}

Json json_of(const std::vector<FieldInfo>& fields, const Trial& trial) {
  Json settings = Json::object();
  for (size_t d = 0; d < fields.size(); ++d) {
    settings[std::string(fields[d].name)] = std::strtod(trial.values[d].c_str(), nullptr);
  }
  Json out{{"settings", settings}, {"held_out", nullptr}, {"seconds", trial.seconds}};
  if (trial.score) out["held_out"] = *trial.score;
  return out;
}

bool says(std::span<const std::string_view> args, std::string_view flag) {
  return std::ranges::any_of(args, [&](std::string_view a) {
    return a == flag || (a.starts_with(flag) && a.substr(flag.size()).starts_with('='));
  });
}

int run_tune(Args given) {
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::vector<std::string_view> args(given.begin(), given.end());
  const TuneOptions options = take_options(args);
  Interrupts interrupts;
  TrainPlan plan = make_plan(args);
  const bool json = plan.options.json;
  Status status(plan.options.quiet || json);
  // A tenth tells settings apart better than the twentieth that training holds out.
  if (plan.info->input == InputKind::kRatings && !says(args, "--holdout"))
    plan.ratings.holdout = 0.1;
  const std::unique_ptr<TrainData> data = read_data(plan, status);
  const std::vector<FieldInfo> fields = searched(plan.model->settings(), *data, options.search);
  if (fields.empty()) {
    throw Error(ErrorKind::kUsage, "{} has no settings with a range to be searched",
                plan.info->name);
  }
  Job job;
  job.threads = thread_count(plan.options.threads);
  job.seed = static_cast<uint64_t>(plan.run.seed);
  job.deterministic = plan.run.deterministic;
  interrupts.guard(job);

  Tuner tuner(plan, *data, fields, job);
  std::vector<Trial> trials{tuner.first()};
  if (!trials[0].score && !job.cancelled()) {
    throw Error(ErrorKind::kUsage,
                "nothing was held out to judge the settings by; give --holdout, or more data");
  }
  size_t best = 0;
  const Search search(fields.size(), job.seed);
  for (uint64_t k = 1; !job.cancelled(); ++k) {
    if (options.trials > 0 ? k >= static_cast<uint64_t>(options.trials)
                           : seconds() > options.budget) {
      break;
    }
    Trial trial = tuner.at(search.point(k, trials[best].point));
    if (job.cancelled()) break;
    if (better(trial, trials[best])) {
      best = trials.size();
      status.line(labelled("better", fmt::format("run {}:{}: held-out {:.4f}", k,
                                                 flags_of(fields, trial), *trial.score)));
    }
    trials.push_back(std::move(trial));
    if (status.due()) {
      status.show(options.trials > 0 ? static_cast<double>(k) / static_cast<double>(options.trials)
                                     : seconds() / options.budget,
                  fmt::format("run {}  best held-out {:.4f}", k, trials[best].score.value_or(0)));
    }
  }
  status.clear();
  std::string command = "train";
  for (const std::string_view a : args) command += ' ' + shell_quoted(shown_source(a));
  command += flags_of(fields, trials[best]);
  if (json) {
    Json all = Json::array();
    for (const Trial& t : trials) all.push_back(json_of(fields, t));
    put_json({{"model", plan.info->name},
              {"best", json_of(fields, trials[best])},
              {"given", json_of(fields, trials[0])},
              {"runs", all},
              {"command", command}});
  } else {
    put_trials(fields, trials);
    say("{}", labelled("next", fmt::format("{} {}", program, command)));
  }
  if (job.cancelled()) return kInterrupted;
  if (!says(args, "-o") && !says(args, "--output")) return kDone;
  std::vector<std::string> words(args.begin(), args.end());
  for (size_t d = 0; d < fields.size(); ++d) {
    words.push_back(fmt::format("--{}", fields[d].name));
    words.push_back(trials[best].values[d]);
  }
  const std::vector<std::string_view> views(words.begin(), words.end());
  return train(views).finished ? kDone : kInterrupted;
}

}  // namespace

const Command kTune{
    "tune",
    "[MODEL] FILE...",
    "search the settings of a model by its held-out score",
    {"kith tune mf ratings.dat", "kith tune als ratings.csv --budget 300 -o films.kith",
     "kith tune word2vec corpus.txt --search lr --trials 8"},
    "Takes what train takes. The first run has the settings as given, the next are spread evenly "
    "over "
    "the ranges, then they gather around the best. The same seed makes the same runs; the budget "
    "decides how many. With -o the model is trained with the best settings in the end.",
    sections,
    run_tune,
};

}  // namespace kith::cli
