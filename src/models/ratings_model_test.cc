// SPDX-License-Identifier: Apache-2.0
// What all models of ratings share, tried on each of them.

#include "models/ratings_model.h"

#include "models/test_ratings.h"

namespace kith {
namespace {

using test::Planted;

// A model of each kind, small and quick.
template <class Call>
void for_each_model(const Call& call) {
  for (const ModelInfo& info : models()) {
    if (info.input != InputKind::kRatings) continue;
    const auto made = info.make();
    const Section section = made->settings();
    section.set("dim", Value(int64_t{3}));
    section.set("epochs", Value(int64_t{12}));
    call(info, dynamic_cast<RatingsModel&>(*made), section);
  }
}

TEST(RatingsModel, WhatWasHeldOutIsSeenInTheEnd) {
  Planted planted{.noise = 0.2};
  const Ratings ratings = planted.ratings(0.2);
  const Sparse all = merged(ratings.train(), ratings.held_out());
  for (const bool refit : {true, false}) {
    for_each_model([&](const ModelInfo& info, RatingsModel& model, const Section& section) {
      section.set("refit", Value(refit));
      test::train(model, ratings);
      EXPECT_EQ(model.seen().offsets, all.offsets) << info.name;
      EXPECT_EQ(model.seen().column, all.column) << info.name;
      EXPECT_EQ(model.seen().value, all.value) << info.name;
      const size_t items = ratings.items().size();  // whose names stand first
      for (uint32_t u = 0; u < all.rows(); ++u) {
        EXPECT_EQ(model.counts()[items + u], all.row(u).size()) << info.name;
      }
    });
  }
}

// Whatever the rows are while a model trains, what it says of the held-out ratings is what it would
// predict.
TEST(RatingsModel, TheHeldOutErrorIsThatOfThePredictions) {
  Planted planted{.noise = 0.2};
  const Ratings ratings = planted.ratings(0.2);
  for_each_model([&](const ModelInfo& info, RatingsModel& model, const Section& section) {
    section.set("refit", Value(false));
    Job job;
    std::optional<double> told;
    job.on_progress = [&](const Progress& p) {
      if (!p.held_out) return;
      told = p.held_out;
      if (!p.kept) job.cancel();
    };
    model.train(ratings, job);
    ASSERT_TRUE(told && !model.finished()) << info.name;
    std::vector<Rating> held;
    for (uint32_t u = 0; u < ratings.held_out().rows(); ++u) {
      const Sparse::Row row = ratings.held_out().row(u);
      for (size_t k = 0; k < row.size(); ++k) held.push_back({u, row.columns[k], row.values[k]});
    }
    EXPECT_NEAR(test::rmse(model, held), *told, 1e-9) << info.name;
  });
}

}  // namespace
}  // namespace kith
