// SPDX-License-Identifier: Apache-2.0
#include "kith/models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/test_models.h"
#include "kith/text.h"

namespace kith::test {
namespace {

std::set<std::string_view> names_in(const std::vector<FieldGroup>& groups) {
  std::set<std::string_view> out;
  for (const FieldGroup& g : groups) {
    for (const FieldInfo& f : g.fields) out.insert(f.name);
  }
  return out;
}

TEST(Models, EveryOneIsDescribed) {
  const auto kinds = available_data();
  EXPECT_GE(available_models().size(), 9u);
  for (const ModelDescription& model : available_models()) {
    EXPECT_FALSE(model.summary.empty()) << model.name;
    EXPECT_TRUE(is_model(model.name));
    const ModelDescription same = describe_model(model.name);
    EXPECT_EQ(same.name, model.name);
    EXPECT_EQ(same.data, model.data);
    EXPECT_EQ(same.settings.fields.size(), model.settings.fields.size());
    if (model.name == "vectors") continue;  // which cannot be trained
    EXPECT_NE(std::ranges::find(kinds, model.data), kinds.end()) << model.name;
    const auto has = [&](const char* name) { return model.settings.find(name) != nullptr; };
    EXPECT_TRUE(has("dim") || has("topics") || has("components")) << model.name;
    EXPECT_NE(model.settings.find("epochs"), nullptr) << model.name;
    for (const FieldInfo& f : model.settings.fields) {
      EXPECT_FALSE(f.help.empty()) << model.name << " " << f.name;
    }
  }
  EXPECT_EQ(describe_model("vectors").data, "");
  EXPECT_EQ(describe_model("word2vec").data, "text");
  EXPECT_EQ(describe_model("feat2vec").data, "table");
  EXPECT_EQ(describe_model("softimpute").data, "ratings");
  EXPECT_EQ(describe_model("plsa").data, "bags");
}

TEST(Models, AnUnknownNameGetsASuggestion) {
  EXPECT_FALSE(is_model("word3vec"));
  EXPECT_FALSE(is_model(""));
  EXPECT_EQ(usage_error([] { describe_model("word3vec"); }),
            "unknown model word3vec; did you mean word2vec?");
  expect_part("; there are word2vec, fasttext, doc2vec, feat2vec, als",
              usage_error([] { describe_model("qqqqqq"); }));
}

TEST(Models, SettingsOfReadingAreAmongThoseOfTheData) {
  EXPECT_EQ(available_data(),
            (std::vector<std::string_view>{"text", "table", "ratings", "counts", "labelled",
                                           "documents", "matrix", "bags"}));
  for (const std::string_view kind : available_data()) {
    const auto all = names_in(data_settings(kind)), reading = names_in(reading_settings(kind));
    EXPECT_TRUE(std::ranges::includes(all, reading)) << kind;
    EXPECT_TRUE(all.contains("holdout")) << kind;
  }
  EXPECT_FALSE(names_in(reading_settings("table")).contains("holdout"));
  EXPECT_FALSE(names_in(reading_settings("ratings")).contains("normalise"));
  EXPECT_TRUE(names_in(reading_settings("ratings")).contains("delimiter"));
  EXPECT_EQ(usage_error([] { data_settings("sound"); }),
            "there is no kind of data called sound; there are text, table, ratings, counts, "
            "labelled, documents, matrix, bags");
  usage_error([] { reading_settings(""); });
}

TEST(Models, ASourceIsKnownByItsNameAndItsFirstLines) {
  EXPECT_EQ(guess_kind(text_file()), "text");
  EXPECT_EQ(guess_kind(places_file()), "table");
  EXPECT_EQ(guess_kind(ratings_file()), "ratings");
  EXPECT_EQ(guess_kind(labelled_file()), "labelled");
  EXPECT_EQ(guess_kind("-"), "text");
  const TestFolder folder;
  EXPECT_EQ(guess_kind(folder.write("u.data", "1\t2\t3\t881250949\n4\t2\t5\t881250950\n")),
            "ratings");
}

TEST(Models, APasswordIsNotShown) {
  EXPECT_EQ(shown_source("films.csv"), "films.csv");
  expect_no_part("secret", shown_source("postgresql://me:secret@host/films"));
  expect_part("postgresql://me:", shown_source("postgresql://me:secret@host/films"));
}

TEST(Models, AllThatCanBeSetForARunIsOfTheRunTheDataAndTheModel) {
  const auto of_als = names_in(train_settings("als"));
  for (const char* name : {"from", "seed", "deterministic", "holdout", "normalise", "delimiter",
                           "dim", "penalty", "unobserved"}) {
    EXPECT_TRUE(of_als.contains(name)) << name;
  }
  EXPECT_FALSE(of_als.contains("window"));
  expect_part("vectors cannot be trained", usage_error([] { train_settings("vectors"); }));
  usage_error([] { train_settings("qqqqqq"); });
}

// A front end that does not know the model yet reads flags by these.
TEST(Models, ASettingHasOneTypeForAllModels) {
  std::map<std::string_view, FieldType> types;
  std::set<std::string_view> all;
  for (const FieldGroup& g : train_settings("")) {
    for (const FieldInfo& f : g.fields) {
      EXPECT_EQ(types.try_emplace(f.name, f.type).first->second, f.type)
          << g.title << " " << f.name;
      all.insert(f.name);
    }
  }
  for (const ModelDescription& model : available_models()) {
    if (model.data.empty()) continue;
    EXPECT_TRUE(std::ranges::includes(all, names_in(train_settings(model.name)))) << model.name;
  }
}

}  // namespace
}  // namespace kith::test
