// SPDX-License-Identifier: Apache-2.0
#include "models/als/model.h"
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

}  // namespace
}  // namespace kith
