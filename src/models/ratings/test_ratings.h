// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ratings whose truth is known, for the tests of all models of ratings.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "models/ratings/model.h"
#include "models/test_model.h"

namespace kith::test {

inline Names numbered(size_t n, const char* prefix) {
  Names out;
  for (size_t i = 0; i < n; ++i) out.add(fmt::format("{}{}", prefix, i));
  return out;
}

// mean + b_u + c_i + p_u . q_i, normal, some of it seen, with noise.
struct Planted {
  size_t users = 60, items = 40, rank = 2;
  double share = 0.5, noise = 0.0, mean = 3.0, bias = 0.5, size = 1.0;
  unsigned seed = 1;
  std::vector<double> p{}, q{}, b{}, c{};  // filled by ratings()
  std::vector<Rating> rest{};              // what was not seen, without noise

  double truth(size_t u, size_t i) const {
    double sum = mean + b[u] + c[i];
    for (size_t k = 0; k < rank; ++k) sum += p[u * rank + k] * q[i * rank + k];
    return sum;
  }
  Ratings ratings(double holdout = 0) {
    std::mt19937 rng(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    const auto fill = [&](std::vector<double>& v, size_t n, double scale) {
      v.resize(n);
      for (double& x : v) x = scale * normal(rng);
    };
    fill(p, users * rank, size);
    fill(q, items * rank, size);
    fill(b, users, bias);
    fill(c, items, bias);
    std::vector<Rating> train, held;
    rest.clear();
    for (uint32_t u = 0; u < users; ++u) {
      for (uint32_t i = 0; i < items; ++i) {
        const auto value = static_cast<float>(truth(u, i));
        if (uniform(rng) >= share) {
          rest.push_back({u, i, value});
          continue;
        }
        const auto noisy = value + static_cast<float>(noise * normal(rng));
        (uniform(rng) < holdout ? held : train).push_back({u, i, noisy});
      }
    }
    return Ratings::of(numbered(users, "u"), numbered(items, "i"), std::move(train),
                       std::move(held));
  }
};

// A feature for each group, and row r in group r % groups.
inline RowFeatures grouped(uint32_t rows, uint32_t groups) {
  RowFeatures out;
  out.features.columns = groups;
  for (uint32_t r = 0; r < rows; ++r) {
    out.features.column.push_back(r % groups);
    out.features.value.push_back(1);
    out.features.offsets.push_back(r + 1);
  }
  out.ends = {groups};
  out.names = {"group"};
  out.types = {"category"};
  return out;
}

// One rating of one thing in each row, but for the last so many.
inline Sparse one_each(uint32_t rows, uint32_t without = 0) {
  Sparse out;
  out.columns = 1;
  for (uint32_t r = 0; r < rows; ++r) {
    if (r + without < rows) {
      out.column.push_back(0);
      out.value.push_back(1);
    }
    out.offsets.push_back(out.column.size());
  }
  return out;
}

// Rows that are what their group is, of which few ratings are seen.
struct Grouped {
  uint32_t users = 200, items = 120, groups = 6;
  double share = 0.06;
  std::vector<Rating> rest{};

  Ratings ratings(bool features, double holdout = 0) {
    std::mt19937 rng(4);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<std::array<float, 2>> user(users), group(groups);
    for (auto& v : user) v = {normal(rng), normal(rng)};
    for (auto& v : group) v = {normal(rng), normal(rng)};
    std::vector<Rating> train, held;
    rest.clear();
    for (uint32_t u = 0; u < users; ++u) {
      for (uint32_t i = 0; i < items; ++i) {
        const auto& q = group[i % groups];
        const float value = 3 + user[u][0] * q[0] + user[u][1] * q[1];
        // The last items are never rated.
        if (i + groups >= items || uniform(rng) >= share) {
          rest.push_back({u, i, value});
        } else {
          (uniform(rng) < holdout ? held : train).push_back({u, i, value + 0.3f * normal(rng)});
        }
      }
    }
    Ratings out =
        Ratings::of(numbered(users, "u"), numbered(items, "i"), std::move(train), std::move(held));
    if (features) out.set_features({}, grouped(items, groups));
    return out;
  }
};

// People rate what they like: who rated an item tells its kind.
struct Choosy {
  uint32_t users = 160, items = 160;
  std::vector<Rating> rest{};

