// SPDX-License-Identifier: Apache-2.0
#include "models/ratings/day_effects.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "eval/biases.h"

namespace kith {
namespace {

constexpr int kSweeps = 10;
constexpr double kFirstPenalty = 10;
constexpr uint32_t kNoDay = UINT32_MAX;

// Calls f with each rating of a row whose day is known: its place in the row, and the day.
template <class F>
void for_each_day(const Sparse::Row& ratings, const Sparse::Row& days, const F& f) {
  for (size_t i = 0, d = 0; i < ratings.size() && d < days.size();) {
    if (days.columns[d] < ratings.columns[i]) {
      ++d;
    } else if (ratings.columns[i] < days.columns[d]) {
      ++i;
    } else {
      f(i++, days.values[d++]);
    }
  }
}

Sparse::Row row_or_none(const Sparse& a, uint32_t r) {
  return r < a.rows() ? a.row(r) : Sparse::Row{};
}

// The days of each user, in order, and for each rating the place of its own among all of them.
struct Groups {
  Sparse effects;  // of value 0
  double first = 0;
  std::vector<uint32_t> of_rating;  // or kNoDay
};

Groups grouped(const Sparse& ratings, const Sparse& days) {
  Groups out;
  out.of_rating.assign(ratings.size(), kNoDay);
  const auto [low, high] = std::ranges::minmax(days.value);
  out.first = low;
  out.effects.columns = static_cast<uint32_t>(high - low) + 1;
  std::vector<uint32_t> own;
  for (uint32_t u = 0; u < ratings.rows(); ++u) {
    const Sparse::Row row = ratings.row(u), when = row_or_none(days, u);
    own.clear();
    const auto column = [&](float day) { return static_cast<uint32_t>(double{day} - out.first); };
    for_each_day(row, when, [&](size_t, float day) { own.push_back(column(day)); });
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    if (own.size() < 2) own.clear();  // a user of one day is what that day is
    const auto begin = static_cast<uint32_t>(out.effects.column.size());
    const auto number = [&](size_t i, float day) {
      const auto at = std::ranges::lower_bound(own, column(day)) - own.begin();
      out.of_rating[ratings.offsets[u] + i] = begin + static_cast<uint32_t>(at);
    };
    if (!own.empty()) for_each_day(row, when, number);
    out.effects.column.insert(out.effects.column.end(), own.begin(), own.end());
    out.effects.offsets.push_back(out.effects.column.size());
  }
  out.effects.value.assign(out.effects.column.size(), 0.0f);
  return out;
}

// One of b, c and d: its values, which of them each rating has, and how far they are drawn to 0.
struct Effect {
  std::vector<double> value{}, sum{};
  std::vector<uint64_t> count{};
  double penalty = kFirstPenalty;

  explicit Effect(size_t n) : value(n), sum(n), count(n) {}

  // Each to its best, the others as they are. `left` is what they all leave of the ratings.
  template <class Which>
  void fit(std::vector<float>& left, const Which& which) {
    std::ranges::fill(sum, 0.0);
    for (size_t k = 0; k < left.size(); ++k) {
      if (const uint32_t g = which(k); g != kNoDay) sum[g] += left[k] + value[g];
    }
    for (size_t g = 0; g < value.size(); ++g) {
      sum[g] = std::exchange(value[g], sum[g] / (static_cast<double>(count[g]) + penalty));
    }
    for (size_t k = 0; k < left.size(); ++k) {  // sum holds what the values were
      const uint32_t g = which(k);
      if (g != kNoDay) left[k] += static_cast<float>(sum[g] - value[g]);
    }
  }

  // Its share of the degrees of freedom.
  double spent() const {
    double out = 0;
    for (const uint64_t n : count)
      out += static_cast<double>(n) / (static_cast<double>(n) + penalty);
    return out;
  }

