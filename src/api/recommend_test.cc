// SPDX-License-Identifier: Apache-2.0
#include "kith/recommend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "api/test_models.h"
#include "kith/predict.h"
#include "kith/update.h"

namespace kith::test {
namespace {

using List = std::vector<Recommendation>;
using Items = Recommender::Items;

Items only(Strings ids) { return {.only = std::move(ids), .exclude = {}}; }
Items without(Strings ids) { return {.only = {}, .exclude = std::move(ids)}; }

List list_of(const Model& model, const std::string& user, const RecommendOptions& options = {},
             const Items& items = {}, const std::vector<GivenRating>& given = {}) {
  return Recommender(model, options, items).list(user, given, two_threads());
}
Strings ids(std::span<const Recommendation> list) {
  Strings out;
  for (const Recommendation& r : list) out.push_back(r.id);
  return out;
}
std::set<std::string> as_set(const Strings& list) { return {list.begin(), list.end()}; }

void expect_same(std::span<const Recommendation> a, std::span<const Recommendation> b) {
  ASSERT_EQ(ids(a), ids(b));
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].prediction, b[i].prediction) << i;
    EXPECT_EQ(a[i].deviation, b[i].deviation) << i;
  }
}

std::set<std::string> rated_by(size_t user) {
  std::set<std::string> out;
  const PlantedRatings r;
  for (size_t i = 0; i < r.items; ++i) {
    if (r.is_there(user, i)) out.insert(fmt::format("i{}", i));
  }
  return out;
}

// As the file has them.
double stars_of(size_t user, const std::string& item) {
  return std::stod(fmt::format("{:.3f}", PlantedRatings{}.rated(user, std::stoul(item.substr(1)))));
}

// A reason weighs what someone with that one item alone would score more than someone with none.
TEST(Recommend, ReasonsAreWhatTheUsersItemsSayAlone) {
  for (const Model* model : {&ratings(), &interactions()}) {
    const auto seen = rated_by(7);
    const bool stars = model == &ratings();
    const List found = list_of(*model, "u7", {.top = 3, .explain = true});
    for (const Recommendation& r : found) {
      ASSERT_FALSE(r.reasons.empty());
      EXPECT_LE(r.reasons.size(), 3u);
      const double nobody = predict(*model, {"user=nobody", "item=" + r.id}).number->mean;
      double before = 1e9;
      for (const Reason& why : r.reasons) {
        EXPECT_TRUE(seen.contains(why.id)) << why.id;
        EXPECT_LE(why.weight, before);
        before = why.weight;
        const double value = stars ? stars_of(7, why.id) : 1;
        const List alone = list_of(*model, "someone", {.top = 1}, only({r.id}), {{why.id, value}});
        EXPECT_NEAR(alone.at(0).prediction - nobody, why.weight, 1e-4) << r.id << " " << why.id;
      }
    }
    EXPECT_TRUE(list_of(*model, "u7").front().reasons.empty());
  }
}

TEST(Recommend, WhoChoseWhatHasNoStrength) {
  EXPECT_EQ(parse_given(interactions(), "i3").rating, 1);
  EXPECT_EQ(parse_given(interactions(), "i3=1").item, "i3");
  EXPECT_EQ(usage_error([] { parse_given(interactions(), "i3=10"); }),
            "i3=10: the model was trained on who chose what, without ratings; give the item alone");
}

TEST(Recommend, TheBestOfWhatTheUserHasNotRated) {
  const auto seen = rated_by(7);
  const List found = list_of(ratings(), "u7", {.top = 1000});
  EXPECT_EQ(found.size(), PlantedRatings{}.items - seen.size());
  double before = 1e9;
  for (const Recommendation& r : found) {
    EXPECT_FALSE(seen.contains(r.id)) << r.id;
    const auto alone = predict(ratings(), {"user=u7", "item=" + r.id});
    EXPECT_EQ(r.prediction, alone.number->mean) << r.id;
    EXPECT_LE(r.prediction, before);
    EXPECT_FALSE(r.deviation);
    EXPECT_EQ(r.title, "");
    before = r.prediction;
  }
}

TEST(Recommend, TopIsHowMany) {
  const Strings all = ids(list_of(ratings(), "u7", {.top = 1000}));
  EXPECT_EQ(list_of(ratings(), "u7").size(), 10u);
  EXPECT_EQ(ids(list_of(ratings(), "u7", {.top = 3})), Strings(all.begin(), all.begin() + 3));
}

