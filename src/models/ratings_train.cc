// SPDX-License-Identifier: Apache-2.0
// How all models of ratings are trained: a run that what is held out watches, and one on
// everything.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/skinny.h"
#include "models/ratings_model.h"

namespace kith {
namespace {

// What a ranking is measured on, at most: held-out pairs, and items to rank them among.
constexpr uint64_t kRanked = 2000, kAmong = 2000;

}  // namespace

void RatingsModel::train(Ratings ratings, Job& job) {
  check_ratings(ratings);
  unit_ = ratings.train().size();
  const bool second = state_.refit > 0;  // a checkpoint of the second run
  if (second || state_.block > 0) check_same(ratings);
  if (!second) {
    std::optional<Ratings> room;
    const Ratings& learned = take(ratings, room);
    if (state_.block == 0) initialise(learned, job);
    if (!run(learned, job)) return;
    if (!refits() || ratings.held_out().size() == 0) {
      finish(learned, job);
      if (ratings.held_out().size() > 0) seen_ = std::move(ratings).whole().share();
      return conclude();
    }
  }
  if (!second) start_refit();
  const Ratings whole = std::move(ratings).whole();
  std::optional<Ratings> room;
  const Ratings& learned = take(whole, room);
  if (!second) initialise_refit(learned, job);
  if (state_.refit > 0 && !run(learned, job)) return;
  finish(learned, job);
  conclude();
}

void RatingsModel::check_ratings(const Ratings& ratings) const {
  if (ratings.train().size() == 0) {
    throw Error(ErrorKind::kInput, "there are no ratings to learn from");
  }
  if (ratings.normalise() == Normalise::kNone) return;
  if (ratings.implicit()) {
    throw Error(
        ErrorKind::kUsage,
        "--normalise takes means and deviations out of ratings, and these are interactions; "
        "leave it out");
  }
  check_normalised();
}

// What is held out is normalised with the moments of what is not.
const Ratings& RatingsModel::take(const Ratings& ratings, std::optional<Ratings>& room) {
  seen_ = ratings.share();
  shifts_ = RatingShifts::of(ratings.train(), ratings.normalise());
  return shifts_.empty() ? ratings : room.emplace(ratings.normalised(shifts_));
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
  if (shifts_.by() != ratings.normalise()) {
    throw Error(ErrorKind::kInput,
                "the checkpoint is of a run with another --normalise; resume with the same");
  }
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
  if (implicit_) return ranking_error(ratings);
  double sum = 0;
  std::vector<float> user_room, item_room;
  for (uint32_t u = 0; u < held.rows(); ++u) {
    const Sparse::Row row = held.row(u);
    if (row.size() == 0) continue;
    const auto user = scoring_row(Axis::kUser, u, user_room);
    for (size_t k = 0; k < row.size(); ++k) {
      const uint32_t i = row.columns[k];
      const double error = predict(user, scoring_row(Axis::kItem, i, item_room)) -
                           shifts_.original(u, i, row.values[k]);
      sum += error * error;
    }
  }
  return std::sqrt(sum / static_cast<double>(held.size()));
}

// Of one held-out pair in so many, each among one item in so many, scored with the user's row.
double RatingsModel::ranking_error(const Ratings& ratings) const {
  const Sparse& held = ratings.held_out();
  const uint64_t every = std::max<uint64_t>(1, held.size() / kRanked);
  const uint64_t step = std::max<uint64_t>(1, items_.size() / kAmong);
  std::vector<float> room;
  std::vector<uint32_t> lines;
  Matrix among((items_.size() + step - 1) / step, scoring_cols()), pair(2, scoring_cols());
  const auto put = [&](Axis axis, uint32_t number, std::span<float> to) {
    std::ranges::copy(scoring_row(axis, number, room), to.begin());
  };
  for (uint32_t line = 0; line < among.rows(); ++line) {
    put(Axis::kItem, static_cast<uint32_t>(line * step), among.row(line));
    lines.push_back(line);
  }
  std::vector<float> scores(among.rows());
  const auto score = [&](const Matrix& rows, size_t count, float* out) {
    dot_rows(pair.row(0).data(), rows.view(), lines.data(), count, padded(scoring_cols()), out);
  };
  double sum = 0;
  uint64_t pairs = 0;
  for (uint32_t u = 0; u < held.rows(); ++u) {
    const Sparse::Row row = held.row(u), known = ratings.train().row(u);
    const uint64_t first = (held.offsets[u] + every - 1) / every * every - held.offsets[u];
    if (first >= row.size()) continue;
    put(Axis::kUser, u, pair.row(0));
    score(among, among.rows(), scores.data());
    for (uint64_t k = first; k < row.size(); k += every) {
      put(Axis::kItem, row.columns[k], pair.row(1));
      std::array<float, 2> own;
      score(pair, 2, own.data());
      double above = 0;  // items that would be shown first
      for (uint32_t line = 0; line < among.rows(); ++line) {
        const auto item = static_cast<uint32_t>(line * step);
        if (scores[line] < own[1] || item == row.columns[k] ||
            std::ranges::binary_search(known.columns, item)) {
          continue;
        }
        above += scores[line] > own[1] ? 1 : 0.5;
      }
      sum += 1 - 1 / std::log2(2 + above * static_cast<double>(step));
      ++pairs;
    }
  }
  return sum / static_cast<double>(pairs);
}

}  // namespace kith
