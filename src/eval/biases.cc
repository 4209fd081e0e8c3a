// SPDX-License-Identifier: Apache-2.0
#include "eval/biases.h"

#include <algorithm>
#include <cmath>

namespace kith {
namespace {

constexpr int kSweeps = 20;
constexpr double kFirstPenalty = 10;

struct SideState {
  std::vector<float>& bias;
  std::vector<uint64_t> counts;
  double penalty;
  bool estimate;
};

// The variance of biases of which only shrunken estimates are known: each is its mean, give or take
// noise / (n + penalty).
void estimate_penalty(SideState& s, double noise) {
  double sum = 0;
  uint64_t known = 0;
  for (size_t i = 0; i < s.bias.size(); ++i) {
    if (s.counts[i] == 0) continue;
    ++known;
    sum += s.bias[i] * s.bias[i] + noise / (static_cast<double>(s.counts[i]) + s.penalty);
  }
  if (known == 0 || noise <= 0) return;
  s.penalty = std::clamp(noise * static_cast<double>(known) / std::max(sum, 1e-30), 1e-3, 1e6);
}

}  // namespace

Biases fit_biases(const Sparse& ratings, std::optional<double> user_penalty,
                  std::optional<double> item_penalty) {
  Biases out;
  out.user.assign(ratings.rows(), 0.0f);
  out.item.assign(ratings.columns, 0.0f);
  if (ratings.size() == 0) return out;
  for (const float v : ratings.value) out.mean += v;
  out.mean /= static_cast<double>(ratings.size());
  SideState users{out.user, std::vector<uint64_t>(ratings.rows()),
                  user_penalty.value_or(kFirstPenalty), !user_penalty};
  SideState items{out.item, std::vector<uint64_t>(ratings.columns),
                  item_penalty.value_or(kFirstPenalty), !item_penalty};
  for (uint32_t u = 0; u < ratings.rows(); ++u) users.counts[u] = ratings.row(u).size();
  for (const uint32_t i : ratings.column) ++items.counts[i];
  std::vector<double> sums(ratings.columns);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    std::ranges::fill(sums, 0.0);
    for (uint32_t u = 0; u < ratings.rows(); ++u) {
      const Sparse::Row row = ratings.row(u);
      for (size_t k = 0; k < row.size(); ++k) {
        sums[row.columns[k]] += row.values[k] - out.mean - out.user[u];
      }
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      const double n = static_cast<double>(items.counts[i]) + items.penalty;
      out.item[i] = n > 0 ? static_cast<float>(sums[i] / n) : 0;
    }
    double squares = 0;
    for (uint32_t u = 0; u < ratings.rows(); ++u) {
      const Sparse::Row row = ratings.row(u);
      double sum = 0, square = 0;
      for (size_t k = 0; k < row.size(); ++k) {
        const double left = row.values[k] - out.mean - out.item[row.columns[k]];
        sum += left;
        square += left * left;
      }
      const double n = static_cast<double>(row.size()) + users.penalty;
      const double b = n > 0 ? sum / n : 0;
      out.user[u] = static_cast<float>(b);
      squares += square - 2 * b * sum + b * b * static_cast<double>(row.size());
    }
    // Each bias takes its share of the degrees of freedom.
    double spent = 1;
    for (const SideState* s : {&users, &items}) {
      for (const uint64_t n : s->counts) {
        const auto count = static_cast<double>(n);
        if (n > 0) spent += count / (count + s->penalty);
      }
    }
    const double free = std::max(1.0, static_cast<double>(ratings.size()) - spent);
    out.noise = squares / free;
    if (users.estimate) estimate_penalty(users, out.noise);
    if (items.estimate) estimate_penalty(items, out.noise);
  }
  out.user_penalty = users.penalty;
  out.item_penalty = items.penalty;
  return out;
}

RatingBaselines::RatingBaselines(const Sparse& ratings) : biases_(fit_biases(ratings)) {
  if (ratings.size() == 0) return;
  const auto [low, high] = std::ranges::minmax(ratings.value);
  low_ = low;
  high_ = high;
}

double RatingBaselines::predict(uint32_t user, uint32_t item) const {
  double out = biases_.mean;
  if (user < biases_.user.size()) out += biases_.user[user];
  if (item < biases_.item.size()) out += biases_.item[item];
  return std::clamp(out, low_, high_);
}

}  // namespace kith