TEST(Recommend, WhatWasRatedIsIncludedIfThatIsAskedFor) {
  const auto all = as_set(ids(list_of(ratings(), "u7", {.top = 1000, .include_seen = true})));
  EXPECT_EQ(all.size(), PlantedRatings{}.items);
}

TEST(Recommend, AUserIsCalledWithOrWithoutItsColumn) {
  expect_same(list_of(ratings(), "user=u7"), list_of(ratings(), "u7"));
  EXPECT_EQ(usage_error([] { list_of(ratings(), "item=i7"); }),
            "item=i7 is an item; name the user to recommend to");
}

TEST(Recommend, AnUnknownUserGetsTheNearestSpellings) {
  const std::string said = input_error([] { list_of(ratings(), "u7x"); });
  expect_part("the model knows no user u7x; similar: u7", said);
  expect_part("; for someone new, say what they rated with --given", said);
  EXPECT_EQ(input_error([] { list_of(ratings(), "user=nobody at all"); }),
            "the model knows no user nobody at all; for someone new, say what they rated with "
            "--given");
}

TEST(Recommend, OnlySomeItemsAndWithoutOthers) {
  const Recommender some(ratings(), {.top = 1000}, only({"i1", "i2", " i3 ", "i99"}));
  const Strings listed = ids(some.list("u7", {}, two_threads()));
  for (const std::string& id : listed) EXPECT_TRUE(id == "i1" || id == "i2" || id == "i3") << id;
  EXPECT_EQ(some.unknown_items(), 1u);
  // In the order of all.
  Strings expected = ids(list_of(ratings(), "u7", {.top = 1000}));
  std::erase_if(expected,
                [](const std::string& id) { return id != "i1" && id != "i2" && id != "i3"; });
  EXPECT_EQ(listed, expected);

  const Strings all = ids(list_of(ratings(), "u7", {.top = 1000}));
  const Recommender others(ratings(), {.top = 1000}, without({all[0], all[2], "i98", "i99"}));
  Strings left = all;
  left.erase(left.begin() + 2);
  left.erase(left.begin());
  EXPECT_EQ(ids(others.list("u7", {}, two_threads())), left);
  EXPECT_EQ(others.unknown_items(), 2u);

  const Strings both = ids(list_of(ratings(), "u7", {.top = 1000, .include_seen = true},
                                   {.only = {"i1", "i2"}, .exclude = {"i2"}}));
  EXPECT_EQ(both, Strings{"i1"});
  EXPECT_EQ(Recommender(ratings(), {}).unknown_items(), 0u);
}

TEST(Recommend, ListsThatLeaveNothingAreRefused) {
  EXPECT_EQ(usage_error([] { list_of(ratings(), "u7", {}, {.only = {"i1"}, .exclude = {"i1"}}); }),
            "no item is left that may be recommended");
  EXPECT_EQ(input_error([] {
              list_of(ratings(), "u7", {}, only({"x1", "x2"}));
            }),
            "none of 2 names is an item of the model: the first is x1");
  input_error([] { list_of(ratings(), "u7", {}, without({"x1"})); });
}

TEST(Recommend, MoreRatingsOfAUserCount) {
  const Strings before = ids(list_of(ratings(), "u7", {.top = 1000}));
  const List after = list_of(ratings(), "u7", {.top = 1000}, {}, {{before[0], 0.5}});
  EXPECT_EQ(as_set(ids(after)), std::set<std::string>(before.begin() + 1, before.end()));
  const List seen =
      list_of(ratings(), "u7", {.top = 1000, .include_seen = true}, {}, {{before[0], 0.5}});
  EXPECT_EQ(seen.size(), PlantedRatings{}.items);
  EXPECT_NE(seen.front().prediction,
            list_of(ratings(), "u7", {.include_seen = true}).front().prediction);
  expect_part("similar: i1", input_error([] { list_of(ratings(), "u7", {}, {}, {{"i1x", 3}}); }));
}

