// SPDX-License-Identifier: Apache-2.0
#include "kith/recovery.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/job.h"
#include "core/rng.h"
#include "data/ratings/ratings.h"
#include "models/capabilities.h"
#include "models/model.h"
#include "train/incoherence.h"
#include "train/svd.h"

namespace kith {
namespace {

constexpr double kSuccess = 1e-3;

double normal(Rng& rng) {
  const double u = rng.uniform(), v = rng.uniform();
  return std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * v);
}

// p and q of p q^T, normal: incoherent with near certainty. With a spike, the first column of each
// moves into its first entry.
FactorPair random_factors(const RecoveryOptions& o, size_t rank, uint64_t seed) {
  const auto n = static_cast<size_t>(o.size);
  FactorPair out{Matrix(n, rank), Matrix(n, rank)};
  Rng rng(seed, 0);
  for (Matrix* m : {&out.p, &out.q}) {
    for (size_t r = 0; r < n; ++r) {
      for (float& x : m->row(r)) x = static_cast<float>(normal(rng));
    }
  }
  const auto spike = static_cast<float>(o.spike);
  for (Matrix* m : {&out.p, &out.q}) {
    for (size_t r = 0; spike > 0 && r < n; ++r) {
      const float all = r == 0 ? std::sqrt(static_cast<float>(n)) : 0.0f;
      m->row(r)[0] = (1 - spike) * m->row(r)[0] + spike * all;
    }
  }
  return out;
}

Matrix product(const FactorPair& f) {
  const size_t n = f.p.rows();
  Matrix out(n, n);
  for (size_t r = 0; r < n; ++r) {
    for (size_t c = 0; c < n; ++c) {
      double sum = 0;
      for (size_t k = 0; k < f.p.cols(); ++k) sum += double{f.p.row(r)[k]} * f.q.row(c)[k];
      out.row(r)[c] = static_cast<float>(sum);
    }
  }
  return out;
}

// Exactly `count` entries, the first of a random order.
std::vector<Rating> observed(const Matrix& truth, size_t count, uint64_t seed) {
  const auto n = static_cast<uint32_t>(truth.rows());
  std::vector<uint32_t> order(size_t{n} * n);
  std::iota(order.begin(), order.end(), 0u);
  Rng rng(seed, 1);
  std::vector<Rating> out;
  for (size_t i = 0; i < count; ++i) {
    std::swap(order[i], order[i + rng.below(static_cast<uint32_t>(order.size() - i))]);
    const uint32_t at = order[i];
    out.push_back({at / n, at % n, truth.row(at / n)[at % n]});
  }
  return out;
}

Names numbered(size_t n) {
  Names out;
  for (size_t i = 0; i < n; ++i) out.add(std::to_string(i));
  return out;
}

double relative_error(const Ranks& model, const Matrix& truth) {
  const auto n = static_cast<uint32_t>(truth.rows());
  std::vector<float> user_room, item_room;
  double error = 0, size = 0;
  for (uint32_t r = 0; r < n; ++r) {
    const auto p = model.scoring_row(Axis::kUser, r, user_room);
    for (uint32_t c = 0; c < n; ++c) {
      const auto q = model.scoring_row(Axis::kItem, c, item_room);
      double sum = 0;
      for (size_t k = 0; k < p.size(); ++k) sum += double{p[k]} * q[k];
      error += std::pow(sum - truth.row(r)[c], 2);
      size += std::pow(double{truth.row(r)[c]}, 2);
    }
  }
  return std::sqrt(error / size);
}

struct Method {
  std::string_view model;
  std::vector<Setting> settings;
};
Method method_of(const RecoveryOptions& o, size_t rank) {
  if (o.method == RecoveryMethod::kSvp) {
    return {"svp",
            {{"dim", static_cast<int64_t>(rank)},
             {"biases", false},
             {"epochs", int64_t{200}},
             {"tolerance", 1e-3}}};
  }
  return {"softimpute",
          {{"method", std::string("shrink")},
           {"dim", int64_t{o.size}},
           {"biases", false},
           {"epochs", int64_t{400}},
           {"tolerance", kSuccess / 3}}};
}

bool recovered(const RecoveryOptions& o, size_t rank, size_t count, uint64_t seed,
               const Context& context) {
  const Matrix truth = product(random_factors(o, rank, seed));
  const auto [name, settings] = method_of(o, rank);
  const std::unique_ptr<ModelBase> made = model(name).make();
  apply_settings(settings, std::vector{made->settings()});
  const auto n = static_cast<size_t>(o.size);
  Ratings ratings = Ratings::of(numbered(n), numbered(n), observed(truth, count, seed));
  Job job;
  job.on_progress = [&](const Progress&) {
    if (context.cancelled()) job.cancel();
  };
  return made->fit(ratings, job, true) &&
         relative_error(dynamic_cast<const Ranks&>(*made), truth) < kSuccess;
}

uint64_t seed_of(const RecoveryOptions& o, size_t rank, size_t share, size_t trial) {
  return mix64(static_cast<uint64_t>(o.seed) * 1000003 + (rank * 1009 + share) * 101 + trial);
}

}  // namespace

RecoveryMap recovery_map(const RecoveryOptions& options, const Context& context,
                         const std::function<void(double)>& progress) {
  RecoveryMap map;
  map.n = static_cast<size_t>(options.size);
  for (size_t k = 1; k <= std::min(static_cast<size_t>(options.ranks), map.n); ++k) {
    map.ranks.push_back(k);
  }
  const auto shares = static_cast<size_t>(options.shares);
  const auto trials = static_cast<size_t>(options.trials);
  for (size_t s = 1; s <= shares; ++s) {
    map.shares.push_back(static_cast<double>(s) / static_cast<double>(shares));
  }
  map.success.assign(map.ranks.size() * shares, 0.0);
  map.incoherence.assign(map.ranks.size(), 0.0);
  const auto entries = static_cast<double>(map.n * map.n);
  // A row of the map at a time, so that there is something to report in between.
  for (size_t k = 0; k < map.ranks.size(); ++k) {
    std::vector<uint8_t> done(shares * trials);
    for_each_shard(context, done.size(), [&](size_t i) {
      const size_t share = i / trials;
      const auto count = static_cast<size_t>(std::lround(map.shares[share] * entries));
      // Fewer numbers than it takes to write the matrix down: no use trying.
      if (map.shares[share] < map.bound(static_cast<double>(map.ranks[k]))) return;
      done[i] =
          recovered(options, map.ranks[k], count, seed_of(options, k, share, i % trials), context);
    });
    for (size_t i = 0; i < done.size(); ++i) {
      map.success[k * shares + i / trials] +=
          static_cast<double>(done[i]) / static_cast<double>(trials);
    }
    for (size_t t = 0; t < trials; ++t) {
      const FactorPair f =
          random_factors(options, map.ranks[k], seed_of(options, k, shares - 1, t));
      map.incoherence[k] +=
          incoherence(svd_of_product(f.p, f.q, context), context) / static_cast<double>(trials);
    }
    context.check();
    if (progress) progress(static_cast<double>(k + 1) / static_cast<double>(map.ranks.size()));
  }
  return map;
}

}  // namespace kith
