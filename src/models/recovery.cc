// SPDX-License-Identifier: Apache-2.0
#include "models/recovery.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/rng.h"
#include "models/softimpute/model.h"
#include "models/svp/model.h"

namespace kith {
namespace {

constexpr double kSuccess = 1e-3;

double normal(Rng& rng) {
  const double u = rng.uniform(), v = rng.uniform();
  return std::sqrt(-2 * std::log(1 - u)) * std::cos(6.283185307179586 * v);
}

// Entries of p q^T, p and q normal: incoherent with near certainty.
std::vector<float> random_low_rank(size_t n, size_t rank, uint64_t seed) {
  std::vector<double> factors(2 * n * rank);
  Rng rng(seed, 0);
  for (double& x : factors) x = normal(rng);
  std::vector<float> out(n * n);
  for (size_t r = 0; r < n; ++r) {
    for (size_t c = 0; c < n; ++c) {
      double sum = 0;
      for (size_t k = 0; k < rank; ++k) sum += factors[r * rank + k] * factors[(n + c) * rank + k];
      out[r * n + c] = static_cast<float>(sum);
    }
  }
  return out;
}

// Exactly `count` entries, the first of a random order.
std::vector<Rating> observed(const std::vector<float>& truth, size_t n, size_t count,
                             uint64_t seed) {
  std::vector<uint32_t> order(n * n);
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  Rng rng(seed, 1);
  std::vector<Rating> out;
  for (size_t i = 0; i < count; ++i) {
    std::swap(order[i], order[i + rng.below(static_cast<uint32_t>(order.size() - i))]);
    const uint32_t at = order[i];
    out.push_back({at / static_cast<uint32_t>(n), at % static_cast<uint32_t>(n), truth[at]});
  }
  return out;
}

Names numbered(size_t n) {
  Names out;
  for (size_t i = 0; i < n; ++i) out.add(std::to_string(i));
  return out;
}

void complete(RatingsModel& model, size_t n, std::vector<Rating> ratings) {
  Job job;
  model.train(Ratings::of(numbered(n), numbered(n), std::move(ratings)), job);
}

double relative_error(const RatingsModel& model, const std::vector<float>& truth, size_t n) {
  const Matrix &user = model.rows_of(Axis::kUser), &item = model.rows_of(Axis::kItem);
  double error = 0, size = 0;
  for (size_t r = 0; r < n; ++r) {
    for (size_t c = 0; c < n; ++c) {
      double sum = 0;
      for (size_t k = 0; k < user.cols(); ++k) sum += double{user.row(r)[k]} * item.row(c)[k];
      error += (sum - truth[r * n + c]) * (sum - truth[r * n + c]);
      size += double{truth[r * n + c]} * truth[r * n + c];
    }
  }
  return std::sqrt(error / size);
}

bool recovered(const RecoverySettings& s, size_t rank, size_t count, uint64_t seed) {
  const std::vector<float> truth = random_low_rank(s.n, rank, seed);
  std::vector<Rating> ratings = observed(truth, s.n, count, seed);
  if (s.method == RecoveryMethod::kSvp) {
    svp::Svp model;
    model.config().dim = static_cast<int>(rank);
    model.config().biases = false;
    model.config().epochs = 200;
    model.config().tolerance = 1e-3;
    complete(model, s.n, std::move(ratings));
    return relative_error(model, truth, s.n) < kSuccess;
  }
  softimpute::SoftImpute model;
  model.config().method = softimpute::Method::kShrink;
  model.config().dim = static_cast<int>(s.n);
  model.config().biases = false;
  model.config().epochs = 400;
  model.config().tolerance = kSuccess / 3;
  complete(model, s.n, std::move(ratings));
  return relative_error(model, truth, s.n) < kSuccess;
}

}  // namespace

RecoveryMap recovery_map(const RecoverySettings& settings, Job& job) {
  RecoveryMap map;
  map.n = settings.n;
  for (size_t k = 1; k <= std::min(settings.max_rank, settings.n); ++k) map.ranks.push_back(k);
  for (size_t s = 1; s <= settings.shares; ++s) {
    map.shares.push_back(static_cast<double>(s) / static_cast<double>(settings.shares));
  }
  const size_t cells = map.ranks.size() * map.shares.size();
  map.success.assign(cells, 0.0);
  const auto entries = static_cast<double>(settings.n * settings.n);
  // A row of the map at a time, so that there is something to report in between.
  for (size_t k = 0; k < map.ranks.size() && !job.cancelled(); ++k) {
    std::vector<uint8_t> done(map.shares.size() * settings.trials);
    job.for_each_shard(done.size(), [&](size_t i) {
      const size_t share = i / settings.trials;
      const auto count = static_cast<size_t>(std::lround(map.shares[share] * entries));
      // Fewer numbers than it takes to write the matrix down: no use trying.
      if (map.shares[share] < map.bound(static_cast<double>(map.ranks[k]))) return;
      const uint64_t seed =
          mix64(job.seed * 1000003 + (k * 1009 + share) * 101 + i % settings.trials);
      done[i] = recovered(settings, map.ranks[k], count, seed);
    });
    for (size_t i = 0; i < done.size(); ++i) {
      map.success[k * map.shares.size() + i / settings.trials] +=
          static_cast<double>(done[i]) / static_cast<double>(settings.trials);
    }
    Progress report;
    report.done = (k + 1) * map.shares.size();
    report.total = cells;
    job.on_progress(report);
  }
  return map;
}

}  // namespace kith