  Ratings ratings() {
    std::mt19937 rng(8);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<Rating> train;
    rest.clear();
    for (uint32_t u = 0; u < users; ++u) {
      for (uint32_t i = 0; i < items; ++i) {
        const bool likes = u % 2 == i % 2;
        const float value = likes ? 4.0f : 2.0f;
        if (uniform(rng) < (likes ? 0.1 : 0.02)) {
          train.push_back({u, i, value + normal(rng)});
        } else {
          rest.push_back({u, i, value});
        }
      }
    }
    return Ratings::of(numbered(users, "u"), numbered(items, "i"), std::move(train));
  }
};

inline double rmse(const RatingsModel& model, const std::vector<Rating>& ratings) {
  double sum = 0;
  for (const Rating& r : ratings) {
    const double e = model.predict(r.user, r.item) - r.value;
    sum += e * e;
  }
  return std::sqrt(sum / static_cast<double>(ratings.size()));
}

inline void train(RatingsModel& model, const Ratings& ratings, int threads = 1) {
  Job job(threads);
  model.train(ratings, job);
}

inline void expect_same(const RatingsModel& a, const RatingsModel& b, const std::string& what) {
  EXPECT_TRUE(same_bits(a.factors().user, b.factors().user)) << what;
  EXPECT_TRUE(same_bits(a.factors().item, b.factors().item)) << what;
}

// The promises that every model of ratings keeps: the same bits from any number of threads, from a
// file, and from a run that was interrupted.
template <class M, class Configure>
void expect_promises(const char* kind, const Ratings& ratings, const Configure& configure) {
  M one;
  configure(one);
  train(one, ratings, 1);
  for (const int threads : {2, 8}) {
    M more;
    configure(more);
    train(more, ratings, threads);
    expect_same(one, more, fmt::format("{} threads", threads));
  }
  expect_same(one, through_file(one, kind), "from its file");

  int reports = 0;
  {
    M counted;
    configure(counted);
    Job job;
    job.on_progress = [&](const Progress&) { ++reports; };
    counted.train(ratings, job);
  }
  for (const int stop : {3, reports - 1}) {  // the latter in the second run, if there is one
    M stopped;
    configure(stopped);
    Job job;
    int seen = 0;
    job.on_progress = [&](const Progress&) {
      if (++seen == stop) job.cancel();
    };
    stopped.train(ratings, job);
    ASSERT_FALSE(stopped.finished()) << stop;
    M resumed = through_file(stopped, kind, true);
    train(resumed, ratings, 2);
    expect_same(one, resumed, fmt::format("resumed after report {}", stop));
  }
}

// The same on ratings that are worth sharing: tens of thousands.
template <class M, class Configure>
void expect_same_for_any_threads(const Configure& configure) {
  Planted planted{.users = 500, .items = 200, .share = 0.5, .noise = 0.2};
  const Ratings ratings = planted.ratings();
  M one;
  configure(one);
  train(one, ratings, 1);
  for (const int threads : {2, 3, 8, 16}) {
    M more;
    configure(more);
    train(more, ratings, threads);
    expect_same(one, more, fmt::format("{} threads", threads));
  }
}

// A user that comes again with the ratings that it has is predicted as it was, or nearly.
inline void expect_folds_in(const RatingsModel& model, double tolerance) {
  const Sparse& seen = model.seen();
  double worst = 0;
  std::vector<float> room;
  for (uint32_t u = 0; u < std::min<uint32_t>(20, seen.rows()); ++u) {
    const auto row = model.fold_in(Axis::kUser, seen.row(u));
    for (uint32_t i = 0; i < seen.columns; ++i) {
      const double known = model.predict(u, i);
      const double folded = model.rating(row, model.scoring_row(Axis::kItem, i, room));
      worst = std::max(worst, std::abs(known - folded));
    }
  }
  EXPECT_LT(worst, tolerance);
}

}  // namespace kith::test
