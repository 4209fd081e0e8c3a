// SPDX-License-Identifier: Apache-2.0
// A kind of model that is trained on parts of the ratings and measured on the rest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/test_models.h"
#include "data/ratings/rating_columns.h"
#include "eval/split.h"
#include "kith/evaluate.h"

namespace kith::test {
namespace {

constexpr double kSame = 1e-4;  // sums in another order

Report validated(const SplitOptions& split, const Settings& settings = quick_ratings(),
                 const EvaluateOptions& options = {}, const std::string& file = ratings_file()) {
  Context context(2);
  return cross_validate("als", {file}, settings, split, options, context);
}

uint64_t ratings_in(const std::string& file) {
  const std::string rows = bytes_of(file);
  return static_cast<uint64_t>(std::ranges::count(rows, '\n')) - 1;
}

void expect_same(const Report& a, const Report& b) {
  ASSERT_EQ(a.comparisons.size(), b.comparisons.size());
  for (size_t c = 0; c < a.comparisons.size(); ++c) {
    for (const Way& way : a.comparisons[c].ways) {
      for (const Measure& m : way.measures) {
        EXPECT_EQ(b.at(way.name, m.name), m.value) << way.name << " " << m.name;
      }
    }
  }
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.subtitle, b.subtitle);
}

TEST(CrossValidate, AShareOfTheRatingsIsTested) {
  const Report r = validated({.test = 0.25});
  const auto all = static_cast<double>(ratings_in(ratings_file()));
  EXPECT_EQ(r.count("ratings"), static_cast<uint64_t>(std::llround(0.25 * all)));
  EXPECT_EQ(r.count("trained_on"), 0u);
  EXPECT_LT(*r.at("rmse"), *r.at("biases", "rmse"));
  EXPECT_TRUE(r.parts.empty());
  EXPECT_EQ(r.title, ratings_file());
  expect_part("als on ", r.subtitle);
  expect_part("split by random: 25 % tested", r.subtitle);
}

// A split by time leaves some users and items with nothing to learn from: their names are known,
// and no more.
TEST(CrossValidate, WhoHasNothingInTrainingIsUnknown) {
  const TestFolder folder;
  std::string rows(kRatingsHeader);
  for (int u = 0; u < 20; ++u) {
    for (int i = 0; i < 9; ++i) rows += fmt::format("u{},i{},{},{}\n", u, i, 1 + (u + i) % 5, i);
  }
  rows += "late,i1,3,100\nlate,i2,4,101\nu1,new,2,102\n";
  const Report r =
      validated({.split = SplitBy::kTime}, quick_ratings(), {}, folder.write("t.csv", rows));
  EXPECT_EQ(r.count("unknown_items"), 1u);
  EXPECT_EQ(r.count("unknown_users"), 2u);
}

// Some things are seen often and the rest seldom, and this model learns next to nothing.
TEST(CrossValidate, PopularityThatIsBetterIsTold) {
  const TestFolder folder;
  std::string rows = "user,item\n";
  for (int u = 0; u < 60; ++u) {
    for (int i = 0; i < 200; ++i) {
      if ((u * 31 + i * 17) % (2 + i) < 2) rows += fmt::format("u{},i{}\n", u, i);
    }
  }
  const auto report = [&](const Settings& settings) {
    return validated({}, settings, {}, folder.write("c.csv", rows));
  };
  constexpr std::string_view kHint =
      "a list of the most popular items scores better here than the model; try mf, or kith tune "
      "als";
  const Report bad = report({flag("biases", false), whole("epochs", 1), number("penalty", 1000)});
  ASSERT_LT(*bad.at("recall"), *bad.at("popularity", "recall"));
  EXPECT_TRUE(has_note(bad, Note::Level::kHint, kHint));
  const Report good = report({});
  EXPECT_EQ(*good.at("recall") < *good.at("popularity", "recall"),
            has_note(good, Note::Level::kHint, kHint));
}

// Each month has films of its own, which everybody sees then; what was seen before says nothing.
TEST(CrossValidate, WhatWasPopularLatelyStandsBesideASplitByTime) {
  const TestFolder folder;
  std::string rows = "user,item,time\n";
  for (int t = 0; t < 2000; ++t) {
    rows += fmt::format("u{},i{},{}\n", t * 37 % 101, t / 250 * 9 + t * 11 % 17, t);
  }
  const auto file = folder.write("t.csv", rows);
  const Report r = validated({.split = SplitBy::kTime}, {whole("epochs", 1)}, {}, file);
  EXPECT_GT(*r.at("popular lately", "recall"), *r.at("popularity", "recall"));
  EXPECT_EQ(*r.at("recall") < *r.at("popular lately", "recall"),
            has_note(r, Note::Level::kHint, "train on the latest rows alone"));
  EXPECT_FALSE(validated({}, {whole("epochs", 1)}, {}, file).at("popular lately", "recall"));
}

TEST(CrossValidate, FoldsTestEveryRatingOnce) {
  const Report r = validated({.folds = 4});
  ASSERT_EQ(r.parts.size(), 4u);
  double rmse = 0, recall = 0;
  uint64_t tested = 0;
  for (const Report& part : r.parts) {
    rmse += *part.at("rmse");
    recall += *part.at("popularity", "recall");
    tested += *part.count("ratings");
  }
  EXPECT_NEAR(*r.at("rmse"), rmse / 4, 1e-12);
  EXPECT_NEAR(*r.at("popularity", "recall"), recall / 4, 1e-12);
  EXPECT_EQ(tested, ratings_in(ratings_file()));
  EXPECT_EQ(r.count("ratings"), tested);
  EXPECT_EQ(r.count("top"), 10u);  // as in each of them
  EXPECT_NE(r.parts[0].at("rmse"), r.parts[1].at("rmse"));
  expect_part("the mean of 4 folds", r.subtitle);
}

TEST(CrossValidate, TheSameSeedGivesTheSameReport) {
  const Report one = validated({.seed = 5});
  expect_same(one, validated({.seed = 5}));
  EXPECT_NE(one.at("rmse"), validated({.seed = 6}).at("rmse"));
  expect_same(validated({.folds = 2}), validated({.folds = 2}));
}

// Each way of splitting tests others, and says so.
TEST(CrossValidate, TheWayOfSplittingCounts) {
  std::vector<double> found;
  for (const SplitBy by : {SplitBy::kRandom, SplitBy::kUser, SplitBy::kTime, SplitBy::kUserTime}) {
    const Report r = validated({.split = by});
    expect_part("split by " + detail::show(by), r.subtitle);
    EXPECT_EQ(std::ranges::find(found, *r.at("rmse")), found.end()) << detail::show(by);
    found.push_back(*r.at("rmse"));
  }
}

TEST(CrossValidate, ATimeIsNeededToSplitByIt) {
  const TestFolder folder;
  const std::string file = folder.write("a.csv", "user,item,rating\nu1,i1,3\nu1,i2,4\nu2,i1,4\n");
  for (const SplitBy by : {SplitBy::kTime, SplitBy::kUserTime}) {
    expect_part("no column of times was found; name it with --time",
                input_error([&] { validated({.split = by}, quick_ratings(), {}, file); }));
  }
  expect_part("what comes last in time comes last once",
              usage_error([] { validated({.split = SplitBy::kTime, .folds = 3}); }));
}

TEST(CrossValidate, TooFewRatingsAreRefused) {
  const TestFolder folder;
  EXPECT_EQ(input_error([&] {
              validated({}, quick_ratings(), {},
                        folder.write("a.csv", std::string(kRatingsHeader) + "u1,i1,3,1\n"));
            }),
            "too few to be split into two parts: 1 rating");
  expect_part("too few to be split into two parts: 2 ratings", input_error([&] {
                validated(
                    {.folds = 5}, {whole("dim", 0), number("holdout", 0)}, {},
                    folder.write("b.csv", std::string(kRatingsHeader) + "u1,i1,3,1\nu2,i1,3,1\n"));
              }));
}

TEST(CrossValidate, OptionsOfEvaluatingCount) {
  EXPECT_EQ(validated({}, quick_ratings(), {.top = 3}).count("top"), 3u);
  EXPECT_EQ(validated({}, quick_ratings(), {.relevant = 1000}).count("users"), 0u);
}

// One rating is as high as that: ranked in the one fold that tests it, and in no mean.
TEST(CrossValidate, AMeasureThatAFoldLacksIsLeftOut) {
  const TestFolder folder;
  std::string rows = ratings_table();
  const size_t third_line = rows.find('\n', rows.find('\n') + 1) + 1;
  rows.insert(third_line, "u0,i29,99,1\n");
  const Report r =
      validated({.folds = 2}, quick_ratings(), {.relevant = 99}, folder.write("a.csv", rows));
  EXPECT_NE(r.parts[0].at("recall").has_value(), r.parts[1].at("recall").has_value());
  EXPECT_FALSE(r.at("recall"));
  EXPECT_TRUE(r.at("rmse"));
}

TEST(CrossValidate, SettingsAreOfTheModelAndTheData) {
  const Report flat = validated({}, {whole("dim", 0)});
  EXPECT_NE(flat.at("rmse"), validated({}).at("rmse"));
  const Report chosen = validated({}, quick_ratings() + Settings{text("rating", "none")});
  EXPECT_FALSE(chosen.at("rmse"));
  EXPECT_TRUE(chosen.at("recall"));
  expect_part("unknown setting penalti; did you mean penalty?",
              usage_error([] { validated({}, {number("penalti", 1)}); }));
  usage_error([] { validated({}, {whole("dim", -1)}); });
}

TEST(CrossValidate, IsForModelsOfRatings) {
  Context context(1);
  const auto of = [&](const char* model) {
    return usage_error([&] { cross_validate(model, {text_file()}, {}, {}, {}, context); });
  };
  EXPECT_EQ(of("word2vec"),
            "eval trains models that rate items for users; train word2vec first, and give its "
            "file");
  of("vectors");
  EXPECT_EQ(of("alz"), "unknown model alz; did you mean als?");
}

TEST(CrossValidate, TellsHowFarItIs) {
  Context context(1);
  Events events;
  cross_validate("als", {ratings_file()}, quick_ratings(), {.folds = 2}, {}, context, &events);
  EXPECT_EQ(events.order, (Strings{"profile", "attempt"}));
  ASSERT_FALSE(events.attempts.empty());
  uint64_t before = 1;
  for (const Attempt& a : events.attempts) {
    EXPECT_EQ(a.total, 2u);
    EXPECT_TRUE(a.number == before || a.number == before + 1);
    // Within the part of its fold.
    EXPECT_GE(a.share, static_cast<double>(a.number - 1) / 2);
    EXPECT_LE(a.share, static_cast<double>(a.number) / 2);
    before = a.number;
  }
  EXPECT_EQ(before, 2u);
}

TEST(CrossValidate, SaysWhatIsTestedAndNotThatNothingIsHeldOut) {
  Context context(1);
  for (const bool folds : {false, true}) {
    SplitOptions split{.test = 0.2};
    if (folds) split.folds = 2;
    Events events;
    cross_validate("als", {ratings_file()}, quick_ratings(), split, {}, context, &events);
    const std::string& told = events.profiles.at(0).summary;
    expect_no_part("held out", told);
    expect_part(folds ? "each is tested once, in one of 2 folds" : "20 % of them are tested", told);
  }
}

TEST(CrossValidate, StopsWhenAsked) {
  Context context(1);
  struct Cancels : Events {
    explicit Cancels(Context& c) : context(c) {}
    using Events::on;
    void on(const Attempt& e) override {
      Events::on(e);
      context.cancel();
    }
    Context& context;
  } cancels(context);
  message_of(ErrorKind::kCancelled, [&] {
    cross_validate("als", {ratings_file()}, quick_ratings(), {.folds = 3}, {}, context, &cancels);
  });
  EXPECT_EQ(cancels.attempts.size(), 1u);
}

std::string as_csv(const Ratings& ratings, const Sparse& part) {
  std::string out(kRatingsHeader);
  for (uint32_t u = 0; u < part.rows(); ++u) {
    const Sparse::Row row = part.row(u);
    for (size_t i = 0; i < row.size(); ++i) {
      out += fmt::format("{},{},{:.9g},1\n", ratings.users()[u], ratings.items()[row.columns[i]],
                         row.values[i]);
    }
  }
  return out;
}

// Biases depend neither on the numbers of users and items nor on chance, but on what is held out:
// without a refit nothing is learned from that. So training on the same part by hand must agree.
TEST(CrossValidate, HoldsOutWhatTrainWouldHoldOut) {
  const Settings settings{whole("dim", 0), number("holdout", 0.4), flag("refit", false)};
  const SplitOptions options{.test = 0.3, .seed = 3};
  const auto reader = open_ratings({ratings_file()}, {}, {});
  const Ratings all = Ratings::read(*reader, {}, 0);
  const Split parts = split(all, SplitBy::kRandom, 0.3, 3);

  const TestFolder folder;
  const std::string path = folder.path() + "/part.kith";
  train_now(request("als", folder.write("part.csv", as_csv(all, parts.train)), path, settings));
  const std::string test = folder.write("test.csv", as_csv(all, parts.test));
  const Report by_hand = evaluate(open(path), {test}, {}, {}, two_threads()).front();
  const Report validated_so = validated(options, settings);
  EXPECT_NEAR(*validated_so.at("rmse"), *by_hand.at("rmse"), kSame);
  EXPECT_NEAR(*validated_so.at("mae"), *by_hand.at("mae"), kSame);
  // And it makes a difference.
  const Report without = validated(options, {whole("dim", 0), number("holdout", 0)});
  EXPECT_GT(std::abs(*without.at("rmse") - *by_hand.at("rmse")), 10 * kSame);
}

}  // namespace
}  // namespace kith::test
