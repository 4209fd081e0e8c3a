// SPDX-License-Identifier: Apache-2.0
#include "models/als/model.h"
#include "models/mf/model.h"
#include "models/ratings/test_ratings.h"

namespace kith {
namespace {

// More items than are looked at: a rank among some of them stands for one among all. Without
// vectors all items score alike, and what was held out is in the middle of those not seen.
TEST(RatingsModel, RanksAmongSomeItemsAreThoseAmongAll) {
  constexpr uint32_t kUsers = 5, kItems = 4000;
  std::vector<Rating> seen, held;
  for (uint32_t u = 0; u < kUsers; ++u) {
    seen.push_back({u, 2 * u + 1, 1});
    held.push_back({u, 2 * u + 3, 1});
  }
  als::Als model;
  model.config().dim = 0;
  model.config().biases = false;
  model.config().epochs = 1;
  model.config().refit = false;
  test::train(model, Ratings::of(test::numbered(kUsers, "u"), test::numbered(kItems, "i"), seen,
                                 held, true));
  ASSERT_FALSE(model.state().held_out.empty());
  const double rank = (kItems - 2) / 2.0;
  // The items that are looked at are one more or less than half of them.
  EXPECT_NEAR(model.state().held_out.back(), 1 - 1 / std::log2(rank + 2), 1e-4);
}

// The first places count most, and what is popular stands there: none of it may be left out. Three
// items are above the one that was held out, by bias as by popularity.
TEST(RatingsModel, WhatIsPopularIsAlwaysRankedAgainst) {
  constexpr uint32_t kUsers = 70, kItems = 4000, kHeld = 2009;
  std::vector<Rating> seen, held;
  for (uint32_t u = 0; u < kUsers; ++u) {
    if (u < 40) {
      for (const uint32_t item : {2001, 2003, 2007}) seen.push_back({u, item, 1});
    } else if (u < 60) {
      seen.push_back({u, kHeld, 1});
    } else {
      seen.push_back({u, 11 + 2 * u, 1});
      held.push_back({u, kHeld, 1});
    }
  }
  mf::Mf model;
  model.config().dim = 0;
  model.config().refit = false;
  test::train(model, Ratings::of(test::numbered(kUsers, "u"), test::numbered(kItems, "i"), seen,
                                 held, true));
  EXPECT_NEAR(model.state().held_out.back(), 1 - 1 / std::log2(3.0 + 2), 1e-6);
  EXPECT_NEAR(model.popularity_held_out().value_or(-1), 1 - 1 / std::log2(3.0 + 2), 1e-6);
}

TEST(RatingsModel, RatingsAreNotRankedBesidePopularity) {
  als::Als model;
  model.config().epochs = 1;
  test::train(model, Ratings::of(test::numbered(3, "u"), test::numbered(3, "i"),
                                 {{0, 0, 1}, {1, 1, 5}, {2, 2, 3}}, {{0, 1, 2}}));
  EXPECT_FALSE(model.popularity_held_out());
}

}  // namespace
}  // namespace kith
