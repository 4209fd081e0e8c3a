// SPDX-License-Identifier: Apache-2.0
// Ratings that a model has not seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "api/test_models.h"
#include "kith/evaluate.h"
#include "kith/recommend.h"

namespace kith::test {
namespace {

Report report_of(const Model& model, const std::string& file, const EvaluateOptions& options = {},
                 const Settings& reading = {}) {
  const auto reports = evaluate(model, {file}, options, reading, two_threads());
  EXPECT_EQ(reports.size(), 1u);
  return reports.front();
}

TEST(EvaluateRatings, FactorsBeatBiasesAndBiasesTheMean) {
  const Report r = report_of(ratings(), unseen_ratings_file());
  EXPECT_LT(*r.at("rmse"), *r.at("biases", "rmse"));
  EXPECT_LT(*r.at("biases", "rmse"), *r.at("mean", "rmse"));
  EXPECT_LT(*r.at("mae"), *r.at("biases", "mae"));
  EXPECT_GT(*r.at("ndcg"), *r.at("popularity", "ndcg"));
  EXPECT_GT(*r.at("recall"), *r.at("chance", "recall"));
  EXPECT_GT(*r.at("map"), *r.at("chance", "map"));
  EXPECT_EQ(r.title, unseen_ratings_file());
  EXPECT_EQ(r.count("trained_on"), 0u);
  EXPECT_EQ(r.count("unknown_users"), 0u);
  EXPECT_EQ(r.count("unknown_items"), 0u);
  const std::string rows = bytes_of(unseen_ratings_file());
  EXPECT_EQ(r.count("ratings"), std::ranges::count(rows, '\n') - 1);
  EXPECT_TRUE(r.notes.empty());
}

TEST(EvaluateRatings, WhomTheModelDoesNotKnowIsCounted) {
  const TestFolder folder;
  const Report r = report_of(
      ratings(), folder.write("a.csv", std::string(kRatingsHeader) +
                                           "u1,i1,3,1\nAnn,i1,3,1\nBob,new,3,1\nu2,new,3,1\n"));
  EXPECT_EQ(r.count("ratings"), 4u);
  EXPECT_EQ(r.count("unknown_users"), 2u);
  EXPECT_EQ(r.count("unknown_items"), 2u);
  EXPECT_TRUE(has_note(r, Note::Level::kNote,
                       "2 ratings of users and 2 ratings of items that the model does not know are "
                       "predicted as the mean plus the bias of the one that it knows"));
}

TEST(EvaluateRatings, WhatItWasTrainedOnFlattersIt) {
  const Report r = report_of(ratings(), ratings_file());
  EXPECT_EQ(r.count("trained_on"), r.count("ratings"));
  EXPECT_TRUE(has_note(r, Note::Level::kWarning, "which flatters it"));
  EXPECT_LT(*r.at("rmse"), *report_of(ratings(), unseen_ratings_file()).at("rmse"));
  // Nothing is left to rank.
  EXPECT_EQ(r.count("users"), 0u);
  EXPECT_FALSE(r.at("recall"));
  EXPECT_TRUE(has_note(r, Note::Level::kNote, "so nothing is ranked"));
}

// With lists of all items everything is found, and with shorter ones less and less.
TEST(EvaluateRatings, TopIsHowLongAListIs) {
  const auto recall = [](int64_t top) {
    const Report r = report_of(ratings(), unseen_ratings_file(), {.top = top});
    EXPECT_EQ(r.count("top"), static_cast<uint64_t>(top));
    return *r.at("recall");
  };
  EXPECT_EQ(recall(1000), 1);
  EXPECT_LT(recall(3), recall(10));
}

TEST(EvaluateRatings, RelevantIsWhatIsRatedSoOrHigher) {
  const auto users = [](std::optional<double> relevant) {
    return *report_of(ratings(), unseen_ratings_file(), {.relevant = relevant}).count("users");
  };
  EXPECT_EQ(users(-1000), PlantedRatings{}.users);
  EXPECT_EQ(users(1000), 0u);
  EXPECT_GT(users(4.5), 0u);
  EXPECT_LT(users(5.5), users(4.5));
  const Report all = report_of(ratings(), unseen_ratings_file(), {.relevant = -1000});
  EXPECT_NE(all.at("recall"), report_of(ratings(), unseen_ratings_file()).at("recall"));
}

// What stands in the lists that recommend gives, counted by hand.
TEST(EvaluateRatings, RecallIsOfTheListsThatAreRecommended) {
  const PlantedRatings r;
  constexpr double kLiked = 3.5;
  const Recommender recommender(ratings(), {.top = 5});
  double sum = 0, users = 0;
  for (size_t u = 0; u < r.users; ++u) {
    std::set<std::string> liked;
    for (size_t i = 0; i < r.items; ++i) {
      const double as_written = std::stod(fmt::format("{:.3f}", r.rated(u, i)));
      if (!r.is_there(u, i) && as_written >= kLiked) liked.insert(fmt::format("i{}", i));
    }
    if (liked.empty()) continue;
    double hits = 0;
    for (const Recommendation& item : recommender.list(fmt::format("u{}", u), {}, two_threads())) {
      hits += liked.contains(item.id);
    }
    sum += hits / static_cast<double>(liked.size());
    ++users;
  }
  const Report report = report_of(ratings(), unseen_ratings_file(), {.top = 5, .relevant = kLiked});
  EXPECT_EQ(report.count("users"), static_cast<uint64_t>(users));
  EXPECT_NEAR(*report.at("recall"), sum / users, 1e-9);
}

TEST(EvaluateRatings, InteractionsAreRankedAndNotRated) {
  const Report r = report_of(interactions(), unseen_ratings_file(), {}, {text("rating", "none")});
  EXPECT_FALSE(r.at("rmse"));
  EXPECT_TRUE(r.at("recall"));
  EXPECT_EQ(r.count("users"), PlantedRatings{}.users);
  expect_part("interactions of 50 ranked users", r.subtitle);
}

TEST(EvaluateRatings, SettingsOfReadingCount) {
  const TestFolder folder;
  const std::string file = folder.write("a.csv", "who#what#how\nu1#i1#3\nu2#i1#4\n");
  const Settings reading{text("delimiter", "#"), text("user", "who"), text("item", "what")};
  EXPECT_EQ(report_of(ratings(), file, {}, reading).count("unknown_users"), 0u);
  usage_error([&] { report_of(ratings(), file, {}, {text("colour", "red")}); });
}

TEST(EvaluateRatings, BadRatingsAreRefused) {
  const TestFolder folder;
  expect_part("is not a number", input_error([&] {
                report_of(ratings(),
                          folder.write("a.csv", std::string(kRatingsHeader) + "u1,i1,good,1\n"));
              }));
  expect_part("the model was trained on ratings", input_error([&] {
                report_of(ratings(), folder.write("b.csv", "user,item\nu1,i1\n"));
              }));
}

TEST(EvaluateRatings, ThreadsDoNotChangeTheReport) {
  const auto measures = [](int threads) {
    const Context context(threads);
    const auto r = evaluate(sure(), {unseen_ratings_file()}, {}, {}, context).front();
    std::vector<std::optional<double>> out;
    for (const char* m : {"rmse", "mae", "recall", "ndcg", "map"}) out.push_back(r.at(m));
    out.push_back(r.at("chance", "recall"));
    out.push_back(r.at("popularity", "ndcg"));
    return out;
  };
  EXPECT_EQ(measures(1), measures(8));
}

}  // namespace
}  // namespace kith::test