// Somebody new is who would come with these ratings in an update.
TEST(Recommend, SomebodyNewIsFoldedIn) {
  const TestFolder folder;
  const std::vector<GivenRating> given{{"i1", 5}, {"i2", 1.5}, {"i8", 4}};
  std::string rows(kRatingsHeader);
  for (const GivenRating& g : given) rows += fmt::format("Ann,{},{},1\n", g.item, g.rating);
  Model model = open(ratings().path());
  const Context context(1);
  update(model, {folder.write("new.csv", rows)}, {}, context);
  const RecommendOptions all{.top = 1000};
  const List folded = list_of(ratings(), "", all, {}, given);
  expect_same(folded, list_of(model, "Ann", all));
  expect_same(folded, list_of(ratings(), "Ann", all, {}, given));  // whatever they are called
  EXPECT_EQ(folded.size(), PlantedRatings{}.items - given.size());
}

TEST(Recommend, ForAllIsEachOneByOne) {
  for (const RecommendOptions& options :
       {RecommendOptions{.top = 4}, RecommendOptions{.top = 4, .include_seen = true}}) {
    const Recommender recommender(ratings(), options, without({"i5"}));
    size_t users = 0;
    std::vector<double> shares;
    recommender.for_all(
        two_threads(),
        [&](const std::string& user, std::span<const Recommendation> list) {
          EXPECT_EQ(user, fmt::format("u{}", users++));
          expect_same(list, recommender.list(user, {}, two_threads()));
        },
        [&](double share) { shares.push_back(share); });
    EXPECT_EQ(users, PlantedRatings{}.users);
    EXPECT_EQ(users, recommender.users());
    ASSERT_FALSE(shares.empty());
    EXPECT_EQ(shares.back(), 1);
  }
}

// More users than are asked about at a time.
TEST(Recommend, ForAllGoesOnAfterABlock) {
  const PlantedRatings many{.users = 1100, .items = 12, .share = 0.3};
  const TestFolder folder;
  const std::string path = folder.path() + "/many.kith";
  train_now(request("als", folder.write("many.csv", ratings_table(many)), path,
                    {whole("dim", 2), whole("epochs", 2)}));
  const Model model = open(path);
  const Recommender recommender(model, {.top = 2});
  const Context one(1);
  Strings users;
  std::vector<double> shares;
  recommender.for_all(
      one,
      [&](const std::string& user, std::span<const Recommendation> list) {
        users.push_back(user);
        if (users.size() % 100 == 0) expect_same(list, recommender.list(user, {}, one));
      },
      [&](double share) { shares.push_back(share); });
  EXPECT_EQ(users.size(), recommender.users());
  EXPECT_EQ(as_set(users).size(), users.size());
  EXPECT_EQ(shares.size(), 2u);
}

TEST(Recommend, StopsWhenAsked) {
  Context context(1);
  context.cancel();
  const Recommender recommender(ratings(), {});
  message_of(ErrorKind::kCancelled, [&] {
    recommender.for_all(context, [](const std::string&, std::span<const Recommendation>) {});
  });
}

TEST(Recommend, TellsHowSureItIsIfTheModelKnows) {
  for (const Recommendation& r : list_of(sure(), "u7")) {
    ASSERT_TRUE(r.deviation);
    EXPECT_GT(*r.deviation, 0);
  }
  const List stranger = list_of(sure(), "", {.top = 1}, {}, {{"i1", 4}});
  ASSERT_EQ(stranger.size(), 1u);
  EXPECT_TRUE(stranger.front().deviation);
}

TEST(Recommend, ItemsAreShownAndCalledByTheirTitles) {
  const Titles titles(titles_file(), "", ratings());
  const Recommender recommender(ratings(), {.top = 1000}, only({"Film No. 1", "i2", "Film No. 4"}),
                                &titles);
  EXPECT_EQ(recommender.unknown_items(), 0u);
  const std::vector<GivenRating> given{{"Film No. 4", 2}};
  const List found = recommender.list("", given, two_threads());
  EXPECT_EQ(as_set(ids(found)), (std::set<std::string>{"i1", "i2"}));
  for (const Recommendation& r : found) EXPECT_EQ(r.title, title_of(std::stoul(r.id.substr(1))));
}

TEST(Recommend, InteractionsAreRankedToo) {
  const auto seen = rated_by(7);
  for (const std::string& id : ids(list_of(interactions(), "u7"))) EXPECT_FALSE(seen.contains(id));
  const List stranger = list_of(interactions(), "", {}, {}, {{"i1"}, {"i2"}});
  EXPECT_EQ(stranger.size(), 10u);
}

