// SPDX-License-Identifier: Apache-2.0
#include "eval/calibrated_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kith::eval {
namespace {

constexpr double kLeast = 1.0 / 64, kMost = 16;  // of t
constexpr int kSteps = 32;                       // of the search, each takes a third off

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

}  // namespace

void CalibratedLoss::add(std::span<const float> probabilities, std::span<const uint32_t> truth) {
  constexpr auto kTiny = static_cast<double>(std::numeric_limits<float>::min());
  for (const float p : probabilities) {
    const double own = std::max(static_cast<double>(p), kTiny);
    // Above 1 - 6e-8 a float is 1.
    const double other = exclusive_ ? 1.0 : std::max(1.0 - own, 6e-8);
    scores_.push_back(static_cast<float>(std::log(own / other)));
  }
  truth_.insert(truth_.end(), truth.begin(), truth.end());
  offsets_.push_back(truth_.size());
}

double CalibratedLoss::loss_of(size_t text, double t) const {
  const auto scores = std::span(scores_).subspan(text * labels_, labels_);
  const auto truth = std::span(truth_).subspan(offsets_[text], offsets_[text + 1] - offsets_[text]);
  double out = 0;
  if (!exclusive_) {
    for (uint32_t k = 0; k < labels_; ++k) {
      const double s = t * static_cast<double>(scores[k]);
      out += softplus(std::ranges::count(truth, k) > 0 ? -s : s);
    }
    return out;
  }
  const auto most = static_cast<double>(*std::ranges::max_element(scores));
  double sum = 0;
  for (const float s : scores) sum += std::exp(t * (static_cast<double>(s) - most));
  for (const uint32_t k : truth) {
    out += std::log(sum) - t * (static_cast<double>(scores[k]) - most);
  }
  return out / static_cast<double>(std::max<size_t>(1, truth.size()));
}

double CalibratedLoss::at(double t) const {
  const size_t texts = offsets_.size() - 1;
  double out = 0;
  for (size_t i = 0; i < texts; ++i) out += loss_of(i, t);
  return out / static_cast<double>(std::max<size_t>(1, texts));
}

// The loss is convex in t, so it falls and then rises in log t as well: golden sections.
double CalibratedLoss::best() const {
  const double keep = 1 / std::numbers::phi;
  double low = std::log(kLeast), high = std::log(kMost);
  double left = high - keep * (high - low), right = low + keep * (high - low);
  double at_left = at(std::exp(left)), at_right = at(std::exp(right));
  for (int i = 0; i < kSteps; ++i) {
    if (at_left < at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - keep * (high - low);
      at_left = at(std::exp(left));
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + keep * (high - low);
      at_right = at(std::exp(right));
    }
  }
  return std::min(at_left, at_right);
}

}  // namespace kith::eval
