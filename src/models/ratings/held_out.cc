// SPDX-License-Identifier: Apache-2.0
// How good a model of ratings is on what is held out, while it trains.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "eval/metrics.h"
#include "kernels/skinny.h"
#include "models/ratings/trainer.h"

namespace kith {
namespace {

// What a ranking is measured on, at most: held-out pairs, and items to rank them among.
constexpr uint64_t kRanked = 2000, kAmong = 2000;
constexpr uint32_t kUsersBetweenLooks = 256;  // at whether the job is cancelled

}  // namespace

// Half of them are those that most people chose: they stand first in most lists, and the first
// places are what counts. The others are every so manieth of the rest, and stand for it.
RatingsTrainer::Among RatingsTrainer::Among::of(const Sparse& train, size_t items) {
  std::vector<uint64_t> chosen(items, 0);
  for (const uint32_t item : train.column) ++chosen[item];
  Among out;
  std::vector<uint32_t> order(items);
  std::iota(order.begin(), order.end(), 0u);
  out.whole = std::min<size_t>(order.size(), order.size() <= kAmong ? kAmong : kAmong / 2);
  const auto rest = order.begin() + static_cast<ptrdiff_t>(out.whole);
  std::ranges::nth_element(order, rest, {}, [&](uint32_t item) {
    return std::pair(-static_cast<int64_t>(chosen[item]), item);
  });
  std::sort(rest, order.end());
  out.items.assign(order.begin(), rest);
  const size_t left = order.size() - out.whole;
  const size_t step = std::max<size_t>(1, (left + kAmong / 2 - 1) / (kAmong / 2));
  for (size_t k = 0; k < left; k += step) out.items.push_back(rest[static_cast<ptrdiff_t>(k)]);
  out.weight =
      left > 0 ? static_cast<double>(left) / static_cast<double>(out.items.size() - out.whole) : 0;
  return out;
}

std::span<const float> RatingsTrainer::learned_row(Axis axis, uint32_t number,
                                                   std::vector<float>&) const {
  return model_.f_.rows(axis).row(number);
}

std::span<const float> RatingsTrainer::scoring_row(Axis axis, uint32_t number,
                                                   std::vector<float>& scratch) const {
  if (model_.f_.shifts.empty()) return learned_row(axis, number, scratch);
  std::vector<float> own;
  return model_.f_.scoring_row(axis, number, learned_row(axis, number, own), scratch);
}

std::pair<uint64_t, uint64_t> RatingsTrainer::progress(const RunState& state) const {
  const uint64_t unit = model_.unit_;
  return {state.block * unit / blocks(), static_cast<uint64_t>(model_.plan().epochs) * unit};
}

// The root of the mean square error; for implicit feedback what the mean discount of the rank,
// among what the user has not seen, lacks of 1 (0 best): the first places count most. Nothing if
// nothing is held out.
std::optional<double> RatingsTrainer::held_out_loss() {
  if (ratings_.held_out().size() == 0) return std::nullopt;
  return model_.f_.implicit ? ranking_error() : error();
}

double RatingsTrainer::error() const {
  const Sparse& held = ratings_.held_out();
  eval::Errors errors;
  std::vector<float> user_scratch, item_scratch;
  for (uint32_t u = 0; u < held.rows(); ++u) {
    if (u % kUsersBetweenLooks == 0) job_.context().check();
    const Sparse::Row row = held.row(u);
    if (row.size() == 0) continue;
    const auto user = scoring_row(Axis::kUser, u, user_scratch);
    for (size_t k = 0; k < row.size(); ++k) {
      const uint32_t i = row.columns[k];
      errors.add(model_.rating(user, scoring_row(Axis::kItem, i, item_scratch)),
                 model_.f_.shifts.original(u, i, row.values[k]));
    }
  }
  return errors.rmse();
}

// Of one held-out pair in so many, each among some of the items.
double RatingsTrainer::ranking_error(const Scoring& scoring) const {
  const Sparse& held = ratings_.held_out();
  const uint64_t every = std::max<uint64_t>(1, held.size() / kRanked);
  std::vector<float> scores(among_.items.size());
  double sum = 0;
  uint64_t pairs = 0;
  for (uint32_t u = 0; u < held.rows(); ++u) {
    if (u % kUsersBetweenLooks == 0) job_.context().check();
    const Sparse::Row row = held.row(u), known = ratings_.train().row(u);
    const uint64_t first = (held.offsets[u] + every - 1) / every * every - held.offsets[u];
    if (first >= row.size()) continue;
    scoring.user(u, scores);
    for (uint64_t k = first; k < row.size(); k += every) {
      const float own = scoring.item(row.columns[k]);
      double above = 0;  // items that would be shown first
      for (size_t line = 0; line < scores.size(); ++line) {
        const uint32_t item = among_.items[line];
        if (scores[line] < own || item == row.columns[k] ||
            std::ranges::binary_search(known.columns, item)) {
          continue;
        }
        above += (scores[line] > own ? 1 : 0.5) * (line < among_.whole ? 1 : among_.weight);
      }
      sum += 1 - eval::discount(above);
      ++pairs;
    }
  }
  return sum / static_cast<double>(pairs);
}

double RatingsTrainer::ranking_error() {
  const size_t cols = model_.f_.scoring_cols();
  if (among_.items.empty()) among_ = Among::of(ratings_.train(), model_.f_.items.size());
  if (!model_.popularity_) model_.popularity_ = popularity_error();
  std::vector<float> scratch;
  Matrix among(among_.items.size(), cols), pair(2, cols);
  const auto put = [&](Axis axis, uint32_t number, std::span<float> to) {
    std::ranges::copy(scoring_row(axis, number, scratch), to.begin());
  };
  std::vector<uint32_t> lines(among.rows());
  for (uint32_t line = 0; line < among.rows(); ++line) {
    put(Axis::kItem, among_.items[line], among.row(line));
    lines[line] = line;
  }
  const auto score = [&](const Matrix& rows, std::span<const uint32_t> which, float* out) {
    dot_rows(pair.row(0).data(), rows.view(), which.data(), which.size(), padded(cols), out);
  };
  constexpr std::array<uint32_t, 2> kBoth{0, 1};
  return ranking_error({.user =
                            [&](uint32_t user, std::span<float> scores) {
                              put(Axis::kUser, user, pair.row(0));
                              score(among, lines, scores.data());
                            },
                        .item =
                            [&](uint32_t item) {
                              put(Axis::kItem, item, pair.row(1));
                              std::array<float, 2> own;
                              score(pair, kBoth, own.data());
                              return own[1];
                            }});
}

// Of one list for everybody: what most people chose, first.
double RatingsTrainer::popularity_error() const {
  std::vector<float> chosen(model_.f_.items.size(), 0);
  for (const uint32_t item : ratings_.train().column) ++chosen[item];
  return ranking_error({.user =
                            [&](uint32_t, std::span<float> scores) {
                              for (size_t line = 0; line < scores.size(); ++line) {
                                scores[line] = chosen[among_.items[line]];
                              }
                            },
                        .item = [&](uint32_t item) { return chosen[item]; }});
}

std::vector<uint32_t> cut_rows(const Sparse& a, uint64_t ratings) {
  std::vector<uint32_t> out{0};
  uint64_t weight = 0;
  for (uint32_t r = 0; r < a.rows(); ++r) {
    weight += a.row(r).size() + 1;
    if (weight >= ratings || r + 1 == a.rows()) {
      out.push_back(r + 1);
      weight = 0;
    }
  }
  return out;
}

}  // namespace kith
