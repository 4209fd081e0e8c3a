// SPDX-License-Identifier: Apache-2.0
#include "eval/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace kith::eval {
namespace {

double middle_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

double per(double sum, uint64_t n) { return sum / static_cast<double>(std::max<uint64_t>(1, n)); }

// Ranks from 1; equal values share the mean of their ranks.
std::vector<double> mean_ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0, last; first < order.size(); first = last) {
    last = first;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    const double rank = (static_cast<double>(first + 1) + static_cast<double>(last)) / 2;
    for (size_t i = first; i < last; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

}  // namespace

void Errors::add(double guess, double truth) {
  const double error = guess - truth;
  squares_ += error * error;
  sizes_ += std::abs(error);
  ++n_;
}
double Errors::rmse() const { return std::sqrt(per(squares_, n_)); }
double Errors::mae() const { return per(sizes_, n_); }

void AllErrors::add(double guess, double truth) {
  Errors::add(guess, truth);
  sizes_.push_back(std::abs(guess - truth));
  const double away = truth - mean_;
  mean_ += away / static_cast<double>(sizes_.size());
  spread_ += away * (truth - mean_);
}
double AllErrors::r2() const {
  if (!(spread_ > 0)) return std::numeric_limits<double>::quiet_NaN();
  return 1 - rmse() * rmse() / per(spread_, size());
}
double AllErrors::median() const { return middle_of(sizes_); }

void Calibration::add(double p, bool right) {
  Bin& bin = bins_[std::min(kBins - 1, static_cast<size_t>(p * kBins))];
  ++n_;
  bin.right += right;
  bin.p += p;
}
double Calibration::error() const {
  double sum = 0;
  for (const Bin& b : bins_) sum += std::abs(static_cast<double>(b.right) - b.p);
  return per(sum, n_);
}

void Classes::add(std::span<const double> p, uint32_t truth) {
  const auto guess = static_cast<size_t>(std::ranges::max_element(p) - p.begin());
  ++n_;
  right_ += guess == truth;
  ++of_[truth].truth;
  ++of_[guess].guess;
  of_[truth].both += guess == truth;
  if (!counts_.empty()) ++counts_[truth * values_ + guess];
  surprise_ -= std::log(std::max(p[truth], 1e-15));
  calibration_.add(p[guess], guess == truth);
  if (values_ == 2) of_first_[truth == 0 ? 0 : 1].push_back(p[0]);
}
double Classes::accuracy() const { return per(static_cast<double>(right_), n_); }
double Classes::log_loss() const { return per(surprise_, n_); }
double Classes::macro_f1() const {
  double sum = 0;
  uint64_t values = 0;
  for (const Of& v : of_) {
    if (v.truth + v.guess == 0) continue;
    sum += 2 * static_cast<double>(v.both) / static_cast<double>(v.truth + v.guess);
    ++values;
  }
  return per(sum, values);
}
double Classes::auc() const {
  const auto& [yes, no] = of_first_;
  if (yes.empty() || no.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> all(yes);
  all.insert(all.end(), no.begin(), no.end());
  const std::vector<double> ranks = mean_ranks(all);
  const auto n = static_cast<double>(yes.size());
  const double sum =
      std::accumulate(ranks.begin(), ranks.begin() + static_cast<int64_t>(yes.size()), 0.0);
  return (sum - n * (n + 1) / 2) / (n * static_cast<double>(no.size()));
}

double discount(double rank) { return 1 / std::log2(rank + 2); }

Placed place_of(std::span<const float> scores, size_t truth, std::span<const uint8_t> skip) {
  size_t above = 0, equal = 0, others = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (i == truth || (!skip.empty() && skip[i])) continue;
    ++others;
    above += scores[i] > scores[truth];
    equal += scores[i] == scores[truth];
  }
  above += equal / 2;
  return {static_cast<double>(above), others + 1};
}

void Ranking::add(std::span<const double> ranks, size_t right, size_t candidates) {
  double hits = 0, gain = 0, precision = 0, ideal = 0;
  const size_t best = std::min(top_, right);
  for (size_t i = 0; i < best; ++i) ideal += discount(static_cast<double>(i));
  for (const double rank : ranks) {
    mrr_ += 1 / (rank + 1);
    mpr_ += rank / static_cast<double>(candidates);
    ranks_.push_back(rank);
    if (rank >= static_cast<double>(top_)) continue;
    hits += 1;
    gain += discount(rank);
    precision += hits / (rank + 1);
  }
  recall_ += hits / static_cast<double>(right);
  ndcg_ += gain / ideal;
  map_ += precision / static_cast<double>(best);
  ++questions_;
}
double Ranking::recall() const { return per(recall_, questions_); }
double Ranking::ndcg() const { return per(ndcg_, questions_); }
double Ranking::map() const { return per(map_, questions_); }
double Ranking::mrr() const { return per(mrr_, ranks_.size()); }
double Ranking::mpr() const { return per(mpr_, ranks_.size()); }
double Ranking::hits(size_t k) const {
  const auto found =
      std::ranges::count_if(ranks_, [&](double r) { return r < static_cast<double>(k); });
  return per(static_cast<double>(found), ranks_.size());
}
double Ranking::median_rank() const {
  return ranks_.empty() ? 0 : std::floor(middle_of(ranks_)) + 1;
}

double spearman(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) {
    throw fault(ErrorKind::kUsage,
                "a rank correlation needs two lists of one length; got {} and {}", a.size(),
                b.size());
  }
  const std::vector<double> x = mean_ranks(a), y = mean_ranks(b);
  const double mean = (static_cast<double>(a.size()) + 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (!(xx > 0) || !(yy > 0)) return std::numeric_limits<double>::quiet_NaN();
  return xy / std::sqrt(xx * yy);
}

}  // namespace kith::eval
