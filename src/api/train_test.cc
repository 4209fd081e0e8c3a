// SPDX-License-Identifier: Apache-2.0
// From data to a model file: what is told, what is kept, and what an interrupted run becomes.
#include "kith/train.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <regex>
#include <span>
#include <thread>

#include "api/test_models.h"
#include "core/rng.h"

namespace kith::test {
namespace {

namespace fs = std::filesystem;

// Everything that is exported, as text with every digit.
std::string vectors_in(const std::string& path) {
  const std::string out = path + ".csv";
  export_vectors(open(path), out, VectorFormat::kCsv, two_threads());
  std::string bytes = bytes_of(out);
  fs::remove(out);
  return bytes;
}

// Does something when a run has reported for the n-th time.
class DoesAt : public Events {
 public:
  DoesAt(size_t report, std::function<void()> action)
      : report_(report), action_(std::move(action)) {}
  using Events::on;
  void on(const Training& e) override {
    Events::on(e);
    if (trainings.size() == report_) action_();
  }

 private:
  size_t report_;
  std::function<void()> action_;
};

class TrainTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string write(const std::string& name, std::string_view bytes) const {
    return folder_.write(name, bytes);
  }
  TrainRequest words_to(const std::string& name, const Settings& more = {}) const {
    return request("word2vec", text_file(), path(name), quick_words() + more);
  }

