// SPDX-License-Identifier: Apache-2.0
// How far the vectors of interactions are to be trusted: by how many visits they were made of.

#include "models/als/model.h"
#include "models/mf/model.h"
#include "models/ratings/test_ratings.h"

namespace kith {
namespace {

// User u visits the items 0 to u, so item i is visited by all users but the first i.
constexpr uint32_t kUsers = 24, kItems = 20;
std::vector<Rating> stairs() {
  std::vector<Rating> out;
  for (uint32_t u = 0; u < kUsers; ++u) {
    for (uint32_t i = 0; i < kItems && i <= u; ++i) out.push_back({u, i, 1});
  }
  return out;
}
Ratings as_interactions(std::vector<Rating> train, std::vector<Rating> held = {}) {
  return Ratings::of(test::numbered(kUsers, "u"), test::numbered(kItems, "i"), std::move(train),
                     std::move(held), true);
}

std::span<const float> trust(const RatingsModel& model, Axis axis) {
  return model.vectors(Side::kInput)[axis == Axis::kItem ? 0 : 1].vectors->trust();
}
// Half at one visit.
double trusted(double visits) { return visits / (visits + 1); }

void expect_stairs(const RatingsModel& model) {
  ASSERT_EQ(trust(model, Axis::kItem).size(), kItems);
  ASSERT_EQ(trust(model, Axis::kUser).size(), kUsers);
  for (uint32_t i = 0; i < kItems; ++i) {
    EXPECT_NEAR(trust(model, Axis::kItem)[i], trusted(kUsers - i), 1e-6) << i;
  }
  for (uint32_t u = 0; u < kUsers; ++u) {
    EXPECT_NEAR(trust(model, Axis::kUser)[u], trusted(std::min(u + 1, kItems)), 1e-6) << u;
  }
}

template <class M>
M trained(const Ratings& ratings) {
  M out;
  out.config().dim = 3;
  out.config().epochs = 3;
  test::train(out, ratings);
  return out;
}

TEST(RatingsTrust, GrowsWithTheVisits) {
  expect_stairs(trained<als::Als>(as_interactions(stairs())));
  expect_stairs(trained<mf::Mf>(as_interactions(stairs())));
}

// What was held out was visited, too, whether or not the model learns from it in the end.
TEST(RatingsTrust, CountsWhatWasHeldOut) {
  std::vector<Rating> train, held;
  for (const Rating& r : stairs()) (r.item == 3 ? held : train).push_back(r);
  for (const bool refit : {true, false}) {
    als::Als model;
    model.config() = {.dim = 3, .epochs = 3, .refit = refit};
    test::train(model, as_interactions(train, held));
    expect_stairs(model);
  }
}

TEST(RatingsTrust, IsInTheFile) {
  const auto model = trained<als::Als>(as_interactions(stairs()));
  expect_stairs(test::through_file(model, "als"));
  const test::ScratchFile file;
  save_model(model, "als", file.path, false, {});
  const auto mapped = load_model(Archive::open(file.path), Loader::Mode::kMapped);
  expect_stairs(dynamic_cast<const als::Als&>(*mapped));
}

TEST(RatingsTrust, OfAnotherLengthIsRefused) {
  auto model = trained<als::Als>(as_interactions(stairs()));
  const_cast<RatingFactors&>(model.factors()).item_trust = Matrix(1, kItems - 1);
  const test::ScratchFile file;
  save_model(model, "als", file.path, false, {});
  const std::string said =
      message_of(ErrorKind::kInput, [&] { load_model(Archive::open(file.path)); });
  EXPECT_NE(said.find("trust.item has 1 x 19 numbers and not 1 x 20"), std::string::npos) << said;
}

// Ratings are as they were: stars say more than that somebody was there.
TEST(RatingsTrust, IsNotForRatings) {
  test::Planted planted;
  const auto model = trained<als::Als>(planted.ratings());
  EXPECT_TRUE(trust(model, Axis::kItem).empty());
  EXPECT_TRUE(trust(model, Axis::kUser).empty());
}

TEST(RatingsTrust, AnUpdateCountsItsVisits) {
  auto model = trained<als::Als>(as_interactions(stairs()));
  auto old = trained<als::Als>(as_interactions(stairs()));
  const_cast<RatingFactors&>(old.factors()).user_trust = Matrix();  // as a file of 0.1 has it
  const_cast<RatingFactors&>(old.factors()).item_trust = Matrix();
  Names users = test::numbered(kUsers, "u"), items = test::numbered(kItems, "i");
  const uint32_t someone = users.add("someone"), film = items.add("film");
  const Ratings more =
      Ratings::of(users, items, {{someone, 19, 1}, {someone, film, 1}, {0, 19, 1}}, {}, true);
  model.update(more, Context(1));
  ASSERT_EQ(trust(model, Axis::kItem).size(), kItems + 1);
  ASSERT_EQ(trust(model, Axis::kUser).size(), kUsers + 1);
  EXPECT_NEAR(trust(model, Axis::kItem)[19], trusted(5 + 2), 1e-6);
  EXPECT_NEAR(trust(model, Axis::kItem)[film], trusted(1), 1e-6);
  EXPECT_NEAR(trust(model, Axis::kUser)[someone], trusted(2), 1e-6);
  EXPECT_NEAR(trust(model, Axis::kUser)[0], trusted(1 + 1), 1e-6);
  old.update(more, Context(1));
  EXPECT_TRUE(trust(old, Axis::kItem).empty());
}

}  // namespace
}  // namespace kith
