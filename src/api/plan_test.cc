// SPDX-License-Identifier: Apache-2.0
// A request to train, worked out and checked before anything costs time.
#include <gtest/gtest.h>

#include <filesystem>

#include "api/test_models.h"
#include "kith/train.h"

namespace kith::test {
namespace {

namespace fs = std::filesystem;

// Works in a folder of its own, where outputs without a name would stand.
class PlanTest : public ::testing::Test {
 protected:
  PlanTest() : before_(fs::current_path()) { fs::current_path(folder_.path()); }
  ~PlanTest() override { fs::current_path(before_); }

  std::string write(const std::string& name, std::string_view bytes) const {
    folder_.write(name, bytes);
    return name;
  }
  // A run that was cancelled, and left its checkpoint.
  void leave_checkpoint(const std::string& output, const Settings& settings = {}) const {
    Context context(1);
    CancelsAt cancels(context, 2);
    ASSERT_FALSE(train(plan(request("word2vec", text_file(), output, quick_words() + settings)),
                       context, &cancels)
                     .finished);
  }
  static TrainRequest resumed(const std::string& output, const Settings& settings = {}) {
    TrainRequest out = request("", text_file(), output, settings);
    out.options.resume = true;
    return out;
  }

  TestFolder folder_;

 private:
  fs::path before_;
};

// --- Which model, to where ---

TEST_F(PlanTest, TheModelSuitsTheData) {
  EXPECT_EQ(model_for(request("", text_file(), "")), "word2vec");
  EXPECT_EQ(model_for(request("", places_file(), "")), "feat2vec");
  EXPECT_EQ(model_for(request("", ratings_file(), "")), "als");
  // A column of it is text.
  EXPECT_EQ(model_for(request("", places_file(), "", {text("column", "notes")})), "word2vec");
  EXPECT_EQ(model_for(request("mf", ratings_file(), "")), "mf");
  EXPECT_EQ(model_for(request("feat2vec", ratings_file(), "")), "feat2vec");  // a table it is too
}

TEST_F(PlanTest, AChoiceIsTold) {
  Events events;
  const Plan chosen = plan(request("", places_file(), ""), &events);
  EXPECT_EQ(chosen.model(), "feat2vec");
  EXPECT_EQ(chosen.data(), "table");
  EXPECT_TRUE(chosen.chosen());
  ASSERT_EQ(events.choices.size(), 1u);
  EXPECT_EQ(events.choices[0].source, places_file());
  EXPECT_EQ(events.choices[0].data, "a table");
  EXPECT_EQ(events.choices[0].model, "feat2vec");
  EXPECT_EQ(events.choices[0].summary, describe_model("feat2vec").summary);

  Events none;
  EXPECT_FALSE(plan(request("feat2vec", places_file(), ""), &none).chosen());
  EXPECT_TRUE(none.choices.empty());
  Events input;
  plan(request("", "-", ""), &input);
  EXPECT_EQ(input.choices.at(0).source, "standard input");
  Events ratings;
  plan(request("", ratings_file(), ""), &ratings);
  EXPECT_EQ(ratings.choices.at(0).why, "columns user, item and rating");
}

// What it holds is for its columns to say.
TEST_F(PlanTest, ADatabaseThatCannotBeReachedIsToldWithoutItsPassword) {
  const std::string told = message_of(
      ErrorKind::kIo, [] { plan(request("", "postgresql://me:secret@127.0.0.1:1/films", "")); });
  expect_part("cannot connect", told);
  expect_no_part("secret", told);
}

TEST_F(PlanTest, TheOutputIsNamedAfterTheInput) {
  const auto output = [](const std::string& source) {
    return plan(request("word2vec", source, "")).output();
  };
  EXPECT_EQ(output(text_file()), "topics.kith");
  EXPECT_EQ(output(write("news.txt.gz", "")), "news.kith");
  EXPECT_EQ(output(write("news.2024.txt.zst", "")), "news.2024.kith");
  EXPECT_EQ(output(write("plain", "")), "plain.kith");
  EXPECT_EQ(output(write("text.kith", "")), "text.kith.kith");  // never over what is read
  EXPECT_EQ(output("-"), "vectors.kith");
  EXPECT_EQ(plan(request("feat2vec", "postgresql://host/films", "")).output(), "table.kith");
  const Plan named = plan(request("word2vec", text_file(), "a.kith"));
  EXPECT_EQ(named.output(), "a.kith");
  EXPECT_EQ(named.checkpoint_path(), "a.kith.checkpoint");
}

TEST_F(PlanTest, NothingIsWrittenByPlanning) {
  plan(request("feat2vec", places_file(), "a.kith"));
  EXPECT_TRUE(fs::is_empty("."));
}

TEST_F(PlanTest, SettingsAreThoseOfTheRun) {
  const Plan planned = plan(request("word2vec", text_file(), "",
                                    {whole("dim", 7), whole("min_count", 3), whole("seed", 9)}));
  for (const char* line : {"dim = 7\n", "min-count = 3\n", "seed = 9\n", "window = 5\n",
                           "lr = \"auto\"\n", "deterministic = false\n"}) {
    expect_part(line, planned.settings());
  }
  // Later ones win.
  expect_part(
      "dim = 8\n",
      plan(request("word2vec", text_file(), "", {whole("dim", 7), whole("dim", 8)})).settings());
}

// --- Refusals ---

TEST_F(PlanTest, SourcesMustBeThere) {
  EXPECT_EQ(usage_error([] { plan({}); }), "there is nothing to learn from");
  EXPECT_EQ(usage_error([] { model_for({}); }), "there is nothing to learn from");
  EXPECT_EQ(io_error([] { plan(request("", "none.txt", "")); }), "none.txt: there is no such file");
  EXPECT_EQ(io_error([] { plan(request("", "/tmp", "")); }),
            "/tmp: this is a folder; name the files in it");
  TrainRequest second = request("", text_file(), "");
  second.sources.push_back("none.txt");
  io_error([&] { plan(second); });
}

TEST_F(PlanTest, TheOutputMustBeAPlaceForAFile) {
  expect_part("a model cannot be written to standard output",
              usage_error([] { plan(request("", text_file(), "-")); }));
  expect_part("make it first: mkdir -p none",
              io_error([] { plan(request("", text_file(), "none/a.kith")); }));
  fs::create_directory("folder");
  expect_part("this is a folder", io_error([] { plan(request("", text_file(), "folder")); }));
}

TEST_F(PlanTest, WhatIsReadIsNotWrittenOver) {
  const std::string file = write("a.txt", topic_text(10));
  EXPECT_EQ(usage_error([&] { plan(request("word2vec", file, file)); }),
            "a.txt is both read and written; choose another --output");
  fs::create_symlink("a.txt", "link.txt");
  usage_error([&] { plan(request("word2vec", file, "link.txt")); });
  const std::string checkpoint = write("b.kith.checkpoint", topic_text(10));
  expect_part("b.kith.checkpoint is both read and written",
              usage_error([&] { plan(request("word2vec", checkpoint, "b.kith")); }));
  EXPECT_EQ(bytes_of(file), topic_text(10));
}

TEST_F(PlanTest, ModelsAndSettingsMustBeKnown) {
  EXPECT_EQ(usage_error([] { plan(request("word3vec", text_file(), "")); }),
            "unknown model word3vec; did you mean word2vec?");
  EXPECT_EQ(usage_error([] { plan(request("vectors", text_file(), "")); }),
            "vectors cannot be trained: they are vectors made by another tool and imported");
  EXPECT_EQ(usage_error([] { plan(request("", text_file(), "", {whole("windw", 3)})); }),
            "unknown setting windw; did you mean window?");
  Setting wrong = whole("dim", 0);
  wrong.where = "run.toml:7";
  EXPECT_EQ(usage_error([&] { plan(request("", text_file(), "", {wrong})); }),
            "run.toml:7: dim must be between 1 and 4096; got 0");
  // A setting of another kind of data.
  usage_error([] { plan(request("", text_file(), "", {text("schema", "a.json")})); });
}

TEST_F(PlanTest, AMemoryLimitMustBeASize) {
  TrainRequest asked = request("", text_file(), "");
  for (const char* bad : {"much", "2X", "-1G", ""}) {
    asked.options.max_memory = bad;
    if (*bad) expect_part("max-memory", usage_error([&] { plan(asked); }));
  }
  asked.options.max_memory = "1.5 GB";
  plan(asked);
}

// --- Going on from a checkpoint ---

TEST_F(PlanTest, WithoutACheckpointARunThatIsResumedBegins) {
  Events events;
  TrainRequest asked = resumed("a.kith");
  EXPECT_EQ(model_for(asked), "word2vec");
  plan(asked, &events);
  ASSERT_EQ(events.notes.size(), 1u);
  EXPECT_EQ(events.notes[0].level, Note::Level::kNote);
  EXPECT_EQ(events.notes[0].text,
            "a.kith.checkpoint: there is none yet, so training starts from the beginning");
}

// A finished model counts as the end of the run if that is the run which made it.
TEST_F(PlanTest, AFinishedRunThatIsResumedHasItsSettings) {
  words().save("a.kith");
  Events events;
  EXPECT_EQ(plan(resumed("a.kith", {whole("dim", 12)}), &events).settings(),
            plan(request("word2vec", text_file(), "b.kith", quick_words())).settings());
  EXPECT_TRUE(events.notes.empty());
  EXPECT_EQ(
      usage_error([] { plan(resumed("a.kith", {whole("dim", 13)})); }),
      "--dim 13 contradicts dim = 12 in a.kith; leave it out, or start over without --resume");
  TrainRequest another = resumed("a.kith");
  another.model = "als";
  EXPECT_EQ(usage_error([&] { plan(another); }),
            "a.kith holds a word2vec model; it cannot go on as als");
  // What is both read and written is where such a run begins.
  plan(resumed("a.kith", {text("from", "a.kith")}), &events);
  ASSERT_EQ(events.notes.size(), 1u);
  expect_part("starts from the beginning", events.notes[0].text);
}

TEST_F(PlanTest, ACheckpointMustBeOne) {
  words().save("a.kith.checkpoint");
  EXPECT_EQ(input_error([&] { plan(resumed("a.kith")); }),
            "a.kith.checkpoint: a finished model, not a checkpoint");
  write("b.kith.checkpoint", "rubbish");
  input_error([&] { plan(resumed("b.kith")); });
}

TEST_F(PlanTest, ACheckpointBringsItsModelAndSettings) {
  leave_checkpoint("a.kith");
  EXPECT_EQ(model_for(resumed("a.kith")), "word2vec");
  Events events;
  const Plan planned = plan(resumed("a.kith"), &events);
  EXPECT_EQ(planned.model(), "word2vec");
  EXPECT_FALSE(planned.chosen());
  EXPECT_EQ(planned.settings(),
            plan(request("word2vec", text_file(), "b.kith", quick_words())).settings());
  EXPECT_TRUE(events.choices.empty() && events.notes.empty());
}

TEST_F(PlanTest, WhatIsSaidAgainMayRepeatAndNotContradict) {
  leave_checkpoint("a.kith");
  plan(resumed("a.kith", {whole("dim", 12), whole("min-count", 1), whole("seed", 1)}));
  EXPECT_EQ(usage_error([] { plan(resumed("a.kith", {whole("dim", 13)})); }),
            "--dim 13 contradicts dim = 12 in a.kith.checkpoint; leave it out, or start over "
            "without --resume");
  for (const Setting& other : {whole("seed", 2), whole("min-count", 2),
                               flag("deterministic", false), text("from", words().path())}) {
    expect_part("contradicts", usage_error([&] { plan(resumed("a.kith", {other})); }));
  }
  TrainRequest another = resumed("a.kith");
  another.model = "als";
  EXPECT_EQ(usage_error([&] { plan(another); }),
            "a.kith.checkpoint holds a word2vec model; it cannot go on as als");
  usage_error([&] { model_for(another); });
}

TEST_F(PlanTest, ACheckpointThatIsLeftIsWarnedOf) {
  leave_checkpoint("a.kith");
  Events events;
  plan(request("word2vec", text_file(), "a.kith"), &events);
  ASSERT_EQ(events.notes.size(), 1u);
  EXPECT_EQ(events.notes[0].level, Note::Level::kWarning);
  expect_part("a.kith.checkpoint is left from an unfinished run; --resume continues it",
              events.notes[0].text);
}

// --- Going on from a model ---

TEST_F(PlanTest, AModelToGoOnFromBringsItsKindAndSettings) {
  const TrainRequest asked = request("", text_file(), "a.kith", {text("from", words().path())});
  EXPECT_EQ(model_for(asked), "word2vec");
  const Plan planned = plan(asked);
  EXPECT_EQ(planned.model(), "word2vec");
  EXPECT_FALSE(planned.chosen());
  // Of the model and of the data, but not of the run.
  expect_part("dim = 12\n", planned.settings());
  expect_part("min-count = 1\n", planned.settings());
  expect_part("deterministic = false\n", planned.settings());
  expect_part(fmt::format("from = \"{}\"\n", words().path()), planned.settings());
  // And new ones over them.
  expect_part("epochs = 9\n", plan(request("", text_file(), "a.kith",
                                           {text("from", words().path()), whole("epochs", 9)}))
                                  .settings());
}

TEST_F(PlanTest, OnlyWhatCanGoOnGoesOn) {
  const auto from = [](const Model& model, const char* as, const Settings& more = {}) {
    return request(as, text_file(), "a.kith", Settings{text("from", model.path())} + more);
  };
  EXPECT_EQ(usage_error([&] { plan(from(words(), "feat2vec")); }),
            words().path() + " holds a word2vec model; it cannot go on as feat2vec");
  EXPECT_EQ(usage_error([&] { plan(from(words(), "", {whole("dim", 13)})); }),
            "--dim 13 contradicts dim = 12 of " + words().path() + "; leave it out");
  expect_part("train --from is for models that can be trained further; " + ratings().path() +
                  " holds als, which",
              usage_error([&] { plan(from(ratings(), "")); }));
  expect_part("vectors cannot be trained", usage_error([&] { plan(from(royals(), "")); }));
  io_error([&] { plan(request("", text_file(), "a.kith", {text("from", "none.kith")})); });
}

TEST(Plan, AModelIsNoDataToLearnFrom) {
  expect_part("this is a model, not data",
              input_error([] { plan({.sources = {royals().path()}}); }));
}

}  // namespace
}  // namespace kith::test
