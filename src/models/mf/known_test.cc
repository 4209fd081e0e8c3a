// SPDX-License-Identifier: Apache-2.0
// What mf makes of what is known of users and items besides their ratings.

#include <chrono>
#include <thread>

#include "models/mf/model.h"
#include "models/ratings/test_known.h"

namespace kith::mf {
namespace {

TEST(MfKnown, ColumnsTellOfRowsWithFewRatingsOrNone) {
  test::expect_columns_tell<Mf>([](Mf& m) { m.config().dim = 4; }, 0.85);
}

TEST(MfKnown, WhoRatedWhatTells) {
  test::expect_choices_tell<Mf>([](Mf& m) { m.config().dim = 4; });
}

TEST(MfKnown, KeepsThePromises) {
  test::Grouped planted{.users = 100, .items = 60, .share = 0.5};
  const Ratings ratings = planted.ratings(true, 0.1);
  test::expect_promises<Mf>("mf", ratings, [](Mf& m) { m.config() = {.dim = 3, .epochs = 6}; });
  // Of one side alone.
  test::expect_promises<Mf>("mf", ratings,
                            [](Mf& m) { m.config() = {.dim = 3, .epochs = 6, .choices = false}; });
}

// Wherever it stops: between rounds, or while it learns what rows are drawn to.
TEST(MfKnown, ARunThatIsCancelledAnywhereGoesOn) {
  test::Grouped planted{.share = 0.2};
  const Ratings ratings = planted.ratings(true, 0.1);
  const Config config{.dim = 3, .epochs = 4};
  Mf whole;
  whole.config() = config;
  test::train(whole, ratings);
  for (int k = 0; k < 30; ++k) {
    Mf stopped;
    stopped.config() = config;
    Job job;
    std::jthread canceller([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(300 * k));
      job.cancel();
    });
    stopped.train(ratings, job);
    canceller.join();
    if (stopped.finished() || !stopped.state().started) continue;
    Mf resumed = test::through_file(stopped, "mf", true);
    test::train(resumed, ratings);
    test::expect_same(whole, resumed, fmt::format("cancelled at block {}", stopped.state().block));
  }
}

TEST(MfKnown, FoldingInKnowsWhatTheChoicesSay) {
  test::Choosy choosy;
  Mf model;
  model.config() = {.dim = 3, .epochs = 200, .early_stop = 0};
  test::train(model, choosy.ratings());
  test::expect_folds_in(model, 0.3);
}

// Steps on a row that has no closed form are drawn there as well: if the penalty is all that
// counts, a new user is what their choices say.
TEST(MfKnown, FoldingInByStepsKnowsIt) {
  std::vector<Rating> ratings;
  for (uint32_t u = 0; u < 60; ++u) {
    for (uint32_t i = 0; i < 30; ++i) {
      const bool likes = u % 2 == i % 2;
      if ((u * 7 + i * 3) % (likes ? 2 : 5) == 0) ratings.push_back({u, i, likes ? 1.0f : 0.0f});
    }
  }
  const auto folded = [&](bool choices) {
    Mf model;
    model.config() = {.dim = 3, .epochs = 60, .loss = Loss::kLogistic, .choices = choices};
    test::train(model, Ratings::of(test::numbered(60, "u"), test::numbered(30, "i"), ratings));
    model.config().penalty = 1e6;
    const std::vector<uint32_t> columns{0, 2, 4, 6};
    const std::vector<float> values{0, 0, 0, 0};
    const auto row = model.fold_in(Axis::kUser, {columns, values});
    return std::abs(row[0]) + std::abs(row[1]) + std::abs(row[2]);
  };
  EXPECT_GT(folded(true), 5 * folded(false));
}

// Rows of fewer than 300 ratings are held the harder, the smaller the power is.
TEST(MfKnown, FrequencySaysHowHardFewRatingsHoldARow) {
  test::Planted planted{.noise = 0.3};
  const Ratings ratings = planted.ratings();
  const auto folded = [&](double frequency, size_t n) {
    Mf model;
    model.config() = {
        .dim = 2, .penalty = 0.5, .frequency = frequency, .biases = false, .choices = false};
    test::train(model, ratings);
    const Sparse::Row row = ratings.train().row(0);
    const auto out =
        model.fold_in(Axis::kUser, {row.columns.subspan(0, n), row.values.subspan(0, n)});
    return std::hypot(out[0], out[1]);
  };
  EXPECT_LT(folded(0.5, 10), folded(1, 10));
}

TEST(MfKnown, ACheckpointOfOtherColumnsDoesNotGoOn) { test::expect_the_same_columns<Mf>("mf"); }

}  // namespace
}  // namespace kith::mf
