// SPDX-License-Identifier: Apache-2.0
#include "models/gmm/starts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "kith/text.h"

namespace kith::gmm {
namespace {

constexpr uint64_t kSample = 16384;
constexpr uint64_t kRowsEach = 64;  // of a component; of a full covariance four times its columns
constexpr int kLloydSteps = 10;
constexpr double kLloydGain = 1e-3;  // of the squared distances, below which it is enough
constexpr int kSweeps = 200;         // of a start
constexpr double kSmall = 0x1p20;    // multiply-adds of a sweep that takes no time
constexpr double kLoose = 100;       // times the tolerance

// Squared distances of the rows of a sample from a few candidates, and from the nearest of those
// that were taken.
class Seeder {
 public:
  Seeder(const Sample& sample, size_t dims, const Context& context)
      : sample_(sample), dims_(dims), context_(context), nearest_(sample.size(), kFar) {}

  double total() const { return total_; }
  // A row, in proportion to its squared distance.
  uint64_t drawn(double share) const {
    double left = share * total_;
    uint64_t last = 0;
    for (uint64_t r = 0; r < nearest_.size(); ++r) {
      if (nearest_[r] == 0) continue;
      last = r;
      left -= double{nearest_[r]};
      if (left < 0) break;
    }
    return last;
  }
  // Takes that of the candidates which leaves the least total.
  uint64_t take_best(std::span<const uint64_t> candidates) {
    measure(candidates);
    size_t best = 0;
    std::vector<double> totals(candidates.size(), 0);
    for (uint64_t r = 0; r < nearest_.size(); ++r) {
      for (size_t c = 0; c < candidates.size(); ++c) {
        totals[c] += std::min(nearest_[r], distances_[r * candidates.size() + c]);
      }
    }
    for (size_t c = 1; c < candidates.size(); ++c) best = totals[c] < totals[best] ? c : best;
    for (uint64_t r = 0; r < nearest_.size(); ++r) {
      nearest_[r] = std::min(nearest_[r], distances_[r * candidates.size() + best]);
    }
    total_ = totals[best];
    return candidates[best];
  }

 private:
  static constexpr float kFar = std::numeric_limits<float>::max();

  void measure(std::span<const uint64_t> candidates) {
    constexpr uint64_t kRows = 2048;
    Components<float> c;
    c.metric = Metric::kPlain;
    c.count = candidates.size();
    c.dims = dims_;
    for (const uint64_t row : candidates) {
      c.mean.insert(c.mean.end(), sample_.row(row).begin(), sample_.row(row).end());
    }
    distances_.resize(nearest_.size() * candidates.size());
    for_each_shard(context_, (nearest_.size() + kRows - 1) / kRows, [&](size_t s) {
      Block<float> block(c);
      ReadBuffer buffer;
      const uint64_t end = std::min<uint64_t>(nearest_.size(), (s + 1) * kRows);
      for (uint64_t r = s * kRows; r < end; r += block.rows()) {
        sample_.load(r, std::min<uint64_t>(block.rows(), end - r), buffer, block);
        block.distances(c);
        for (size_t n = 0; n < block.count(); ++n) {
          for (size_t k = 0; k < c.count; ++k) {
            distances_[(r + n) * c.count + k] = block.joint(k, n);
          }
        }
      }
    });
  }

  const Sample& sample_;
  const size_t dims_;
  const Context& context_;
  std::vector<float> nearest_, distances_;
  double total_ = 0;
};

}  // namespace

uint64_t sample_size(const Form& form, uint64_t rows, size_t count, size_t dims) {
  const bool square = form.covariance == Covariance::kFull || form.covariance == Covariance::kTied;
  const uint64_t each = square ? std::max<uint64_t>(kRowsEach, 4 * dims) : kRowsEach;
  return std::min(rows, std::max(kSample, each * count));
}

uint64_t usual_starts(const Form& form, uint64_t rows, size_t count, size_t dims) {
  return work_of(form, rows, count, dims) <= kSmall ? 50 : 10;
}

double score_of(const Form& form, double objective, uint64_t rows, size_t dims) {
  const double mean = objective / static_cast<double>(rows);
  return form.hard ? -mean / static_cast<double>(dims) : mean;
}

void Gains::add(double score) {
  scores_.push_back(score);
  if (scores_.size() > 3) scores_.erase(scores_.begin());
}

bool Gains::over(double tolerance) const {
  if (scores_.size() < 2) return false;
  const double last = scores_.back() - scores_[scores_.size() - 2];
  if (last <= 1e-3 * tolerance) return true;  // nothing, or rounding
  if (scores_.size() < 3 || last > tolerance) return false;
  const double before = scores_[1] - scores_[0];
  return before > last && last * last / (before - last) <= tolerance;
}

std::vector<double> seeds(const Sample& sample, size_t dims, size_t count, uint64_t seed,
                          const Context& context) {
  Rng rng(seed, count);
  const auto uniform = [&] { return static_cast<double>(rng.next() >> 11) * 0x1p-53; };
  Seeder seeder(sample, dims, context);
  std::vector<uint64_t> candidates{
      static_cast<uint64_t>(uniform() * static_cast<double>(sample.size()))};
  const auto draws = static_cast<size_t>(2 + std::log(static_cast<double>(count)));
  std::vector<double> out;
  for (size_t k = 0; k < count; ++k) {
    if (k > 0) {
      context.check();
      if (seeder.total() == 0) break;
      candidates.clear();
      for (size_t t = 0; t < draws; ++t) candidates.push_back(seeder.drawn(uniform()));
    }
    const auto row = sample.row(seeder.take_best(candidates));
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

Tried tried_start(const StartPlan& plan, size_t count, uint64_t seed, const Context& context) {
  const auto& [form, config, sample, all, dims] = plan;
  std::vector<double> means = seeds(sample, dims, count, seed, context);
  if (means.size() < count * dims) return {{}, 0, means.size() / dims};
  Sums sums = lloyd_step(dims, means, sample, context);
  for (int step = 1; step < kLloydSteps; ++step) {
    const double before = sums.objective;
    sums = lloyd_step(dims, means, sample, context);
    if (before - sums.objective <= kLloydGain * before) break;
  }
  Tried out{around(form, dims, std::move(means), sums, sample.size()), 0, count};
  // Where a sweep costs nothing a start goes on to its end: which is best is known only there.
  const bool whole = all && !in_single(form, sample.size(), count, dims);
  const double tolerance = whole ? config.tolerance : kLoose * config.tolerance;
  const int most = whole ? config.epochs : std::min(kSweeps, config.epochs);
  Gains gains;
  for (int sweep = 0;; ++sweep) {
    Step step = swept(form, out.mixture, sample, context);
    out.score = score_of(form, step.objective, sample.size(), dims);
    gains.add(out.score);
    if (sweep >= most || gains.over(tolerance)) return out;
    out.mixture = std::move(step.next);
  }
}

}  // namespace kith::gmm
