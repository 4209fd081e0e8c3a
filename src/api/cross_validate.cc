// SPDX-License-Identifier: Apache-2.0
// A kind of model that is trained on parts of the ratings, as train would, and measured on the
// rest.
#include "api/evaluate.h"
#include "api/reading.h"
#include "api/training.h"
#include "core/error.h"
#include "data/ratings/ratings.h"
#include "eval/split.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr double kLately = 0.1;  // of what is trained on, the latest

class Folds {
 public:
  Folds(const Ratings& ratings, const SplitOptions& options)
      : ratings_(ratings), options_(options) {}
  int size() const { return options_.folds.value_or(1); }
  Split part(int fold) const {
    const auto seed = static_cast<uint64_t>(options_.seed);
    Split out = options_.folds ? fold_of(ratings_, options_.split, size(), fold, seed)
                               : split(ratings_, options_.split, options_.test, seed);
    if (out.test.size() > 0 && out.train.size() > 0) return out;
    throw fault(ErrorKind::kInput, "too few to be split into two parts: {}",
                count_of(ratings_.train().size(), "rating"));
  }

 private:
  const Ratings& ratings_;
  const SplitOptions& options_;
};

Profile profile_of(const Dataset& data, const SplitOptions& split, double seconds) {
  Profile out = data.profile();
  out.seconds = seconds;
  out.summary += split.folds
                     ? fmt::format("; each is tested once, in one of {} folds", *split.folds)
                     : fmt::format("; {} of them are tested", in_percent(split.test));
  return out;
}

}  // namespace

Report cross_validate(std::string_view name, const std::vector<std::string>& sources,
                      std::span<const Setting> settings, const SplitOptions& split,
                      const EvaluateOptions& options, Context& context, Observer* observer) {
  const ModelInfo& info = model(name);
  if (info.data != &Ratings::data_kind()) {
    throw fault(ErrorKind::kUsage, "eval trains models that {}; train {} first, and give its file",
                Ranks::kWhat, name);
  }
  std::vector<Setting> left(settings.begin(), settings.end());
  const auto reader = info.data->reader();
  apply_known(left, reader->settings());
  const auto planned = info.make();
  apply_settings(left, std::vector{planned->settings()});  // says what is wrong before the work

  ReadRequest request;
  request.sources = sources;
  request.keep_all = true;
  request.wishes = planned->wishes();
  request.keep_times = split.split == SplitBy::kTime || split.split == SplitBy::kUserTime;
  const Stopwatch watch;
  const auto data = read_watched(*reader, std::move(request), context, observer, *info.data);
  if (observer) observer->on(profile_of(*data, split, watch.seconds()));
  const auto& ratings = dynamic_cast<const Ratings&>(*data);
  const Folds folds(ratings, split);
  std::vector<Report> parts;
  for (int f = 0; f < folds.size(); ++f) {
    Split part = folds.part(f);
    const auto made = info.make();
    apply_settings(left, std::vector{made->settings()});
    const std::vector<uint32_t> lately = split.split == SplitBy::kTime
                                             ? latest_items(ratings, part.train, kLately)
                                             : std::vector<uint32_t>();
    Ratings trained = held_apart(ratings.with(std::move(part.train), {}));
    Job job(context);
    job.seed = static_cast<uint64_t>(split.seed);
    job.on_progress = [&](const Progress& p) {
      Attempt attempt;
      attempt.number = static_cast<uint64_t>(f) + 1;
      attempt.total = static_cast<uint64_t>(folds.size());
      attempt.share = (f + share_done(p)) / folds.size();
      attempt.text = fmt::format("epoch {}", p.epoch);
      if (observer) observer->on(attempt);
    };
    if (!made->fit(trained, job, true)) context.check();
    const auto& ranks = require<Ranks>(std::as_const(*made), {"eval", sources.front(), name});
    parts.push_back(
        evaluate_ratings({ranks, name, lately}, {part.test, ratings.days()}, options, context));
  }
  Report out = folds.size() > 1 ? mean_of(std::move(parts)) : std::move(parts.front());
  for (auto& [what, count] : out.counts) {  // which are added up; the length of a list is none
    if (what == "top") count = static_cast<uint64_t>(options.top);
  }
  out.title = sources.front();
  out.subtitle = fmt::format("{} on {}, split by {}: {}", name,
                             count_of(out.count("ratings").value_or(0),
                                      ratings.implicit() ? "test interaction" : "test rating"),
                             detail::show(split.split),
                             folds.size() > 1 ? fmt::format("the mean of {} folds", folds.size())
                                              : in_percent(split.test) + " tested");
  return out;
}

}  // namespace kith
