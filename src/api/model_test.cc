// SPDX-License-Identifier: Apache-2.0
#include "kith/model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "api/test_models.h"

namespace kith::test {
namespace {

namespace fs = std::filesystem;

std::set<Can> abilities(const Model& model) {
  std::set<Can> out;
  for (const Can what : {Can::kCompareVectors, Can::kCompleteRows, Can::kRateItems, Can::kUpdate,
                         Can::kTrainFurther}) {
    if (model.can(what)) out.insert(what);
  }
  return out;
}

// The same answers, whatever is behind them.
Strings neighbours(const Model& model, const std::string& name) {
  Strings out;
  for (const Near& answer : near(model, {name}, {.top = 5}, two_threads())) {
    for (const Neighbour& n : answer.neighbours) out.push_back(fmt::format("{} {}", n.id, n.score));
  }
  return out;
}

TEST(Model, EachKindSaysWhatItCanBeAsked) {
  EXPECT_EQ(abilities(words()), (std::set{Can::kCompareVectors, Can::kTrainFurther}));
  EXPECT_EQ(abilities(places()),
            (std::set{Can::kCompareVectors, Can::kCompleteRows, Can::kUpdate, Can::kTrainFurther}));
  EXPECT_EQ(abilities(ratings()), (std::set{Can::kCompareVectors, Can::kRateItems, Can::kUpdate}));
  EXPECT_EQ(abilities(sure()), abilities(ratings()));
  EXPECT_EQ(abilities(royals()), (std::set{Can::kCompareVectors}));
}

TEST(Model, KnowsItsKindItsDataAndItsFile) {
  EXPECT_EQ(words().kind(), "word2vec");
  EXPECT_EQ(words().data(), "text");
  EXPECT_EQ(places().kind(), "feat2vec");
  EXPECT_EQ(places().data(), "table");
  EXPECT_EQ(ratings().kind(), "als");
  EXPECT_EQ(ratings().data(), "ratings");
  EXPECT_EQ(royals().kind(), "vectors");
  EXPECT_EQ(royals().data(), "");
  EXPECT_EQ(royals().path(), shared_folder().path() + "/royals.kith");
}

std::string fact(const Model& model, std::string_view name) {
  for (const Fact& f : model.facts()) {
    if (f.name == name) return f.value;
  }
  return "none";
}

TEST(Model, FactsTellItsSize) {
  EXPECT_EQ(fact(words(), "dim"), "12");
  EXPECT_EQ(fact(words(), "vocabulary"), fmt::format("{}", kTopics.size() * kTopicWords + 1));
  EXPECT_EQ(fact(ratings(), "users"), fmt::format("{}", PlantedRatings{}.users));
  EXPECT_EQ(fact(ratings(), "items"), fmt::format("{}", PlantedRatings{}.items));
  EXPECT_EQ(fact(royals(), "words"), "10");
}

TEST(Model, AnotherToolsFileGetsTheCommandThatImportsIt) {
  EXPECT_EQ(input_error([] { open(royals_file()); }),
            royals_file() +
                ": not a Kith model; if it holds vectors of another tool, run: kith import " +
                royals_file() + " -o royals.kith");
  const TestFolder folder;
  const std::string spaced = folder.write("my vectors.vec", kRoyals);
  expect_part("kith import '" + spaced + "' -o 'my vectors.kith'",
              input_error([&] { open(spaced); }));
  const std::string tensors = folder.path() + "/royals.safetensors";
  export_vectors(royals(), tensors, VectorFormat::kSafetensors, two_threads());
  expect_part("kith import", input_error([&] { open(tensors); }));
}

TEST(Model, WhatIsCalledAModelIsNotTakenForAnotherTools) {
  const TestFolder folder;
  const std::string path = folder.write("a.kith", kRoyals);
  expect_no_part("kith import", input_error([&] { open(path); }));
  io_error([&] { open(folder.path() + "/none.kith"); });
}

TEST(Model, ACheckpointIsRefused) {
  const TestFolder folder;
  Context context(1);
  CancelsAt cancels(context, 1);
  const TrainRequest asked =
      request("word2vec", text_file(), folder.path() + "/a.kith", quick_words());
  ASSERT_FALSE(train(plan(asked), context, &cancels).finished);
  expect_part("finish it with kith train ... --resume",
              input_error([&] { open(folder.path() + "/a.kith.checkpoint"); }));
}

TEST(Model, EveryTruncationIsRefused) {
  const TestFolder folder;
  const std::string whole_file = bytes_of(royals().path());
  for (size_t size = 0; size < whole_file.size(); size += size < 64 ? 1 : 37) {
    const std::string cut = folder.write("a.kith", std::string_view(whole_file).substr(0, size));
    input_error([&] { open(cut); });
    fs::remove(cut);
  }
}

TEST(Model, AnyFlippedBitIsSeen) {
  const TestFolder folder;
  const std::string whole_file = bytes_of(royals().path());
  for (size_t at = 0; at < whole_file.size(); at += 11) {
    std::string damaged = whole_file;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    const std::string path = folder.write("a.kith", damaged);
    try {
      open(path);
      ADD_FAILURE() << "byte " << at;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kInput) << e.what();
    }
    fs::remove(path);
  }
}

TEST(Model, SavedItIsTheSameFile) {
  const TestFolder folder;
  const std::string path = folder.path() + "/copy.kith";
  for (const Model* model : {&words(), &places(), &ratings(), &sure(), &royals()}) {
    model->save(path);
    EXPECT_EQ(bytes_of(path), bytes_of(model->path())) << model->kind();
    open(path).save(path);  // over itself
    EXPECT_EQ(bytes_of(path), bytes_of(model->path())) << model->kind();
  }
}

TEST(Model, SavingKeepsThePermissionsOfTheFileThere) {
  const TestFolder folder;
  const std::string path = folder.write("a.kith", "before");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  royals().save(path);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(open(path).kind(), "vectors");
}

TEST(Model, SavingFailsWhole) {
  const TestFolder folder;
  io_error([&] { royals().save(folder.path() + "/none/a.kith"); });
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

// Nothing was asked before the file was replaced: all that is read later is of the old one.
TEST(Model, QuestionsSeeTheFileAsItWasOpened) {
  const TestFolder folder;
  for (const bool removed : {false, true}) {
    const std::string path = folder.path() + "/a.kith";
    places().save(path);
    const Model opened = open(path);
    if (removed) {
      fs::remove(path);
    } else {
      royals().save(path);
      ASSERT_EQ(open(path).kind(), "vectors");
    }
    EXPECT_EQ(neighbours(opened, "city=Rome"), neighbours(places(), "city=Rome"));
    EXPECT_EQ(fact(opened, "rows"), fact(places(), "rows"));
    EXPECT_EQ(predict(opened, {"city=Rome"}, {.target = "country"}).candidates.front().id, "Italy");
    const std::string again = folder.path() + "/again.kith";
    opened.save(again);
    EXPECT_EQ(bytes_of(again), bytes_of(places().path()));
  }
}

TEST(Model, TheFileTellsTheRunThatMadeIt) {
  expect_part("dim = 12\n", words().run_settings());
  expect_part("sample = 0.02\n", words().run_settings());
  expect_part("deterministic = true\n", words().run_settings());
  expect_part("min-count = 1\n", words().run_settings());
  EXPECT_EQ(words().metadata().at("model"), "word2vec");
  EXPECT_EQ(words().metadata().at("version"), kVersion);
  EXPECT_EQ(words().metadata().at("run"), words().run_settings());
  EXPECT_EQ(royals().run_settings(), "");
  EXPECT_EQ(royals().metadata().at("imported.format"), "glove");
}

// What the file says is a file for --config: the run that it describes gives the same bytes.
TEST(Model, TheSettingsOfTheRunMakeItAgain) {
  const TestFolder folder;
  const std::string path = folder.path() + "/again.kith";
  train_now(request("word2vec", text_file(), path,
                    settings_from_toml_text(words().run_settings(), "the model")));
  EXPECT_EQ(bytes_of(path), bytes_of(words().path()));
}

TEST(Model, MovedItIsStillThere) {
  Model a = open(royals().path());
  const Strings before = neighbours(a, "king");
  Model b = std::move(a);
  EXPECT_EQ(neighbours(b, "king"), before);
  a = std::move(b);
  EXPECT_EQ(neighbours(a, "king"), before);
}

}  // namespace
}  // namespace kith::test