  // The variance of values of which only shrunken estimates are known, as in eval/biases.cc.
  void estimate(double noise) {
    double squares = 0;
    uint64_t known = 0;
    for (size_t g = 0; g < value.size(); ++g) {
      if (count[g] == 0) continue;
      ++known;
      squares += value[g] * value[g] + noise / (static_cast<double>(count[g]) + penalty);
    }
    if (known == 0 || noise <= 0) return;
    penalty = std::clamp(noise * static_cast<double>(known) / std::max(squares, 1e-30), 1e-3, 1e6);
  }
};

}  // namespace

DayEffects DayEffects::of(const Ratings& ratings) {
  DayEffects out;
  const Sparse& train = ratings.train();
  if (!ratings.days() || ratings.days()->size() == 0 || train.size() == 0) return out;
  Groups groups = grouped(train, *ratings.days());
  std::vector<uint32_t> user_of(train.size());
  for (uint32_t u = 0; u < train.rows(); ++u) {
    std::fill(user_of.begin() + static_cast<int64_t>(train.offsets[u]),
              user_of.begin() + static_cast<int64_t>(train.offsets[u + 1]), u);
  }
  const auto by_user = [&](size_t k) { return user_of[k]; };
  const auto by_item = [&](size_t k) { return train.column[k]; };
  const auto by_day = [&](size_t k) { return groups.of_rating[k]; };
  Effect users(train.rows()), items(train.columns), days(groups.effects.size());
  std::vector<float> left(train.value);
  for (size_t k = 0; k < left.size(); ++k) {
    left[k] -= static_cast<float>(ratings.mean());
    ++users.count[by_user(k)];
    ++items.count[by_item(k)];
    if (by_day(k) != kNoDay) ++days.count[by_day(k)];
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    items.fit(left, by_item);
    users.fit(left, by_user);
    days.fit(left, by_day);
    double squares = 0;
    for (const float x : left) squares += double{x} * x;
    const double free =
        static_cast<double>(left.size()) - items.spent() - users.spent() - days.spent();
    const double noise = squares / std::max(1.0, free);
    for (Effect* e : {&items, &users, &days}) e->estimate(noise);
  }
  out.effects_ = std::move(groups.effects);
  out.first_ = groups.first;
  for (size_t g = 0; g < days.value.size(); ++g) {
    out.effects_.value[g] = static_cast<float>(days.value[g]);
  }
  return out;
}

float DayEffects::of(uint32_t user, float day) const {
  const double at = day - first_;
  if (user >= effects_.rows() || !(at >= 0) || at >= effects_.columns) return 0;
  const Sparse::Row row = effects_.row(user);
  const auto column = static_cast<uint32_t>(at);
  const auto found = std::ranges::lower_bound(row.columns, column);
  if (found == row.columns.end() || *found != column) return 0;
  return row.values[static_cast<size_t>(found - row.columns.begin())];
}

Sparse DayEffects::taken_from(Sparse ratings, const Sparse& days) const {
  for (uint32_t u = 0; u < ratings.rows(); ++u) {
    const Sparse::Row row = std::as_const(ratings).row(u);
    float* const values = ratings.value.data() + ratings.offsets[u];
    for_each_day(row, row_or_none(days, u), [&](size_t i, float day) { values[i] -= of(u, day); });
  }
  return ratings;
}

Ratings DayEffects::taken_from(const Ratings& ratings) const {
  if (!ratings.days()) return ratings;
  return ratings.changed(taken_from(ratings.train(), *ratings.days()),
                         taken_from(ratings.held_out(), *ratings.days()));
}

void DayEffects::grow(size_t users) {
  if (empty()) return;
  effects_.offsets.resize(users + 1, effects_.offsets.back());
}

void DayEffects::visit(Parts& parts, size_t users) {
  std::optional<uint64_t> days;  // a file without them has none of this
  std::optional<double> first;
  if (!empty()) days = effects_.columns, first = first_;
  parts.maybe("days.count", days);
  parts.maybe("days.first", first);
  if (parts.loading()) {
    effects_ = {};
    first_ = first.value_or(0);
  }
  if (!days) return;
  parts.check(*days > 0 && *days <= uint64_t{1} << 25 && std::abs(first_) <= 1 << 24,
              "its days make no sense");
  kith::visit(parts, {"days.offsets", "days.days", "days.effects"}, effects_, users, *days);
}

bool days_help(const Ratings& ratings, const DayEffects& effects) {
  const Sparse& held_out = ratings.held_out();
  if (held_out.size() == 0 || effects.empty()) return !effects.empty();
  const auto squares = [](const Ratings& r) {
    const Biases biases = fit_biases(r.train());
    std::vector<double> out;
    for (uint32_t u = 0; u < r.held_out().rows(); ++u) {
      const Sparse::Row row = r.held_out().row(u);
      for (size_t i = 0; i < row.size(); ++i) {
        const double told = biases.mean + biases.user[u] + biases.item[row.columns[i]];
        out.push_back((row.values[i] - told) * (row.values[i] - told));
      }
    }
    return out;
  };
  const std::vector<double> with = squares(effects.taken_from(ratings)), without = squares(ratings);
  const auto n = static_cast<double>(with.size());
  double mean = 0, variance = 0;
  for (size_t k = 0; k < with.size(); ++k) mean += (with[k] - without[k]) / n;
  for (size_t k = 0; k < with.size(); ++k) {
    variance += std::pow(with[k] - without[k] - mean, 2) / (n * n);
  }
  return mean <= std::sqrt(variance);
}

}  // namespace kith
