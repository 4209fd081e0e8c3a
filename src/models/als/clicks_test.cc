// SPDX-License-Identifier: Apache-2.0
// Interactions without ratings: how often an item is seen, who visits much, and the penalty that
// what is held out finds.

#include <algorithm>
#include <cstdlib>

#include "models/als/model.h"
#include "models/ratings/test_ratings.h"

namespace kith::als {
namespace {

// Users of three tastes visit a few of 30 items: those of their taste eight times as often, and
// early numbers far more often than late ones. One user in ten visits many.
struct Clicks {
  static constexpr uint32_t kUsers = 400, kItems = 30;
  std::vector<Rating> train, held;
  explicit Clicks(double holdout) {
    std::mt19937 rng(3);
    std::uniform_real_distribution<double> uniform;
    for (uint32_t u = 0; u < kUsers; ++u) {
      const double much = u % 10 == 0 ? 4 : 1;
      for (uint32_t i = 0; i < kItems; ++i) {
        const double popular = 0.25 / (1 + i / 4.0), taste = i % 3 == u % 3 ? 2.4 : 0.3;
        if (uniform(rng) >= much * popular * taste) continue;
        (uniform(rng) < holdout ? held : train).push_back({u, i, 1});
      }
    }
  }
  Ratings ratings() const {
    return Ratings::of(test::numbered(kUsers, "u"), test::numbered(kItems, "i"), train, held, true);
  }
};

std::string fact(const Als& model, std::string_view key) {
  for (const Fact& f : model.info()) {
    if (f.name == key) return f.value;
  }
  return "";
}

// With no vectors the score is a_u c_i: for everyone the same order, that of the visits.
TEST(AlsClicks, BiasesAloneArePopularity) {
  const Clicks clicks(0);
  const Ratings ratings = clicks.ratings();
  Als model;
  model.config().dim = 0;
  test::train(model, ratings);
  const RatingFactors& f = model.factors();
  std::vector<double> visits(Clicks::kItems, 0.0), of_user(Clicks::kUsers, 0.0);
  for (const Rating& r : clicks.train) {
    visits[r.item] += f.user.row(r.user)[1];  // by who visits
    ++of_user[r.user];
  }
  for (uint32_t i = 0; i < Clicks::kItems; ++i) {
    for (uint32_t j = 0; j < Clicks::kItems; ++j) {
      if (visits[i] <= 1.2 * visits[j]) continue;
      EXPECT_GT(model.predict(1, i), model.predict(1, j));
    }
  }
  // a_u by its formula: 5 visits more for all, 0.2 of what is not seen, beside the usual user.
  const double mean = static_cast<double>(clicks.train.size()) / Clicks::kUsers;
  const auto share = [](double n) { return (n + 5) / (n + 5 + 0.2 * Clicks::kItems); };
  for (uint32_t u = 0; u < Clicks::kUsers; ++u) {
    EXPECT_NEAR(f.user.row(u)[1], share(of_user[u]) / share(mean), 1e-6) << u;
  }
}

// c is where the sum of squares over all pairs, seen or not, is least; another penalty, another c.
TEST(AlsClicks, TheBiasOfAnItemIsTheBestOne) {
  const Ratings ratings = Clicks(0).ratings();
  for (const double penalty : {0.0, 1.0, 50.0}) {
    Als model;
    model.config().dim = 0;
    model.config().bias_penalty = penalty;
    test::train(model, ratings);
    const RatingFactors& f = model.factors();
    for (const uint32_t i : {0u, 7u, 29u}) {
      double slope = penalty * f.item.row(i)[1];
      for (uint32_t u = 0; u < Clicks::kUsers; ++u) {
        const double a = f.user.row(u)[1], score = a * f.item.row(i)[1];
        const bool seen = std::ranges::binary_search(f.seen->row(u).columns, i);
        slope += a * (0.2 * score - (seen ? 1 - score : 0));
      }
      EXPECT_NEAR(slope, 0, 1e-3) << penalty;
    }
  }
  Als none;
  none.config().dim = 0;
  none.config().biases = false;
  test::train(none, ratings);
  EXPECT_EQ(none.predict(0, 0), 0);
  EXPECT_EQ(none.factors().user.row(0)[1], 1);
}

// Vectors and biases are the minimum over all, so a user's own visits folded in are the user.
TEST(AlsClicks, WhoFoldsInIsWhoWasLearned) {
  const Ratings ratings = Clicks(0).ratings();
  Als model;
  model.config() = {.dim = 3, .epochs = 300, .penalty = 0.02, .solver = Solver::kCholesky};
  test::train(model, ratings);
  const RatingFactors& f = model.factors();
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    const Sparse by_item = transposed(*f.seen);
    const Sparse& seen = axis == Axis::kUser ? *f.seen : by_item;
    for (const uint32_t r : {0u, 1u, 20u, 29u}) {
      const std::vector<float> folded = model.fold_in(axis, seen.row(r));
      for (size_t k = 0; k < folded.size(); ++k) {
        EXPECT_NEAR(folded[k], f.rows(axis).row(r)[k], 2e-3) << r << " " << k;
      }
    }
  }
}

// It grows by the same factor from 0.002 to 0.03 in 16 sweeps, or as many as there are.
TEST(AlsClicks, WhatIsHeldOutFindsThePenalty) {
  const Ratings ratings = Clicks(0.2).ratings();
  const auto at = [](uint64_t sweep, double steps) {
    return 0.002 * std::pow(15, static_cast<double>(sweep - 1) / steps);
  };
  for (const bool refit : {true, false}) {
    for (const int epochs : {30, 6}) {
      Als model;
      model.config().dim = 4;
      model.config().refit = refit;
      model.config().epochs = epochs;
      test::train(model, ratings);
      const RunState& run = model.state();
      // None stops before the search is over.
      EXPECT_TRUE(epochs < 30 || refit || run.held_out.size() >= 17) << run.held_out.size();
      const uint64_t best = refit ? *run.refit : run.kept.value_or(run.held_out.size() - 1);
      ASSERT_GT(best, 1u);
      const double found = std::atof(fact(model, "penalty").c_str());
      EXPECT_NEAR(found, at(best, std::min(epochs, 16) - 1), 1e-3 * found) << refit << epochs;
      EXPECT_EQ(fact(test::through_file(model, "als"), "penalty"), fact(model, "penalty"));
    }
  }
}

TEST(AlsClicks, APenaltyThatIsGivenOrCannotBeFoundStays) {
  const Ratings held = Clicks(0.2).ratings(), all = Clicks(0).ratings();
  const auto trained = [](const Ratings& ratings, Config config) {
    Als model;
    config.dim = 4;
    config.refit = false;
    model.config() = config;
    test::train(model, ratings);
    return fact(model, "penalty");
  };
  EXPECT_EQ(trained(held, {.penalty = 0.02}), "0.02");
  EXPECT_EQ(trained(held, {.early_stop = 0}), "0.01");
  EXPECT_EQ(trained(all, {}), "0.01");
  test::Planted planted{.share = 0.4};
  EXPECT_EQ(trained(planted.ratings(0.1), {}), "0.1");  // ratings have a penalty that suits all
}

TEST(AlsClicks, KeepsItsPromises) {
  const Ratings ratings = Clicks(0.1).ratings();
  test::expect_promises<Als>("als", ratings, [](Als& m) { m.config().dim = 5; });
}

}  // namespace
}  // namespace kith::als
