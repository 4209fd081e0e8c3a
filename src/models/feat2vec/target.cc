// SPDX-License-Identifier: Apache-2.0
// A target's values as numbers that a score can be compared with.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "data/table/cells.h"
#include "models/feat2vec/model.h"

namespace kith::feat2vec {
namespace {

constexpr double kNormal = 1.4826;  // deviation / median distance, of normal numbers

// The value with as much weight below as above.
double middle(const std::vector<double>& values, const std::vector<uint64_t>& counts) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](uint32_t i) { return values[i]; });
  const uint64_t total = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  uint64_t seen = 0;
  for (const uint32_t i : order) {
    seen += counts[i];
    if (2 * seen >= total) return values[i];
  }
  return values[order.back()];
}

}  // namespace

// 0 and 1; which is which stays with the model.
std::vector<double> Feat2Vec::class_values(const Group& group, const Entities& e) {
  const bool classes = is_of_classes(*used_.loss);
  if (e.size != 2 || (!group.numeric() && !group.named())) {
    throw fault(ErrorKind::kInput, "--loss {} wants a target of {}; {} has {} values of type {}",
                detail::show(*used_.loss), classes ? "two values" : "numbers", group.column.name,
                e.size, detail::show(group.column.type));
  }
  std::vector<double> y{0, 1};
  if (group.numeric()) {
    if (e.numbers[0] > e.numbers[1]) std::swap(y[0], y[1]);
    target_yes_ = fmt::format("{}", std::max(e.numbers[0], e.numbers[1]));
    return y;
  }
  const Names& names = encoding_.spaces[group.space].names;
  const auto yes = parse_boolean(names[0]);
  const bool first = yes ? *yes : names[0] > names[1];
  if (first) std::swap(y[0], y[1]);
  target_yes_ = std::string(names[first ? 0 : 1]);
  return y;
}

// In units of their own spread: robust losses by quantiles, which a few wild values cannot move.
std::vector<double> Feat2Vec::number_values(const Entities& e) {
  const std::vector<double>& y = e.numbers;
  // In units of the largest, so that sums and squares stay in range.
  double unit = 0, total = 0, sum = 0, squares = 0;
  for (const double v : y) unit = std::max(unit, std::abs(v));
  if (unit == 0) unit = 1;
  for (size_t i = 0; i < y.size(); ++i) {
    const auto c = static_cast<double>(e.counts[i]);
    total += c;
    sum += c * (y[i] / unit);
  }
  const double mean = sum / std::max(1.0, total);
  target_mean_ = mean * unit;
  for (size_t i = 0; i < y.size(); ++i) {
    const double away = y[i] / unit - mean;
    squares += static_cast<double>(e.counts[i]) * away * away;
  }
  double spread = std::sqrt(squares / std::max(1.0, total)) * unit;
  if (*used_.loss != Loss::kSquared) {
    const double median = middle(y, e.counts);
    std::vector<double> away(y.size());
    for (size_t i = 0; i < y.size(); ++i) away[i] = std::abs(y[i] - median);
    const double deviation = kNormal * middle(away, e.counts);
    target_mean_ = median;
    if (deviation > 0) spread = deviation;
  }
  target_scale_ = spread > 0 ? spread : 1;
  return y;
}

void Feat2Vec::scale_target(const Table& table, Problem& problem) {
  if (problem.target == kNoRow) return;
  const Entities& e = table.entities(problem.target);
  const Group& group = encoding_.groups[problem.target];
  target_mean_ = 0;
  target_scale_ = 1;
  const bool numbers = group.numeric() && !is_of_classes(*used_.loss);
  problem.target_values.clear();
  for (const double v : numbers ? number_values(e) : class_values(group, e)) {
    problem.target_values.push_back(
        static_cast<float>(v / target_scale_ - target_mean_ / target_scale_));
  }
}

}  // namespace kith::feat2vec
