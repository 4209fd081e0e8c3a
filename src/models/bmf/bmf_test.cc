// SPDX-License-Identifier: Apache-2.0
// What the posterior says about ratings whose truth is known, and the promises.

#include "models/bmf/model.h"
#include "models/ratings/test_ratings.h"

namespace kith::bmf {
namespace {

using test::Planted;

TEST(Bmf, LearnsAPlantedMatrixAndKnowsItsUncertainty) {
  Planted planted{.users = 150, .items = 80, .rank = 3, .share = 0.3, .noise = 0.5};
  const Ratings ratings = planted.ratings();
  Bmf model;
  model.config().dim = 6;
  test::train(model, ratings, 2);
  EXPECT_EQ(model.samples(), 32u);
  EXPECT_LT(test::rmse(model, planted.rest), 0.35);  // the truth varies by 1.9
  // Standardised errors of new ratings have variance 1.
  std::mt19937 rng(9);
  std::normal_distribution<double> noise(0, planted.noise);
  double sum = 0, within = 0;
  for (const Rating& r : planted.rest) {
    const auto user = model.factors().user.row(r.user);
    const auto item = model.factors().item.row(r.item);
    const double z = (r.value + noise(rng) - model.predict(r.user, r.item)) /
                     model.deviation(user, item).value();
    sum += z * z;
    within += std::abs(z) < 1.96;
  }
  const auto n = static_cast<double>(planted.rest.size());
  EXPECT_NEAR(sum / n, 1.0, 0.15);
  EXPECT_NEAR(within / n, 0.95, 0.02);
  test::expect_folds_in(model, 0.2);
}

TEST(Bmf, UncertaintyShrinksWithRatings) {
  Planted planted{.users = 100, .items = 60, .share = 0.5, .noise = 0.3};
  const Ratings ratings = planted.ratings();
  Bmf model;
  model.config().dim = 4;
  test::train(model, ratings);
  const auto item = model.factors().item.row(3);
  const Sparse::Row all = ratings.train().row(0);
  const auto few = model.fold_in(Axis::kUser, {all.columns.first(2), all.values.first(2)});
  const auto many = model.fold_in(Axis::kUser, all);
  EXPECT_GT(*model.deviation(few, item), *model.deviation(many, item) * 1.1);
}

// Every second user rates at random about the truth, widely.
Ratings with_noisy_users(Planted& planted, double noise) {
  const Ratings calm = planted.ratings();
  std::mt19937 rng(5);
  std::normal_distribution<float> normal(0, static_cast<float>(noise));
  Sparse train = calm.train();
  for (uint32_t u = 1; u < train.rows(); u += 2) {
    for (uint64_t k = train.offsets[u]; k < train.offsets[u + 1]; ++k) {
      train.value[k] += normal(rng);
    }
  }
  return calm.with(std::move(train), {});
}

TEST(Bmf, BelievesNoisyUsersLess) {
  Planted planted{.users = 200, .items = 80, .rank = 3, .share = 0.4, .noise = 0.2};
  const Ratings ratings = with_noisy_users(planted, 2);
  const auto trained = [&](double prior) {
    auto model = std::make_unique<Bmf>();
    model->config().dim = 5;
    model->config().noise_prior = prior;
    test::train(*model, ratings);
    return model;
  };
  const auto own = trained(4), alike = trained(0);
  EXPECT_LT(test::rmse(*own, planted.rest), 0.8 * test::rmse(*alike, planted.rest));
  // It says so, of users it was trained on and of those that are folded in.
  const auto item = own->factors().item.row(0);
  for (const uint32_t u : {0u, 1u, 2u, 3u}) {
    const auto folded = own->fold_in(Axis::kUser, ratings.train().row(u));
    const double noise = u % 2 == 1 ? 2.0 : 0.2;
    EXPECT_NEAR(*own->deviation(own->factors().user.row(u), item) / noise, 1.25, 0.5) << u;
    EXPECT_NEAR(*own->deviation(folded, item) / noise, 1.25, 0.5) << u;
  }
  const Matrix& users = alike->factors().user;
  const auto same = alike->factors().item.row(0);
  EXPECT_NEAR(*alike->deviation(users.row(0), same), *alike->deviation(users.row(1), same), 0.3);
}

TEST(Bmf, WhatARowLeavesIsTheSumOfWeightedSquares) {
  Matrix others(3, 4);  // [q, bias, weight]
  const float rows[3][4] = {{1, 2, 0.5f, 1}, {-1, 0.5f, 0, 2}, {0.25f, 3, -1, 0.5f}};
  for (size_t r = 0; r < 3; ++r) std::ranges::copy(rows[r], others.row(r).begin());
  const std::vector<uint32_t> columns{0, 1, 2};
  const std::vector<float> values{1, 2, -1}, x{0.5f, -0.25f, 0.75f};
  Scratch scratch(2);
  const double squares =
      normal_equations(std::as_const(others).view(), 2, {columns, values}, scratch);
  double expected = 0;
  for (size_t k = 0; k < 3; ++k) {
    const double score = x[0] * rows[k][0] + x[1] * rows[k][1] + x[2];
    expected += rows[k][3] * std::pow(values[k] - rows[k][2] - score, 2);
  }
  EXPECT_NEAR(squares_left(scratch, squares, x), expected, 1e-5);
}

// A bias alone: the prior N(mean, 1 / precision) counts as `precision` ratings of `mean` would, and
// the ratings t by noise w.
TEST(Bmf, ARowIsBetweenItsPriorAndItsRatings) {
  Matrix others(2, 2);  // [bias, weight]
  others.row(0)[0] = 0.5f;
  others.row(0)[1] = 1;
  others.row(1)[0] = -1;
  others.row(1)[1] = 2;
  const std::vector<uint32_t> columns{0, 1};
  const std::vector<float> values{1, 3};
  const Hyper hyper{{4}, {-3}};
  const double noise = 0.7, right = noise * (1 * (1 - 0.5) + 2 * (3 + 1)), weights = noise * 3;
  Scratch scratch(0);
  normal_equations(std::as_const(others).view(), 0, {columns, values}, scratch);
  float row = 0;
  solve(hyper, {}, noise, scratch, nullptr, &row);
  EXPECT_NEAR(row, (4 * -3 + right) / (4 + weights), 1e-5);
  normal_equations(std::as_const(others).view(), 0, {}, scratch);
  solve(hyper, {}, noise, scratch, nullptr, &row);
  EXPECT_NEAR(row, -3, 1e-5) << "nothing is known but the prior";
  const std::vector<float> says{1.5f};
  solve(hyper, says, noise, scratch, nullptr, &row);
  EXPECT_NEAR(row, -1.5, 1e-5) << "and what the row's features say";
}

TEST(Bmf, AnyNumberOfThreadsGivesTheSameBits) {
  test::expect_same_for_any_threads<Bmf>([](Bmf& m) {
    m.config().dim = 3;
    m.config().epochs = 3;
    m.config().burn_in = 1;
    m.config().samples = 2;
  });
}

TEST(Bmf, KeepsItsPromises) {
  Planted planted{.share = 0.5, .noise = 0.2};
  test::expect_promises<Bmf>("bmf", planted.ratings(0.1), [](Bmf& m) {
    m.config().dim = 3;
    m.config().epochs = 20;
    m.config().burn_in = 4;
    m.config().samples = 5;
  });
}

TEST(Bmf, ConstantRatingsOneRatingAndUnknownRowsAreFine) {
  std::vector<Rating> same;
  for (uint32_t k = 0; k < 30; ++k) same.push_back({k % 5, k % 6, 2.5f});
  for (const auto& ratings : {same, std::vector<Rating>{{0, 1, 2.5f}}}) {
    Bmf model;
    test::train(model, Ratings::of(test::numbered(6, "u"), test::numbered(7, "i"), ratings));
    for (uint32_t u = 0; u < 6; ++u) {
      for (uint32_t i = 0; i < 7; ++i) EXPECT_NEAR(model.predict(u, i), 2.5, 1e-6);
    }
  }
  Bmf model;
  EXPECT_THROW(test::train(model, Ratings::of(test::numbered(2, "u"), test::numbered(2, "i"),
                                              {{0, 0, 1}, {1, 1, 1}}, {}, true)),
               Error);
}

TEST(Bmf, ACheckpointWithoutRoomForItsSamplesDoesNotGoOn) {
  const Ratings ratings = Planted{.users = 20, .items = 10}.ratings();
  Bmf model;
  model.config() = {.dim = 2, .epochs = 12, .burn_in = 2, .samples = 4};
  Job job;
  job.on_progress = [&](const Progress&) { job.cancel(); };
  model.train(ratings, job);
  Bmf more = test::through_file(model, "bmf", true);
  more.config().samples = 6;
  message_of(ErrorKind::kInput, [&] { test::train(more, ratings); });
}

}  // namespace
}  // namespace kith::bmf
