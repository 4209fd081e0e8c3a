// SPDX-License-Identifier: Apache-2.0
// What the posterior says about ratings whose truth is known, and the promises.

#include "models/bmf/model.h"
#include "models/test_ratings.h"

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
    const auto user = model.rows_of(Axis::kUser).row(r.user);
    const auto item = model.rows_of(Axis::kItem).row(r.item);
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
  const auto item = model.rows_of(Axis::kItem).row(3);
  const Sparse::Row all = ratings.train().row(0);
  const auto few = model.fold_in(Axis::kUser, {all.columns.first(2), all.values.first(2)});
  const auto many = model.fold_in(Axis::kUser, all);
  EXPECT_GT(*model.deviation(few, item), *model.deviation(many, item) * 1.1);
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

}  // namespace
}  // namespace kith::bmf
