// SPDX-License-Identifier: Apache-2.0
#include "eval/label_scores.h"

#include <algorithm>
#include <cmath>

namespace kith::eval {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

void LabelScores::add(std::span<const uint32_t> truth, std::span<const uint32_t> guesses,
                      double probability) {
  constexpr double kLeast = 1e-15;  // as scikit-learn: a sure mistake costs 34.5, not infinity
  const auto is_right = [&](uint32_t guess) { return std::ranges::count(truth, guess) > 0; };
  size_t right = 0;
  for (const uint32_t label : truth) ++of_[label].truth;
  for (const uint32_t guess : guesses) {
    ++of_[guess].guess;
    if (!is_right(guess)) continue;
    ++of_[guess].both;
    ++right;
  }
  ++texts_;
  right_ += !guesses.empty() && is_right(guesses.front());
  exact_ += right == truth.size() && right == guesses.size();
  surprise_ -= std::log(std::clamp(probability, kLeast, 1.0));
}

LabelScores::Rates LabelScores::Counts::rates() const {
  const auto b = static_cast<double>(both), g = static_cast<double>(guess),
             t = static_cast<double>(truth);
  return {ratio(b, g), ratio(b, t), ratio(2 * b, g + t)};
}

LabelScores::Rates LabelScores::micro() const {
  Counts sum;
  for (const Counts& c : of_) {
    sum.both += c.both;
    sum.guess += c.guess;
    sum.truth += c.truth;
  }
  return sum.rates();
}

LabelScores::Rates LabelScores::macro() const {
  Rates sum;
  double labels = 0;
  for (const Counts& c : of_) {
    if (c.guess + c.truth == 0) continue;
    const Rates r = c.rates();
    sum.precision += r.precision;
    sum.recall += r.recall;
    sum.f1 += r.f1;
    ++labels;
  }
  return {ratio(sum.precision, labels), ratio(sum.recall, labels), ratio(sum.f1, labels)};
}

double LabelScores::accuracy() const {
  return ratio(static_cast<double>(right_), static_cast<double>(texts_));
}
double LabelScores::exact() const {
  return ratio(static_cast<double>(exact_), static_cast<double>(texts_));
}
double LabelScores::log_loss() const { return ratio(surprise_, static_cast<double>(texts_)); }

}  // namespace kith::eval
