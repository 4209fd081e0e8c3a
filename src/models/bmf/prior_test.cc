// SPDX-License-Identifier: Apache-2.0
// What is known of rows besides their ratings: where the truth is known, and the promises.

#include "models/bmf/prior.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "models/bmf/model.h"
#include "models/ratings/test_ratings.h"

namespace kith::bmf {
namespace {

// With one feature a row and rows x, the mean of what is drawn of a group is its sum over its count
// and beta: the posterior of a normal mean.
TEST(BmfPrior, EffectsAreDrawnAroundTheirPosteriorMean) {
  constexpr uint32_t kRows = 12, kGroups = 3;
  const RowFeatures columns = test::grouped(kRows, kGroups);
  const Sparse ratings = test::one_each(kRows), by_other = transposed(ratings);
  const RowPrior prior(FeatureRows(columns, ratings, by_other, false));
  Matrix rows(kRows, 2);  // one coordinate, and the weight
  for (uint32_t r = 0; r < kRows; ++r) rows.row(r)[0] = static_cast<float>(2 + r % kGroups);
  const Hyper hyper{{4}, {0.5}};
  constexpr int kDraws = 4000;
  std::vector<double> sum(kGroups, 0.0), squares(kGroups, 0.0);
  for (int draw = 0; draw < kDraws; ++draw) {
    Drawn drawn = prior.start(1);
    drawn.betas = {2};
    prior.draw(rows, hyper, 7, static_cast<uint64_t>(draw) << 32, Context(1), drawn);
    for (uint32_t g = 0; g < kGroups; ++g) {
      sum[g] += drawn.effects.row(g)[0];
      squares[g] += std::pow(drawn.effects.row(g)[0], 2);
    }
  }
  const double count = double{kRows} / kGroups, spread = 1 / (4 * (count + 2));
  for (uint32_t g = 0; g < kGroups; ++g) {
    const double mean = sum[g] / kDraws;
    // Five standard errors.
    EXPECT_NEAR(mean, count * (2 + g - 0.5) / (count + 2), 5 * std::sqrt(spread / kDraws));
    EXPECT_NEAR(squares[g] / kDraws - mean * mean, spread, 0.12 * spread);
  }
}

TEST(BmfPrior, AColumnThatSaysNothingIsHeldDown) {
  constexpr uint32_t kRows = 400, kGroups = 20;
  const RowFeatures columns = test::grouped(kRows, kGroups);
  const Sparse ratings = test::one_each(kRows), by_other = transposed(ratings);
  const RowPrior prior(FeatureRows(columns, ratings, by_other, false));
  const auto beta_and_size = [&](double said) {
    Matrix rows(kRows, 4);
    Rng rng(1, 0);
    std::vector<double> group(kGroups * 3);
    double size = 0;  // the sum of the squares of what is said
    for (double& x : group) {
      x = said * normal(rng);
      size += x * x;
    }
    for (uint32_t r = 0; r < kRows; ++r) {
      for (size_t k = 0; k < 3; ++k) {
        rows.row(r)[k] = static_cast<float>(group[r % kGroups * 3 + k] + normal(rng));
      }
    }
    Drawn drawn = prior.start(3);
    double sum = 0;
    for (uint64_t sweep = 0; sweep < 60; ++sweep) {
      prior.draw(rows, {{1, 1, 1}, {0, 0, 0}}, 3, sweep << 32, Context(1), drawn);
      if (sweep >= 20) sum += drawn.betas[0] / 40;
    }
    return std::pair(sum, size);
  };
  // The posterior of a precision of 60 numbers that are nearly known; its standard deviation is a
  // fifth, and that of the mean of 40 draws far less.
  const auto [beta, size] = beta_and_size(1);
  EXPECT_NEAR(beta * (size + 1) / 61, 1, 0.2);
  EXPECT_GT(beta_and_size(0).first, 5 * beta);
}

TEST(BmfPrior, ColumnsTellOfRowsWithFewRatingsOrNone) {
  test::Grouped planted;
  const auto trained = [&](bool features) {
    auto model = std::make_unique<Bmf>();
    model->config().dim = 4;
    test::train(*model, planted.ratings(features));
    return model;
  };
  const auto with = trained(true), without = trained(false);
  EXPECT_LT(test::rmse(*with, planted.rest), 0.8 * test::rmse(*without, planted.rest));
  std::vector<Rating> unrated;
  for (const Rating& r : planted.rest) {
    if (r.item + planted.groups >= planted.items) unrated.push_back(r);
  }
  EXPECT_LT(test::rmse(*with, unrated), 0.8 * test::rmse(*without, unrated));
}

TEST(BmfPrior, WhoRatedWhatTells) {
  test::Choosy choosy;
  const Ratings ratings = choosy.ratings();
  const auto error = [&](bool choices) {
    Bmf model;
    model.config().dim = 4;
    model.config().choices = choices;
    test::train(model, ratings);
    return test::rmse(model, choosy.rest);
  };
  EXPECT_LT(error(true), 0.9 * error(false));
}

TEST(BmfPrior, KeepsItsPromises) {
  test::Grouped planted{.users = 60, .items = 40};
  test::expect_promises<Bmf>("bmf", planted.ratings(true, 0.1), [](Bmf& m) {
    m.config().dim = 3;
    m.config().epochs = 20;
    m.config().burn_in = 4;
    m.config().samples = 5;
  });
}

TEST(BmfPrior, ACheckpointOfOtherColumnsDoesNotGoOn) {
  test::Grouped planted{.users = 60, .items = 40};
  Bmf model;
  model.config() = {.dim = 2, .epochs = 12, .burn_in = 2, .samples = 4};
  Job job;
  job.on_progress = [&](const Progress&) { job.cancel(); };
  model.train(planted.ratings(true), job);
  Bmf more = test::through_file(model, "bmf", true);
  message_of(ErrorKind::kInput, [&] { test::train(more, planted.ratings(false)); });
}

}  // namespace
}  // namespace kith::bmf