TEST(Recommend, KnowsTheNamesOfItsColumns) {
  const TestFolder folder;
  std::string rows = "person,film,stars\n";
  for (size_t u = 0; u < 6; ++u) {
    for (size_t i = 0; i < 6; ++i) rows += fmt::format("a{},b{},{}\n", u, i, (u + i) % 5);
  }
  const std::string path = folder.path() + "/a.kith";
  train_now(
      request("als", folder.write("a.csv", rows), path, {whole("dim", 1), whole("epochs", 1)}));
  const Model model = open(path);
  const Recommender recommender(model, {.include_seen = true});
  EXPECT_EQ(recommender.user_column(), "person");
  EXPECT_EQ(recommender.item_column(), "film");
  expect_same(recommender.list("person=a1", {}, two_threads()),
              recommender.list("user=a1", {}, two_threads()));
}

TEST(Recommend, ThreadsDoNotChangeTheAnswer) {
  const Recommender recommender(ratings(), {});
  expect_same(recommender.list("u7", {}, Context(1)), recommender.list("u7", {}, Context(8)));
}

TEST(Recommend, IsForModelsThatRateItems) {
  EXPECT_EQ(usage_error([] { Recommender(words(), {}); }),
            "recommend is for models that rate items for users; " + words().path() +
                " holds word2vec, which does not");
  usage_error([] { Recommender(places(), {}); });
}

TEST(ParseGiven, AnItemAndItsRating) {
  const GivenRating alien = parse_given(ratings(), "Alien=4.5");
  EXPECT_EQ(alien.item, "Alien");
  EXPECT_EQ(alien.rating, 4.5);
  const GivenRating sum = parse_given(ratings(), "1+1=2=-3");
  EXPECT_EQ(sum.item, "1+1=2");
  EXPECT_EQ(sum.rating, -3);
  EXPECT_EQ(usage_error([] { parse_given(ratings(), "Alien"); }),
            "Alien: a rating is given as item=rating, such as Alien=4.5");
  EXPECT_EQ(usage_error([] { parse_given(ratings(), "Alien=good"); }),
            "Alien=good: good is not a rating; give it as item=rating");
}

TEST(ParseGiven, OfInteractionsTheItemWillDo) {
  EXPECT_EQ(parse_given(interactions(), " Alien ").item, "Alien");
  EXPECT_EQ(parse_given(interactions(), "Alien").rating, 1);
  EXPECT_EQ(parse_given(interactions(), "Alien=1").rating, 1);
}

// --- Titles ---

TEST(Titles, AreFoundByTheNamesOfTheColumns) {
  const TestFolder folder;
  const auto titles = [&](std::string_view table, const std::string& column = "") {
    return Titles(folder.write("titles.csv", table), column, ratings());
  };
  EXPECT_EQ(titles("title,item\nAlien,i1\n").of("i1"), "Alien");
  EXPECT_EQ(titles("name,year,id\nAlien,1979,i1\n").of("i1"), "Alien");
  EXPECT_EQ(titles("i1,Alien\ni2,Brazil\n").of("i1"), "Alien");  // no header: by place
  EXPECT_EQ(titles("item,german,title\ni1,Unheimlich,Alien\n", "german").of("i1"), "Unheimlich");
  const Titles two = titles("item,title\ni1,Alien\ni2,Alien\ni3,\n,Nobody\nzz,Elsewhere\n");
  EXPECT_EQ(two.id_of("Alien"), "i1");
  EXPECT_EQ(two.of("i2"), "Alien");
  EXPECT_EQ(two.of("i3"), "");
  EXPECT_EQ(two.id_of("Brazil"), std::nullopt);
  EXPECT_TRUE(Titles().empty());
  EXPECT_FALSE(two.empty());
}

TEST(Titles, SayWhatIsWrong) {
  const TestFolder folder;
  const auto file = [&](std::string_view table) { return folder.write("titles.csv", table); };
  expect_part("no item of the model has an id in column item",
              input_error([&] { Titles(file("item,title\nx1,Alien\n"), "", ratings()); }));
  expect_part("has no column titel of names; did you mean title?",
              usage_error([&] { Titles(file("item,title\ni1,Alien\n"), "titel", ratings()); }));
  expect_part("this has one", input_error([&] { Titles(file("item\ni1\n"), "", ratings()); }));
  io_error([&] { Titles(folder.path() + "/none.csv", "", ratings()); });
  expect_part("a table of titles is for models that rate items for users",
              usage_error([&] { Titles(titles_file(), "", words()); }));
}

}  // namespace
}  // namespace kith::test