  TestFolder folder_;
};

// --- What is told ---

TEST_F(TrainTest, EventsComeInTheirOrder) {
  TrainRequest asked = words_to("a.kith");
  asked.model = "";
  Events events;
  train_now(asked, 1, &events);
  // The note: four epochs are too many for so few words.
  EXPECT_EQ(events.order, (Strings{"choice", "profile", "memory", "training", "note", "examples"}));
  expect_part("held-out loss was lowest after epoch", events.notes.at(0).text);

  const Profile& profile = events.profiles.at(0);
  EXPECT_EQ(profile.data, "text");
  EXPECT_EQ(profile.unit, "word");
  EXPECT_EQ(profile.size + profile.held_out, 1500u * 12);
  EXPECT_EQ(profile.bytes, topic_text().size());

  const Examples& examples = events.examples.at(0);
  EXPECT_EQ(examples.vectors, kTopics.size() * kTopicWords + 1);
  EXPECT_EQ(examples.zero, 0u);
  EXPECT_EQ(examples.near.size(), 3u);
  for (const Examples::Near& near : examples.near) EXPECT_EQ(near.to.size(), 4u) << near.name;
}

TEST_F(TrainTest, TrainingTellsHowFarItIs) {
  Events events;
  const Trained done = train_now(words_to("a.kith", {number("holdout", 0.1)}), 1, &events);
  uint64_t before = 0;
  int closed = 0;
  for (const Training& t : events.trainings) {
    EXPECT_GE(t.done, before);
    EXPECT_LE(t.done, t.total);
    EXPECT_EQ(t.epochs, 4);
    EXPECT_EQ(t.unit, "word");
    closed += t.epoch_done;
    before = t.done;
  }
  EXPECT_EQ(closed, 4);
  EXPECT_EQ(events.trainings.back().epoch, 4);
  EXPECT_EQ(events.trainings.back().done, events.trainings.back().total);
  EXPECT_EQ(events.trainings.back().held_out, done.held_out);
  EXPECT_GT(events.trainings.front().lr, events.trainings.back().lr);
}

TEST_F(TrainTest, TellsWhatItDid) {
  const Trained words_done = train_now(words_to("a.kith", {number("holdout", 0.1)}));
  EXPECT_TRUE(words_done.finished);
  EXPECT_EQ(words_done.model, "word2vec");
  EXPECT_EQ(words_done.output, path("a.kith"));
  EXPECT_EQ(words_done.unit, "word");
  EXPECT_FALSE(words_done.rates);
  EXPECT_EQ(words_done.vectors, kTopics.size() * kTopicWords + 1);
  EXPECT_NEAR(words_done.epochs, 4, 1e-9);
  EXPECT_GT(words_done.loss, 0);
  EXPECT_LT(*words_done.held_out, *words_done.first_held_out);
  EXPECT_EQ(near(open(path("a.kith")), {words_done.example}, {}, two_threads()).size(), 1u);

  const Trained rated = train_now(request("als", ratings_file(), path("b.kith"), quick_ratings()));
  EXPECT_TRUE(rated.rates);
  EXPECT_EQ(rated.unit, "rating");
  const Model model = open(path("b.kith"));
  EXPECT_FALSE(Recommender(model, {}).list(rated.example, {}, two_threads()).empty());

  const Trained table =
      train_now(request("feat2vec", places_file(), path("c.kith"), quick_places()));
  EXPECT_EQ(table.unit, "row");
  EXPECT_EQ(table.size, 396u);  // a hundredth is held out
  EXPECT_EQ(near(open(path("c.kith")), {table.example}, {}, two_threads()).size(), 1u);
}

TEST_F(TrainTest, TheProcessKnowsWhatItTook) {
  EXPECT_GT(peak_memory(), 1u << 20);
  EXPECT_GT(cpu_seconds(), 0);
}

// --- Memory ---

TEST_F(TrainTest, TooLittleMemorySaysWhatCanBeLowered) {
  const auto refused = [&](TrainRequest asked) {
    asked.options.max_memory = "1K";
    const std::string said = message_of(ErrorKind::kLimit, [&] { train_now(asked); });
    expect_part("is the limit (--max-memory); ", said);
    return said;
  };
  expect_part("keep fewer words with --max-vocab or a higher --min-count, or lower --dim",
              refused(words_to("a.kith")));
  expect_part("set columns to ignore in the schema, or lower --dim",
              refused(request("", places_file(), path("b.kith"))));
  expect_part("lower --dim", refused(request("", ratings_file(), path("c.kith"))));
  EXPECT_FALSE(fs::exists(path("a.kith")));
}

TEST_F(TrainTest, WhatIsNeededIsToldBeforehand) {
  Events events;
  train_now(words_to("a.kith"), 1, &events);
  const Memory usual = events.memories.at(0);
  EXPECT_FALSE(usual.asked);
  EXPECT_GT(usual.needed, 1000u);
  TrainRequest asked = words_to("a.kith");
  asked.options.max_memory = "1 GB";
  train_now(asked, 1, &events);
  EXPECT_TRUE(events.memories.at(1).asked);
  EXPECT_EQ(events.memories.at(1).limit, uint64_t{1} << 30);
  EXPECT_EQ(events.memories.at(1).needed, usual.needed);
  // Longer vectors: an input and an output of each word, and nothing else.
  const auto needed = [&](int64_t dim) {
    const Trained t = train_now(
        words_to("a.kith", {whole("dim", dim), flag("deterministic", false)}), 1, &events);
    return std::pair(events.memories.back().needed, t.vectors);
  };
  const auto [less, words] = needed(16);
  EXPECT_EQ(needed(1024).first - less, words * 2 * (1024 - 16) * sizeof(float));
}

// The vectors of all names are part of it: as many times as many numbers, so much more.
TEST_F(TrainTest, WhatIsNeededGrowsWithTheVectors) {
  for (const ModelDescription& model : available_models()) {
    if (model.data.empty()) continue;
    const std::string source = model.data == "ratings"    ? ratings_file()
                               : model.data == "table"    ? places_file()
                               : model.data == "labelled" ? labelled_file()
                                                          : text_file();
    const std::string length = model.settings.find("dim") ? "dim" : "topics";
    const auto needed = [&](int64_t dim) {
      Events events;
      train_now(request(std::string(model.name), source, path("a.kith"),
                        {whole(length, dim), whole("epochs", 2)}),
                1, &events);
      return static_cast<double>(events.memories.at(0).needed);
    };
    const auto vectors = static_cast<double>(
        train_now(request(std::string(model.name), source, path("a.kith"), {whole("epochs", 2)}))
            .vectors);
    EXPECT_GE(needed(80) - needed(16), 64 * sizeof(float) * vectors) << model.name;
  }
}

// Two million numbers for each of 300,000 users: more than any machine has.
TEST_F(TrainTest, WhatThereIsIsTheLimitIfNoneIsGiven) {
  std::string ratings(kRatingsHeader);
  for (size_t u = 0; u < 300'000; ++u) ratings += fmt::format("u{},i{},3,1\n", u, u % 7);
  const auto asked = request("bmf", write("many.csv", ratings), path("a.kith"),
                             {whole("dim", 512), whole("samples", 1000), whole("epochs", 2000)});
  const std::string said = message_of(ErrorKind::kLimit, [&] { train_now(asked); });
  expect_part("is available; lower --dim", said);
  EXPECT_FALSE(fs::exists(path("a.kith")));
}

// --- Runs ---

TEST_F(TrainTest, TheSeedMakesTheRun) {
  for (const int64_t seed : {1, 1, 2}) {
    train_now(words_to(fmt::format("{}.kith", seed), {whole("seed", seed)}));
  }
  EXPECT_EQ(bytes_of(path("1.kith")), bytes_of(words().path()));
  EXPECT_NE(vectors_in(path("1.kith")), vectors_in(path("2.kith")));
}

TEST_F(TrainTest, ADeterministicRunGivesTheSameBytesForAnyNumberOfThreads) {
  for (const int threads : {2, 5}) {
    train_now(words_to("a.kith"), threads);
    EXPECT_EQ(bytes_of(path("a.kith")), bytes_of(words().path())) << threads;
  }
  // Which is another way of training: its vectors are not those of the usual one.
  train_now(words_to("a.kith", {flag("deterministic", false)}));
  EXPECT_NE(vectors_in(path("a.kith")), vectors_in(words().path()));
}

TEST_F(TrainTest, TheScratchFolderIsWhereItIsAskedFor) {
  TrainRequest asked = words_to("a.kith");
  asked.options.scratch = path("none");
  expect_part(path("none"), io_error([&] { train_now(asked); }));
  asked.options.scratch = folder_.path();
  EXPECT_TRUE(train_now(asked).finished);
}

// --- Interrupted, and resumed ---

struct Case {
  std::string model;
  std::string source;
  Settings settings;
};
std::vector<Case> cases() {
  const Settings same_bits{flag("deterministic", true)};
  return {
      {"word2vec", text_file(), quick_words()},
      {"feat2vec", places_file(), quick_places() + same_bits + Settings{whole("epochs", 4)}},
      {"als", ratings_file(), quick_ratings()},
      {"mf", ratings_file(), {whole("dim", 2), whole("epochs", 5), flag("deterministic", true)}},
      {"bmf",
       ratings_file(),
       {whole("dim", 2), whole("epochs", 12), whole("burn-in", 4), whole("samples", 3)}}};
}

// What it says to do is done: a run with that patience keeps that epoch, and says no more.
TEST_F(TrainTest, ALastEpochThatIsNotTheBestIsTold) {
  std::string noise;  // nothing to be learned of what comes
  Rng rng(1, 1);
  for (int i = 0; i < 2400; ++i) noise += fmt::format("w{}{}", rng.below(200), i % 8 ? ' ' : '\n');
  const Settings learned_by_heart{whole("dim", 12), whole("min-count", 1), number("sample", 0),
                                  number("lr", 0.1), whole("epochs", 20)};
  TrainRequest asked =
      request("word2vec", write("noise.txt", noise), path("a.kith"), learned_by_heart);
  asked.settings.push_back(whole("early-stop", 0));
  Events events;
  train_now(asked, 1, &events);
  std::smatch said;
  const std::regex wanted(
      "the held-out loss was lowest after epoch (\\d+) \\((.*); now (.*)\\), and --early-stop "
      "(\\d+) "
      "would keep that epoch; other measures may be better now: compare them with eval");
  for (const Note& note : events.notes) {
    if (note.level == Note::Level::kHint && std::regex_match(note.text, said, wanted)) break;
  }
  ASSERT_EQ(said.size(), 5u);
  EXPECT_LT(std::stod(said[2]), std::stod(said[3]));
  asked.settings.back() = whole("early-stop", std::stoi(said[4]));
  Events again;
  const Trained stopped = train_now(asked, 1, &again);
  EXPECT_NEAR(stopped.held_out.value_or(0), std::stod(said[2]), 5e-5);
  EXPECT_FALSE(again.noted("held-out loss was lowest"));
}

// A ranking is best once the rate has fallen, whatever its epochs before were like.
TEST_F(TrainTest, RankingsAreNotToldToStopEarly) {
  Events events;
  train_now(request("als", ratings_file(), path("a.kith"),
                    {text("rating", "none"), whole("dim", 12), number("penalty", 1e-4),
                     whole("epochs", 30), whole("early-stop", 0)}),
            1, &events);
  EXPECT_FALSE(events.noted("held-out loss was lowest"));
}

TEST_F(TrainTest, ARankingThatIsNoBetterThanPopularityIsTold) {
  std::string rows = "user,item\n";
  for (int u = 0; u < 80; ++u) {
    for (int i = 0; i < 200; ++i) {
      if ((u * 31 + i * 17) % (2 + i) < 2) rows += fmt::format("u{},i{}\n", u, i);
    }
  }
  const std::string file = write("c.csv", rows);
  const auto told = [&](const std::string& model, const std::string& from, const Settings& more) {
    Events events;
    train_now(request(model, from, path("a.kith"), more), 1, &events);
    return events.noted("a list of the most popular items ranks what was held out");
  };
  EXPECT_TRUE(told("mf", file, {whole("epochs", 1), number("lr", 1e-3), flag("biases", false)}));
  EXPECT_FALSE(told("als", ratings_file(), quick_ratings() + Settings{text("rating", "none")}));
  EXPECT_FALSE(told("als", ratings_file(), {whole("epochs", 1), number("penalty", 1e6)}))
      << "ratings are predicted and not ranked";
}

// The second run knows how long it will be: what is left is of that, not of all epochs.
TEST_F(TrainTest, ASecondRunSaysWhatIsLeftOfIt) {
  Events events;
  train_now(request("als", ratings_file(), path("a.kith"), {whole("dim", 2), whole("epochs", 200)}),
            1, &events);
  const auto second = std::ranges::find_if(events.trainings, [](const Training& t) {
    return t.note.starts_with("now training again with what was held out");
  });
  ASSERT_NE(second, events.trainings.end());
  const std::span<const Training> reports(second, events.trainings.end());
  ASSERT_LT(reports.back().epoch, 200);
  for (const Training& t : reports) EXPECT_EQ(t.epochs, reports.back().epoch);
  EXPECT_EQ(reports.back().done, reports.back().total);
  EXPECT_EQ(reports.back().seconds_left, 0);
}

// Wherever it is cut, and with whatever number of threads it goes on.
TEST_F(TrainTest, AResumedRunGivesTheBytesOfOneThatWasNotInterrupted) {
  for (const Case& c : cases()) {
    TrainRequest asked = request(c.model, c.source, path(c.model + ".kith"), c.settings);
    Events whole_run;
    train_now(asked, 1, &whole_run);
    const std::string truth = bytes_of(asked.options.output);
    const size_t reports = whole_run.trainings.size();
    ASSERT_GT(reports, 3u) << c.model;
    for (const size_t cut : {size_t{1}, reports / 2, reports - 1}) {
      asked.options.output = path("cut.kith");
      asked.options.resume = false;
      Context context(1);
      CancelsAt cancels(context, cut);
      const Trained stopped = train(plan(asked), context, &cancels);
      ASSERT_FALSE(stopped.finished) << c.model << " " << cut;
      EXPECT_FALSE(fs::exists(path("cut.kith")));
      EXPECT_EQ(cancels.checkpoints.size(), 1u);
      EXPECT_EQ(cancels.checkpoints.at(0).path, path("cut.kith.checkpoint"));
      EXPECT_EQ(cancels.checkpoints.at(0).failure, "");
      TrainRequest again = request("", c.source, path("cut.kith"));
      again.options.resume = true;
      EXPECT_TRUE(train_now(again, 2).finished);
      EXPECT_EQ(bytes_of(path("cut.kith")), truth) << c.model << " cut at report " << cut;
      EXPECT_FALSE(fs::exists(path("cut.kith.checkpoint")));
      fs::remove(path("cut.kith"));
    }
  }
}

TEST_F(TrainTest, CancelledWhenAllIsLearnedItIsSaved) {
  for (const Case& c : cases()) {
    TrainRequest asked = request(c.model, c.source, path(c.model + ".kith"), c.settings);
    Events whole_run;
    train_now(asked, 1, &whole_run);
    const std::string truth = bytes_of(asked.options.output);
    asked.options.output = path("cut.kith");
    Context context(1);
    CancelsAt cancels(context, whole_run.trainings.size());
    if (!train(plan(asked), context, &cancels).finished) {  // its maps of new values were not
      EXPECT_EQ(c.model, "feat2vec");
      asked.options.resume = true;
      train_now(asked);
    }
    EXPECT_TRUE(bytes_of(path("cut.kith")) == truth) << c.model;
  }
}

TEST_F(TrainTest, OnlyTheSameDataGoOn) {
  Context context(1);
  CancelsAt cancels(context, 1);
  train(plan(words_to("a.kith")), context, &cancels);
  TrainRequest again = request("", write("other.txt", topic_text(1500, 2)), path("a.kith"));
  again.options.resume = true;
  EXPECT_EQ(input_error([&] { train_now(again); }),
            path("a.kith.checkpoint") + ": made from other data than " + path("other.txt") +
                "; resume with the very same files, or start over without --resume");
  EXPECT_TRUE(fs::exists(path("a.kith.checkpoint")));
}

TEST_F(TrainTest, ARunThatHasEndedIsResumedToNothing) {
  TrainRequest asked = words_to("a.kith");
  asked.options.resume = true;
  const Trained first = train_now(asked);  // without a checkpoint it begins
  EXPECT_TRUE(first.finished && !first.before);
  const std::string truth = bytes_of(path("a.kith"));
  Events events;
  const Trained again = train_now(asked, 1, &events);
  EXPECT_TRUE(again.finished && again.before);
  EXPECT_TRUE(events.trainings.empty());
  ASSERT_FALSE(events.notes.empty());
  EXPECT_EQ(events.notes.back().text, path("a.kith") +
                                          " was finished with these settings and these data; to "
                                          "train it again, leave out --resume");
  EXPECT_EQ(again.vectors, first.vectors);
  EXPECT_EQ(again.loss, first.loss);
  EXPECT_EQ(again.held_out, first.held_out);
  EXPECT_EQ(again.first_held_out, first.first_held_out);
  EXPECT_EQ(bytes_of(path("a.kith")), truth);
  TrainRequest other = request("", write("other.txt", topic_text(1500, 2)), path("a.kith"));
  other.options.resume = true;
  EXPECT_EQ(input_error([&] { train_now(other); }),
            path("a.kith") + ": made from other data than " + path("other.txt") +
                "; resume with the very same files, or start over without --resume");
}

TEST_F(TrainTest, EpochsOfAResumedRunAreItsOwn) {
  const TrainRequest asked = words_to("a.kith");
  Events all;
  train_now(asked, 1, &all);
  Context context(1);
  CancelsAt half(context, all.trainings.size() / 2);
  const Trained first = train(plan(asked), context, &half);
  TrainRequest again = asked;
  again.options.resume = true;
  const Trained second = train_now(again);
  EXPECT_GT(first.epochs, 1);
  EXPECT_GT(second.epochs, 1);
  // Up to its first report nobody knows what a run did itself.
  EXPECT_LE(first.epochs + second.epochs, 4 + 1e-9);
  EXPECT_GT(first.epochs + second.epochs, 3.5);
}

// The reader of ratings looks up after some thousand rows.
TEST_F(TrainTest, CancelledWhileReadingThereIsNothingToKeep) {
  std::string rows(kRatingsHeader);
  for (int i = 0; i < 20000; ++i) rows += fmt::format("u{},i{},3,1\n", i / 50, i % 50);
  struct Cancels : Events {
    explicit Cancels(Context& c) : context(c) {}
    using Events::on;
    void on(const Reading& e) override {
      Events::on(e);
      context.cancel();
    }
    Context& context;
  };
  Context context(1);
  Cancels cancels(context);
  context.cancel();
  const TrainRequest asked = request("als", write("a.csv", rows), path("a.kith"));
  message_of(ErrorKind::kCancelled, [&] { train(plan(asked), context, &cancels); });
  context.reset();
  EXPECT_TRUE(train(plan(asked), context).finished);
  fs::remove(path("a.kith"));
  // The first call tells how far it is, the second notices.
  std::string twice = rows;
  for (int i = 0; i < 20000; ++i) twice += fmt::format("u{},i{},3,1\n", i / 50, 50 + i % 50);
  const TrainRequest longer = request("als", write("b.csv", twice), path("a.kith"));
  message_of(ErrorKind::kCancelled, [&] { train(plan(longer), context, &cancels); });
  ASSERT_EQ(cancels.readings.size(), 1u);
  EXPECT_GT(cancels.readings[0].bytes, 0u);
  EXPECT_GT(cancels.readings[0].share, 0);
  EXPECT_LE(cancels.readings[0].share, 1);
  EXPECT_FALSE(fs::exists(path("a.kith")) || fs::exists(path("a.kith.checkpoint")));
}

// --- Checkpoints ---

// A second of a run passes while its observer sleeps.
void sleep_past_a_second() { std::this_thread::sleep_for(std::chrono::milliseconds(1050)); }

TEST_F(TrainTest, ACheckpointIsWrittenWhenItIsTime) {
  TrainRequest asked = words_to("a.kith");
  asked.options.checkpoint_every = 1;
  DoesAt sleeps(1, sleep_past_a_second);
  EXPECT_TRUE(train_now(asked, 1, &sleeps).finished);
  ASSERT_GE(sleeps.checkpoints.size(), 1u);  // a slow machine passes more seconds
  EXPECT_EQ(sleeps.checkpoints[0].path, path("a.kith.checkpoint"));
  EXPECT_EQ(sleeps.checkpoints[0].failure, "");
  EXPECT_FALSE(fs::exists(path("a.kith.checkpoint")));  // the model is there
  EXPECT_EQ(bytes_of(path("a.kith")), bytes_of(words().path()));
  for (const int64_t every : {0, 300}) {
    asked.options.checkpoint_every = every;
    Events events;
    train_now(asked, 1, &events);
    EXPECT_TRUE(events.checkpoints.empty()) << every;
  }
}

TEST_F(TrainTest, WithoutCheckpointsThereIsStillTheOneOfCancelling) {
  TrainRequest asked = words_to("a.kith");
  asked.options.checkpoint_every = 0;
  Context context(1);
  CancelsAt cancels(context, 1);
  EXPECT_FALSE(train(plan(asked), context, &cancels).finished);
  EXPECT_TRUE(fs::exists(path("a.kith.checkpoint")));
}

// A folder in the place of the checkpoint.
TEST_F(TrainTest, ARunGoesOnIfACheckpointCannotBeWrittenAndTells) {
  TrainRequest asked = words_to("a.kith");
  asked.options.checkpoint_every = 1;
  DoesAt blocks(1, [&] {
    fs::create_directory(path("a.kith.checkpoint"));
    sleep_past_a_second();
  });
  EXPECT_TRUE(train_now(asked, 1, &blocks).finished);
  ASSERT_GE(blocks.checkpoints.size(), 1u);
  expect_part("this is a folder", blocks.checkpoints[0].failure);
  EXPECT_EQ(bytes_of(path("a.kith")), bytes_of(words().path()));
  EXPECT_TRUE(fs::is_directory(path("a.kith.checkpoint")));
}

TEST_F(TrainTest, ACancelledRunThatCannotKeepACheckpointFails) {
  Context context(1);
  DoesAt blocks(1, [&] {
    fs::create_directory(path("a.kith.checkpoint"));
    context.cancel();
  });
  io_error([&] { train(plan(words_to("a.kith")), context, &blocks); });
}

TEST_F(TrainTest, ACheckpointOfAnotherRunIsNotTouchedWithoutNeed) {
  {
    Context context(1);
    CancelsAt cancels(context, 1);
    train(plan(words_to("a.kith")), context, &cancels);
  }
  const std::string left = bytes_of(path("a.kith.checkpoint"));
  train_now(words_to("a.kith", {whole("seed", 2)}));
  EXPECT_EQ(bytes_of(path("a.kith.checkpoint")), left);
}

// The model cannot be put in its place; what was learned is not lost.
TEST_F(TrainTest, ARunThatFailsAtItsEndKeepsItsCheckpoint) {
  {
    Context context(1);
    CancelsAt cancels(context, 1);
    train(plan(words_to("a.kith")), context, &cancels);
  }
  TrainRequest again = words_to("a.kith");
  again.options.resume = true;
  DoesAt blocks(1, [&] { fs::create_directory(path("a.kith")); });
  io_error([&] { train_now(again, 1, &blocks); });
  EXPECT_TRUE(blocks.noted(path("a.kith.checkpoint") +
                           " is kept; once the cause is gone, --resume continues from it"));
  fs::remove(path("a.kith"));
  EXPECT_TRUE(train_now(again).finished);
  EXPECT_EQ(bytes_of(path("a.kith")), bytes_of(words().path()));
}

// --- The schema ---

TEST_F(TrainTest, WhatTheColumnsAreIsWrittenBesideTheModel) {
  const TrainRequest asked = request("feat2vec", places_file(), path("a.kith"), quick_places());
  Events events;
  train_now(asked, 1, &events);
  const std::string schema = path("a.schema.json");
  ASSERT_TRUE(fs::exists(schema));
  expect_part("\"city\"", bytes_of(schema));
  const auto& notes = events.profiles.at(0).notes;
  expect_part("the types of the columns were written to " + schema, notes.back().text);
  EXPECT_EQ(events.profiles[0].columns.size(), 8u);

  // What stands there may have been edited: it is put aside, and is not read.
  const std::string edited = R"({"columns": [{"name": "city", "type": "ignore"}]})";
  write("a.schema.json", edited);
  Events again;
  train_now(asked, 1, &again);
  EXPECT_EQ(bytes_of(schema + ".1"), edited);
  expect_part("was not used: to use it, give --schema " + schema + ".1",
              again.profiles.at(0).notes.back().text);
  const std::string plain = bytes_of(schema);
  expect_part("\"city\"", plain);
  write("a.schema.json", "{}");
  train_now(asked);
  EXPECT_EQ(bytes_of(schema), plain);
  EXPECT_EQ(bytes_of(schema + ".1"), edited);
  EXPECT_EQ(bytes_of(schema + ".2"), "{}");
  train_now(asked);
  EXPECT_FALSE(fs::exists(schema + ".3")) << "the same again";
  EXPECT_EQ(bytes_of(path("a.kith")), bytes_of(places().path()));
  // What nobody has edited is replaced, and goes with the model.
  TrainRequest other = asked;
  other.settings.push_back(text("types", "city=ignore"));
  train_now(other);
  EXPECT_NE(bytes_of(schema), plain);
  train_now(asked);
  EXPECT_EQ(bytes_of(schema), plain);
  EXPECT_FALSE(fs::exists(schema + ".3")) << "nobody wrote it but the program";
  train_now(words_to("a.kith"));
  EXPECT_FALSE(fs::exists(schema));
  train_now(asked);
  // Unless it is given.
  TrainRequest given = asked;
  given.settings.push_back(text("schema", schema + ".1"));
  train_now(given);
  expect_part("the model has no column city", message_of(ErrorKind::kUsage, [&] {
                predict(open(path("a.kith")), {"city=Rome"}, {.target = "country"});
              }));
}

// --- Going on from a model ---

TEST_F(TrainTest, ARunFromAModelAddsNewWords) {
  std::string more;
  for (int i = 0; i < 50; ++i) more += "ship sail zeppelin balloon wave zeppelin\n";
  const TrainRequest asked =
      request("", write("more.txt", more), path("b.kith"),
              {text("from", words().path()), whole("epochs", 1), flag("deterministic", true)});
  Events events;
  const Trained done = train_now(asked, 1, &events);
  EXPECT_EQ(done.vectors, kTopics.size() * kTopicWords + 1 + 2);
  const Model model = open(path("b.kith"));
  EXPECT_EQ(near(model, {"zeppelin", "oven"}, {}, two_threads())[1].error, "");
  // Words that did not occur are as they were, and those that did have moved.
  EXPECT_EQ(similarity(model, "oven", "bread"), similarity(words(), "oven", "bread"));
  EXPECT_NE(similarity(model, "ship", "oven"), similarity(words(), "ship", "oven"));
  expect_part("from = ", model.run_settings());
}

TEST_F(TrainTest, ARunFromAModelAddsNewValues) {
  std::string rows(kPlacesHeader);
  for (int i = 0; i < 20; ++i) {
    rows += fmt::format("n{},Bergamo,Rome,Italy,opera|marble,1922,1922-06-02,a place\n", i);
  }
  train_now(request("", write("more.csv", rows), path("b.kith"), {text("from", places().path())}));
  const Model model = open(path("b.kith"));
  EXPECT_EQ(predict(model, {"city=Bergamo"}, {.target = "country"}).candidates[0].id, "Italy");
  EXPECT_EQ(predict(model, {"city=Lima"}, {.target = "country"}).candidates[0].id, "Peru");
}

TEST_F(TrainTest, ARunFromAModelCanBeResumed) {
  const std::string more = write("more.txt", topic_text(600, 7) + "zeppelin balloon ship\n");
  const TrainRequest asked = request("", more, path("a.kith"),
                                     {text("from", words().path()), flag("deterministic", true)});
  Events whole_run;
  train_now(asked, 1, &whole_run);
  const std::string truth = bytes_of(path("a.kith"));
  fs::remove(path("a.kith"));
  Context context(1);
  CancelsAt cancels(context, whole_run.trainings.size() / 2);
  ASSERT_FALSE(train(plan(asked), context, &cancels).finished);
  TrainRequest again = request("", more, path("a.kith"));
  again.options.resume = true;
  EXPECT_TRUE(train_now(again, 2).finished);
  EXPECT_EQ(bytes_of(path("a.kith")), truth);
}

}  // namespace
}  // namespace kith::test
