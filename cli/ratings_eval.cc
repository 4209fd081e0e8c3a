// SPDX-License-Identifier: Apache-2.0
// eval for models of ratings: of a model on ratings kept from it, or of a kind of model that is
// trained on parts of the ratings and measured on the rest.
#include "ratings_eval.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "data/rating_columns.h"
#include "json.h"
#include "ratings_measures.h"
#include "train_report.h"

namespace kith::cli {
namespace {

MeasureOptions measure_options(const RatingsEval& options) {
  return {options.top, options.relevant, thread_count(options.threads)};
}

Json json_of(const Way& way) {
  Json out = Json::object();
  for (const auto& [name, value] : way.measures) out[name] = score(value);
  return out;
}

// The model's own measures at the top, the others' below "baselines".
Json json_of(const Measured& m, size_t top) {
  Json out{{"ratings", m.ratings}, {"users", m.users}, {"top", top}};
  for (const auto* ways : {&m.errors, &m.rankings}) {
    for (size_t i = 0; i < ways->size(); ++i) {
      const Json one = json_of((*ways)[i]);
      if (i == 0) {
        out.update(one);
      } else {
        out["baselines"][(*ways)[i].name] = one;
      }
    }
  }
  out["unknown_users"] = m.unknown_users;
  out["unknown_items"] = m.unknown_items;
  out["trained_on"] = m.trained_on;
  return out;
}

void put_ways(const std::vector<Way>& ways, size_t top, bool at) {
  if (ways.empty()) return;
  std::vector<std::vector<std::string>> rows{{""}};
  for (const auto& [name, value] : ways.front().measures) {
    rows.front().push_back(at ? fmt::format("{}@{}", name, top) : name);
  }
  for (const Way& way : ways) {
    auto& row = rows.emplace_back(std::vector<std::string>{way.name});
    for (const auto& [name, value] : way.measures) row.push_back(fmt::format("{:.4f}", value));
  }
  put_text(table(rows, "<>>>"));
}

void put_measured(const Measured& m, const RatingsEval& options) {
  put_ways(m.errors, options.top, false);
  if (!m.errors.empty() && !m.rankings.empty()) put_text("\n");
  put_ways(m.rankings, options.top, true);
}

void remark_on_ranking(const Measured& m) {
  // The first measure of a ranking is recall.
  if (!m.errors.empty() && m.rankings.size() > 1 &&
      m.rankings[0].measures[0].second < m.rankings[1].measures[0].second) {
    say("kith: what people choose is not what they rate highest; to rank it, learn from who chose "
        "what: als with --rating none, or --implicit where a rating says how strongly");
  }
}

void remark(const Measured& m) {
  if (m.unknown_users + m.unknown_items > 0) {
    say("kith: {} of users and {} of items that the model does not know are predicted by the mean "
        "and the other's bias",
        count_of(m.unknown_users, "rating"), count_of(m.unknown_items, "rating"));
  }
  if (m.trained_on > 0) {
    say("kith: warning: the model was trained on {} of these {}, which flatters it",
        grouped(m.trained_on), count_of(m.ratings, "rating"));
  }
  if (m.users == 0) say("kith: no user has a relevant rating here, so nothing is ranked");
  remark_on_ranking(m);
}

// The mean of what was measured on each part.
Measured mean_of(const std::vector<Measured>& parts) {
  Measured out = parts.front();
  const auto n = static_cast<double>(parts.size());
  // A part may have nothing to rank; then there is no mean of all.
  if (std::ranges::any_of(parts, [](const Measured& m) { return m.rankings.empty(); })) {
    out.rankings.clear();
  }
  for (auto ways : {&Measured::errors, &Measured::rankings}) {
    for (size_t w = 0; w < (out.*ways).size(); ++w) {
      for (size_t k = 0; k < (out.*ways)[w].measures.size(); ++k) {
        double sum = 0;
        for (const Measured& part : parts) sum += (part.*ways).at(w).measures[k].second;
        (out.*ways)[w].measures[k].second = sum / n;
      }
    }
  }
  for (auto count : {&Measured::ratings, &Measured::users, &Measured::unknown_users,
                     &Measured::unknown_items, &Measured::trained_on}) {
    out.*count = 0;
    for (const Measured& part : parts) out.*count += part.*count;
  }
  return out;
}

// One line a fold, the model's measures and how far they vary.
void put_folds(const std::vector<Measured>& parts, const RatingsEval& options) {
  std::vector<std::vector<std::string>> rows{{"fold"}};
  const auto measures = [](const Measured& m) {
    std::vector<std::pair<std::string, double>> out;
    if (!m.errors.empty()) out = m.errors.front().measures;
    if (m.rankings.empty()) return out;
    const auto& more = m.rankings.front().measures;
    out.insert(out.end(), more.begin(), more.end());
    return out;
  };
  const size_t errors = parts.front().errors.empty() ? 0 : 2;
  const auto first = measures(parts.front());
  for (size_t k = 0; k < first.size(); ++k) {
    rows[0].push_back(k < errors ? first[k].first
                                 : fmt::format("{}@{}", first[k].first, options.top));
  }
  std::vector<double> sum(first.size()), squares(first.size());
  for (size_t f = 0; f < parts.size(); ++f) {
    auto& row = rows.emplace_back(std::vector<std::string>{fmt::format("{}", f + 1)});
    const auto here = measures(parts[f]);
    for (size_t k = 0; k < here.size(); ++k) {
      row.push_back(fmt::format("{:.4f}", here[k].second));
      sum[k] += here[k].second;
      squares[k] += here[k].second * here[k].second;
    }
  }
  const auto n = static_cast<double>(parts.size());
  auto& deviations = rows.emplace_back(std::vector<std::string>{"deviation"});
  for (size_t k = 0; k < first.size(); ++k) {
    const double variance = std::max(0.0, (squares[k] - sum[k] * sum[k] / n) / (n - 1));
    deviations.push_back(fmt::format("{:.4f}", std::sqrt(variance)));
  }
  put_text("\n");
  put_text(table(rows, "<" + std::string(first.size(), '>')));
}

Measured train_and_measure(const ModelInfo& info, std::span<const Setting> settings,
                           const Ratings& ratings, Split part, const RatingsEval& options,
                           const SplitOptions& split, Status& status, const std::string& label) {
  const auto made = info.make();
  auto& model = dynamic_cast<RatingsModel&>(*made);
  const Section section = model.settings();
  kith::apply(settings, {&section, 1});
  Sparse held_out;
  if (split.holdout > 0) {
    const Ratings whole = ratings.with(std::move(part.train), {});
    Split inner =
        kith::split(whole, SplitBy::kRandom, split.holdout, static_cast<uint64_t>(split.seed) + 1);
    part.train = std::move(inner.train);
    held_out = std::move(inner.test);
  }
  Ratings trained = ratings.with(std::move(part.train), std::move(held_out));
  Job job;
  job.threads = thread_count(options.threads);
  job.seed = static_cast<uint64_t>(split.seed);
  job.on_progress = [&](const Progress& p) {
    if (!status.due()) return;
    const double share =
        static_cast<double>(p.done) / static_cast<double>(std::max<uint64_t>(1, p.total));
    status.show(share, fmt::format("{}, epoch {}", label, p.epoch));
  };
  model.train(std::move(trained), job);
  status.clear();
  return measure(model, part.test, measure_options(options));
}

void put_trained(const ModelInfo& info, const std::string& file, const std::vector<Measured>& parts,
                 const RatingsEval& options, const SplitOptions& split) {
  const Measured mean = mean_of(parts);
  if (options.json) {
    Json out{{"model", info.name}, {"split", detail::show(split.split)}};
    out.update(json_of(mean, options.top));
    for (size_t f = 0; parts.size() > 1 && f < parts.size(); ++f) {
      out["folds"].push_back(json_of(parts[f], options.top));
    }
    return put_json(out);
  }
  put("{}\n  {} on {}, split by {}: {}\n", styled(Stream::kOut, Look::kBold, file), info.name,
      count_of(mean.ratings, "test rating"), detail::show(split.split),
      parts.size() > 1 ? fmt::format("the mean of {} folds", parts.size())
                       : fmt::format("{:g} % tested", 100 * split.test));
  put_measured(mean, options);
  if (parts.size() > 1) put_folds(parts, options);
  remark_on_ranking(mean);
}

}  // namespace

int eval_ratings(OpenModel opened, const std::vector<std::string>& files,
                 const RatingsEval& options, const TableOptions& table, RatingsOptions columns) {
  refuse_training_options(columns);
  auto& model = dynamic_cast<RatingsModel&>(*opened.model);
  const Ratings names = Ratings::of(model.names_of(Axis::kUser), model.names_of(Axis::kItem), {});
  const auto reader = open_pairs(model, files, table, columns);
  columns.implicit = columns.implicit || model.implicit();
  const Ratings test = Ratings::read(*reader, columns, 0, false, &names);
  if (test.implicit() && !model.implicit()) {
    throw Error(ErrorKind::kInput,
                "{}: these are interactions without ratings, and the model predicts ratings; name "
                "their column with --rating",
                files.front());
  }
  const Measured m = measure(model, test.train(), measure_options(options));
  if (options.json) {
    put_json(json_of(m, options.top));
  } else {
    put("{}\n  {} of {}\n", styled(Stream::kOut, Look::kBold, files.front()),
        count_of(m.ratings, model.implicit() ? "interaction" : "rating"),
        count_of(m.users, "ranked user"));
    put_measured(m, options);
  }
  remark(m);
  return kDone;
}

int eval_training(const ModelInfo& info, const std::vector<std::string>& files,
                  std::span<const Setting> settings, const RatingsEval& options,
                  const SplitOptions& split, const TableOptions& table,
                  const RatingsOptions& columns) {
  const bool by_time = split.split == SplitBy::kTime || split.split == SplitBy::kUserTime;
  const auto reader = open_ratings(files, table, columns);
  const Ratings ratings = Ratings::read(*reader, columns, 0, by_time);
  Status status(options.json);
  status.line(labelled("read", described(ratings)));
  const int folds = split.folds > 1 ? split.folds : 1;
  std::vector<Measured> parts;
  for (int f = 0; f < folds; ++f) {
    const auto seed = static_cast<uint64_t>(split.seed);
    Split part = folds > 1 ? fold_of(ratings, split.split, folds, f, seed)
                           : kith::split(ratings, split.split, split.test, seed);
    if (part.test.size() == 0 || part.train.size() == 0) {
      throw Error(ErrorKind::kInput, "{}: {} are too few to be split into two parts", files.front(),
                  count_of(ratings.train().size(), "rating"));
    }
    parts.push_back(train_and_measure(
        info, settings, ratings, std::move(part), options, split, status,
        folds > 1 ? fmt::format("fold {} of {}", f + 1, folds) : std::string(info.name)));
  }
  put_trained(info, files.front(), parts, options, split);
  return kDone;
}

}  // namespace kith::cli
