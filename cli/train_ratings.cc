// SPDX-License-Identifier: Apache-2.0
// Ratings: what is in them, told before anything is learned.
#include <array>
#include <chrono>

#include "data/rating_columns.h"
#include "models/ratings_model.h"
#include "ratings_query.h"
#include "train_data.h"
#include "train_report.h"

namespace kith::cli {
namespace {

class RatingsData final : public TrainData {
 public:
  RatingsData(Ratings ratings, RatingsModel& model)
      : profile_(ratings.profile()),
        fingerprint_(ratings.fingerprint()),
        ratings_(std::move(ratings)),
        model_(model) {}
  std::string_view unit() const override { return "rating"; }
  uint64_t size() const override { return ratings_.train().size(); }
  uint64_t vectors() const override { return ratings_.users().size() + ratings_.items().size(); }
  uint64_t memory_needed(const Job& job) const override {
    const uint64_t normalised = ratings_.normalise() == Normalise::kNone
                                    ? 0
                                    : 8 * (ratings_.train().size() + ratings_.held_out().size());
    return model_.memory_needed(ratings_, job) + normalised;
  }
  std::string_view to_save_memory() const override { return "lower --dim"; }
  void train(Model& model, Job& job) override {
    dynamic_cast<RatingsModel&>(model).train(ratings_, job);
  }
  void train_last(Model& model, Job& job) override {
    dynamic_cast<RatingsModel&>(model).train(std::move(ratings_), job);
  }
  bool has_say(std::string_view setting) const override {
    return setting != "unobserved" || ratings_.implicit();
  }
  uint64_t fingerprint() const override { return fingerprint_; }
  std::map<std::string, std::string> metadata() const override {
    const RatingsProfile& p = profile_;
    const auto text = [](uint64_t n) { return fmt::format("{}", n); };
    return {{"source.rows", text(p.rows)},
            {"source.duplicates", text(p.duplicates)},
            {"source.missing", text(p.missing)},
            {"source.held_out", text(p.held_out)}};
  }
  std::string next() const override {
    return fmt::format("recommend MODEL {}", shell_quoted(ratings_.users()[0]));
  }

 private:
  // Asked for after the ratings are gone.
  const RatingsProfile profile_;
  const uint64_t fingerprint_;
  Ratings ratings_;
  RatingsModel& model_;
};

// What is counted is seldom a matter of taste.
bool is_count(std::string_view column) {
  constexpr std::array<std::string_view, 6> kCounts{"count",  "plays",   "playcount",
                                                    "clicks", "listens", "views"};
  return std::ranges::find(kCounts, column) != kCounts.end();
}

void report(const Ratings& r, double seconds, Status& status) {
  const RatingsProfile& p = r.profile();
  const auto bytes = static_cast<double>(p.bytes);
  status.line(labelled(
      "read", fmt::format("{} in {} ({}/s): {}; {} held out to score the model", in_bytes(bytes),
                          in_time(seconds), in_bytes(bytes / std::max(seconds, 1e-9)), described(r),
                          p.held_out ? grouped(p.held_out) : "none")));
  report_oddities(p, status);
  if (r.implicit() && p.rating_column.empty()) {
    status.line(labelled("note", "there are no ratings, so every row is an interaction"));
  } else if (!r.implicit() && is_count(p.rating_column)) {
    status.line(labelled("hint", fmt::format("if {} says how often and not how much it was liked, "
                                             "--implicit suits it better",
                                             p.rating_column)));
  }
}

}  // namespace

std::unique_ptr<TrainData> read_ratings(const TrainPlan& plan, Status& status) {
  const auto start = std::chrono::steady_clock::now();
  const auto reader = open_ratings(plan.files, plan.table_options, plan.ratings_options);
  Ratings ratings = Ratings::read(*reader, plan.ratings_options, plan.ratings.holdout, false,
                                  nullptr, reading_progress(status));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  report(ratings, took.count(), status);
  return std::make_unique<RatingsData>(std::move(ratings),
                                       dynamic_cast<RatingsModel&>(*plan.model));
}

}  // namespace kith::cli
