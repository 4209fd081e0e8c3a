// SPDX-License-Identifier: Apache-2.0
// How all models of ratings are trained: a run that what is held out watches, and one on
// everything.
#include <algorithm>
#include <cmath>
#include <utility>

#include "models/ratings_model.h"

namespace kith {
namespace {

// What the percentile rank is measured on, at most: held-out pairs, and items to rank them among.
constexpr uint64_t kRanked = 1000, kAmong = 1000;

}  // namespace

void RatingsModel::train(Ratings ratings, Job& job) {
  if (ratings.train().size() == 0) {
    throw Error(ErrorKind::kInput, "there are no ratings to learn from");
  }
  unit_ = ratings.train().size();
  const bool second = state_.refit > 0;  // a checkpoint of the second run
  if (second || state_.block > 0) check_same(ratings);
  if (!second) {
    seen_ = ratings.share();
    if (state_.block == 0) initialise(ratings, job);
    if (!run(ratings, job)) return;
    if (!refits() || ratings.held_out().size() == 0) {
      finish(ratings, job);
      if (ratings.held_out().size() > 0) seen_ = std::move(ratings).whole().share();
      return conclude();
    }
  }
  const Ratings whole = std::move(ratings).whole();
  seen_ = whole.share();
  if (!second) {
    start_refit();
    initialise_refit(whole, job);
  }
  if (state_.refit > 0 && !run(whole, job)) return;
  finish(whole, job);
  conclude();
}

void RatingsModel::conclude() {
  best_user_ = Matrix();
  best_item_ = Matrix();
  count_rows();
  state_.finished = true;
}

// The second run, on all ratings, is for as many epochs as were best in the first, of which the
// held-out error was measured before the first epoch and after each; 0 if the start was best.
void RatingsModel::start_refit() {
  state_.refit = state_.kept.value_or(state_.held_out.size() - 1);
  restart_state();
  best_user_ = Matrix();
  best_item_ = Matrix();
}

RunPlan RatingsModel::plan(RunPlan first) const {
  if (state_.refit == 0) return first;
  first.early_stop = 0;
  first.note = "now anew with what was held out, for as many epochs as were best";
  first.stop_after = static_cast<int>(state_.refit);
  return first;
}

void RatingsModel::restart_state() {
  RunState fresh;
  fresh.lr_scale = state_.lr_scale;
  if (state_.refit > 0 || state_.kept) {  // the second run: what the first one measured stands
    fresh.refit = state_.refit;
    fresh.held_out = state_.held_out;
    fresh.kept = state_.kept;
  }
  state_ = fresh;
}

void RatingsModel::check_same(const Ratings& ratings) const {
  if (ratings.users().size() == users_.size() && ratings.items().size() == items_.size()) return;
  throw Error(ErrorKind::kInput,
              "the ratings have {} users and {} items, the checkpoint {} and {}; resume with the "
              "same ratings and settings",
              ratings.users().size(), ratings.items().size(), users_.size(), items_.size());
}

void RatingsModel::keep_best() {
  for (const auto& [from, to] : {std::pair{&user_, &best_user_}, std::pair{&item_, &best_item_}}) {
    *to = Matrix();  // before the copy is made, so that there are two of the rows and never three
    *to = from->copy();
  }
}

bool RatingsModel::take_best() {
  if (best_user_.rows() != user_.rows()) return false;
  user_ = std::move(best_user_);
  item_ = std::move(best_item_);
  return true;
}

std::optional<double> RatingsModel::held_out_error(const Ratings& ratings) const {
  const Sparse& held = ratings.held_out();
  if (held.size() == 0) return std::nullopt;
  double sum = 0;
  uint64_t pairs = 0;
  const uint64_t step = std::max<uint64_t>(1, items_.size() / kAmong);
  const uint64_t every = implicit_ ? std::max<uint64_t>(1, held.size() / kRanked) : 1;
  std::vector<float> own_room, room;
  for (uint32_t u = 0; u < held.rows(); ++u) {
    const Sparse::Row row = held.row(u);
    if (row.size() == 0) continue;
    const auto user = scoring_row(Axis::kUser, u, own_room);
    const auto score_of = [&](uint32_t item) {
      return predict(user, scoring_row(Axis::kItem, item, room));
    };
    for (size_t k = 0; k < row.size(); ++k) {
      if ((held.offsets[u] + k) % every != 0) continue;
      ++pairs;
      const double own = score_of(row.columns[k]);
      if (!implicit_) {
        sum += (own - row.values[k]) * (own - row.values[k]);
        continue;
      }
      uint64_t above = 0, level = 0;
      uint64_t among = 0;
      for (uint64_t i = 0; i < items_.size(); i += step) {
        if (i == row.columns[k]) continue;
        const double score = score_of(static_cast<uint32_t>(i));
        above += score > own;
        level += score == own;
        ++among;
      }
      sum += (static_cast<double>(above) + static_cast<double>(level) / 2) /
             static_cast<double>(std::max<uint64_t>(1, among));
    }
  }
  const double mean = sum / static_cast<double>(pairs);
  return implicit_ ? mean : std::sqrt(mean);
}

}  // namespace kith
