// SPDX-License-Identifier: Apache-2.0
#include "kith/report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kith {
namespace {

Way way(const std::string& name, std::vector<Measure> measures) {
  return {name, std::move(measures)};
}

Report two_comparisons() {
  Report out;
  out.title = "ratings.csv";
  out.comparisons = {
      {{way("model", {{"rmse", 0.5}, {"mae", 0.25}}), way("mean", {{"rmse", 1}, {"mae", 2}})}},
      {{way("model", {{"recall", 0.75}}), way("popularity", {{"recall", 0.5}})}}};
  out.counts = {{"ratings", 10}, {"users", 4}};
  return out;
}

TEST(Way, FindsAMeasureByItsName) {
  const Way model = way("model", {{"rmse", 0.5}, {"mae", 0.25}});
  EXPECT_EQ(model.at("rmse"), 0.5);
  EXPECT_EQ(model.at("mae"), 0.25);
  EXPECT_EQ(model.at("recall"), std::nullopt);
  EXPECT_EQ(Way{}.at("rmse"), std::nullopt);
}

TEST(Report, FindsAMeasureInAnyComparison) {
  const Report report = two_comparisons();
  EXPECT_EQ(report.at("rmse"), 0.5);
  EXPECT_EQ(report.at("recall"), 0.75);
  EXPECT_EQ(report.at("model", "recall"), 0.75);
  EXPECT_EQ(report.at("mean", "mae"), 2);
  EXPECT_EQ(report.at("popularity", "recall"), 0.5);
  EXPECT_EQ(report.at("popularity", "rmse"), std::nullopt);
  EXPECT_EQ(report.at("nobody", "rmse"), std::nullopt);
  EXPECT_EQ(report.at("ndcg"), std::nullopt);
  EXPECT_EQ(report.count("ratings"), 10u);
  EXPECT_EQ(report.count("users"), 4u);
  EXPECT_EQ(report.count("rows"), std::nullopt);
}

TEST(MeanOf, IsTheMeanOfWhatWasMeasuredOnEachPart) {
  Report other = two_comparisons();
  other.comparisons[0].ways[0].measures[0].value = 1.5;
  other.comparisons[1].ways[1].measures[0].value = 0.25;
  other.counts[0].second = 11;
  const Report mean = mean_of({two_comparisons(), other});
  EXPECT_EQ(mean.at("rmse"), 1);
  EXPECT_EQ(mean.at("mae"), 0.25);
  EXPECT_EQ(mean.at("mean", "rmse"), 1);
  EXPECT_EQ(mean.at("recall"), 0.75);
  EXPECT_EQ(mean.at("popularity", "recall"), 0.375);
  EXPECT_EQ(mean.count("ratings"), 21u);
  EXPECT_EQ(mean.title, "ratings.csv");
  ASSERT_EQ(mean.parts.size(), 2u);
  EXPECT_EQ(mean.parts[1].at("rmse"), 1.5);
}

TEST(MeanOf, AMeasureThatAPartLacksIsLeftOut) {
  Report no_mae = two_comparisons(), no_ranking = two_comparisons(), no_mean = two_comparisons();
  no_mae.comparisons[0].ways[0].measures.pop_back();
  no_ranking.comparisons.pop_back();
  no_mean.comparisons[0].ways.pop_back();

  const Report a = mean_of({two_comparisons(), no_mae});
  EXPECT_EQ(a.at("rmse"), 0.5);
  EXPECT_EQ(a.at("mae"), std::nullopt);
  EXPECT_EQ(a.at("mean", "mae"), 2);

  // Whichever part it is that lacks it.
  for (const bool first : {true, false}) {
    const Report b =
        first ? mean_of({no_ranking, two_comparisons()}) : mean_of({two_comparisons(), no_ranking});
    EXPECT_EQ(b.comparisons.size(), 1u) << first;
    EXPECT_EQ(b.at("recall"), std::nullopt) << first;
    EXPECT_EQ(b.at("rmse"), 0.5) << first;
  }

  const Report c = mean_of({two_comparisons(), no_mean});
  ASSERT_EQ(c.comparisons.size(), 2u);
  EXPECT_EQ(c.comparisons[0].ways.size(), 1u);
}

TEST(MeanOf, NotesThatAreTrueOfAllPartsStay) {
  Report one = two_comparisons(), two = two_comparisons();
  one.notes = {{Note::Level::kHint, "everywhere"}, {Note::Level::kNote, "here only"}};
  two.notes = {{Note::Level::kHint, "everywhere"}};
  const Report mean = mean_of({one, two});
  ASSERT_EQ(mean.notes.size(), 1u);
  EXPECT_EQ(mean.notes[0].text, "everywhere");
  EXPECT_EQ(mean.notes[0].level, Note::Level::kHint);
}

TEST(MeanOf, OnePartIsItsOwnMeanAndNoneIsNothing) {
  EXPECT_EQ(mean_of({two_comparisons()}).at("rmse"), 0.5);
  const Report none = mean_of({});
  EXPECT_TRUE(none.comparisons.empty() && none.parts.empty());
}

}  // namespace
}  // namespace kith
