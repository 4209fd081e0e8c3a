// SPDX-License-Identifier: Apache-2.0
#include "kith/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "api/test_models.h"

namespace kith::test {
namespace {

// Nothing is written, but a plan has an output.
TrainRequest als(const Settings& settings = {}) {
  return request("als", ratings_file(), shared_folder().path() + "/tuned.kith",
                 Settings{whole("dim", 4), whole("epochs", 6)} + settings);
}
Tuned tuned(const TuneOptions& options, const TrainRequest& asked = als(), int threads = 1,
            Observer* observer = nullptr) {
  Context context(threads);
  return tune(plan(asked), options, context, observer);
}

void expect_same(const Tuned& a, const Tuned& b) {
  EXPECT_EQ(a.names, b.names);
  EXPECT_EQ(a.best, b.best);
  ASSERT_EQ(a.trials.size(), b.trials.size());
  for (size_t i = 0; i < a.trials.size(); ++i) {
    EXPECT_EQ(a.trials[i].values, b.trials[i].values) << i;
    EXPECT_EQ(a.trials[i].held_out, b.trials[i].held_out) << i;
  }
}

TEST(Tune, TheBestHasTheLeastHeldOutScore) {
  const Tuned found = tuned({.trials = 12});
  ASSERT_EQ(found.trials.size(), 12u);
  EXPECT_EQ(found.model, "als");
  EXPECT_FALSE(found.cancelled);
  for (const Trial& trial : found.trials) {
    ASSERT_TRUE(trial.held_out);
    EXPECT_GE(*trial.held_out, *found.trials[found.best].held_out);
  }
  EXPECT_GT(found.best, 0u);  // that something is better than this is seen at once
}

TEST(Tune, TheFirstRunIsThatOfTheSettingsAsGiven) {
  const Tuned found = tuned({.trials = 2, .search = "dim"}, als({whole("dim", 3)}));
  EXPECT_EQ(found.trials[0].values, Strings{"3"});
  const TestFolder folder;
  const Trained alone = train_now(
      request("als", ratings_file(), folder.path() + "/a.kith",
              {whole("dim", 3), whole("epochs", 6), number("holdout", 0.1), flag("refit", false)}));
  EXPECT_EQ(found.trials[0].held_out, alone.held_out);
}

// Half the squared error in units of the column's spread says little, and runs that end with
// another loss could not be compared.
TEST(Tune, ANumberIsJudgedByItsErrorAsTrainingTellsIt) {
  const Settings given{text("target", "year"), whole("dim", 4), whole("epochs", 3),
                       number("holdout", 0.2), flag("deterministic", true)};
  const TestFolder folder;
  Events events;
  const Tuned found =
      tuned({.trials = 2, .search = "lr"},
            request("feat2vec", places_file(), folder.path() + "/t.kith", given), 1, &events);
  const Trained alone =
      train_now(request("feat2vec", places_file(), folder.path() + "/a.kith", given));
  ASSERT_TRUE(found.trials[0].held_out && alone.held_out);
  EXPECT_EQ(*found.trials[0].held_out, *alone.held_out);
  EXPECT_GT(*alone.held_out, 0.2) << "years, not units of their spread";
  const auto told = [](const Note& n) {
    return n.text == "held-out is the root mean square error of year";
  };
  EXPECT_TRUE(std::ranges::any_of(events.notes, told));
}

TrainRequest labels() {
  return request("classifier", labelled_file(), shared_folder().path() + "/tuned.kith",
                 {whole("dim", 8), whole("epochs", 3)});
}

// Whatever the number of threads, which race where nobody asks for the same bits.
TEST(Tune, LabelsAreTunedTheSameByAnyThreads) {
  const TuneOptions all{.trials = 8, .search = "dim,word-ngrams,epochs,lr"};
  const Tuned one = tuned(all, labels());
  EXPECT_EQ(one.names, (Strings{"dim", "word-ngrams", "epochs", "lr"}));
  std::set<Strings> settings;
  for (const Trial& trial : one.trials) settings.insert(trial.values);
  EXPECT_EQ(settings.size(), 8u);
  expect_same(one, tuned(all, labels(), 2));
}

// Not by how sure of themselves they are: the loss is that of the best power of what they say.
TEST(Tune, LabelsAreJudgedAsIfTheyWereCalibrated) {
  const Tuned found = tuned({.trials = 1}, labels());
  const TestFolder folder;
  TrainRequest same = labels();
  same.options.output = folder.path() + "/a.kith";
  same.settings = same.settings + Settings{number("holdout", 0.2)};
  const Trained alone = train_now(same);
  ASSERT_TRUE(found.trials[0].held_out && alone.held_out);
  EXPECT_LT(*found.trials[0].held_out, 0.9 * *alone.held_out);
}

TEST(Tune, TheSameSeedGivesTheSameRuns) {
  const Tuned one = tuned({.trials = 6});
  expect_same(one, tuned({.trials = 6}));
  expect_same(one, tuned({.trials = 6}, als(), 4));
  const Tuned other = tuned({.trials = 6}, als({whole("seed", 2)}));
  EXPECT_NE(one.trials[1].values, other.trials[1].values);
  // More of them begin alike.
  const Tuned longer = tuned({.trials = 8});
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(longer.trials[i].values, one.trials[i].values) << i;
}

TEST(Tune, OnlyWhatIsAskedForIsSearched) {
  const FieldGroup settings = describe_model("als").settings;
  const Tuned all = tuned({.trials = 3});
  for (const std::string& name : all.names) EXPECT_TRUE(settings.find(name)->search) << name;
  EXPECT_GE(all.names.size(), 2u);
  const Tuned some = tuned({.trials = 6, .search = "penalty,dim"});
  EXPECT_EQ(some.names, (Strings{"dim", "penalty"}));  // in the order of the model
  for (size_t i = 1; i < some.trials.size(); ++i) {
    for (size_t d = 0; d < some.names.size(); ++d) {
      const Range range = *settings.find(some.names[d])->search;
      const double value = std::stod(some.trials[i].values[d]);
      EXPECT_GE(value, range.low) << some.names[d];
      EXPECT_LE(value, range.high) << some.names[d];
      if (some.names[d] != "dim") continue;
      EXPECT_EQ(value, std::round(value));
    }
  }
  EXPECT_EQ(tuned({.trials = 2, .search = "dim"}).names, Strings{"dim"});
}

TEST(Tune, WhatIsGivenStays) {
  Events events;
  const Tuned found = tuned({.trials = 3}, als({number("penalty", 0.2)}), 1, &events);
  EXPECT_EQ(found.names, Strings{"column-penalty"});
  EXPECT_EQ(found.fixed, (Strings{"dim", "penalty"}));
  ASSERT_EQ(events.notes.size(), 1u);
  EXPECT_EQ(events.notes[0].text,
            "dim and penalty as given, not searched; to search around the values: "
            "--search dim,penalty");
  // A request that names a setting has it searched, the given value first.
  const Tuned around = tuned({.trials = 2, .search = "penalty"}, als({number("penalty", 0.2)}));
  EXPECT_EQ(around.names, Strings{"penalty"});
  EXPECT_EQ(around.trials[0].values, Strings{"0.2"});
  EXPECT_EQ(around.fixed, Strings{"dim"});
  EXPECT_EQ(tuned({.trials = 1}, als({number("penalty", 0.2), text("penalty", "auto")})).fixed,
            Strings{"dim"});
  expect_part("all settings of classifier with a range are given", usage_error([] {
                tuned({}, request("classifier", labelled_file(), shared_folder().path() + "/a.kith",
                                  {whole("dim", 8), whole("epochs", 3), whole("word_ngrams", 1),
                                   number("lr", 0.5)}));
              }));
}

TEST(Tune, NothingIsTriedTwice) {
  const Tuned found = tuned({.trials = 40, .search = "dim"}, als({whole("epochs", 1)}));
  ASSERT_EQ(found.trials.size(), 40u);
  std::set<Strings> tried;
  for (const Trial& trial : found.trials) EXPECT_TRUE(tried.insert(trial.values).second);
}

// What changes the question that the held-out loss asks, such as the number of negatives, cannot be
// judged by it.
TEST(Tune, WhatMattersIsSearchedInEveryModel) {
  const auto searched = [](const char* model) {
    Strings out;
    for (const FieldInfo& f : describe_model(model).settings.fields) {
      if (f.search) out.emplace_back(f.name);
    }
    return out;
  };
  EXPECT_EQ(searched("word2vec"), (Strings{"dim", "epochs", "lr"}));
  EXPECT_EQ(searched("fasttext"), searched("word2vec"));
  EXPECT_EQ(searched("feat2vec"), (Strings{"dim", "lr", "l2"}));
}

TEST(Tune, WhatHasNoRangeCannotBeSearched) {
  EXPECT_EQ(usage_error([] { tuned({.trials = 2, .search = "penalt"}); }),
            "penalt has no range to search; did you mean penalty?");
  expect_part("epochs has no range to search; these have: dim, penalty",
              usage_error([] { tuned({.trials = 2, .search = "epochs"}); }));
  EXPECT_EQ(usage_error([] {
              tuned({}, request("svp", ratings_file(), shared_folder().path() + "/a.kith"));
            }),
            "svp has no settings with a range to search");
}

TEST(Tune, ABudgetOfNothingIsOneRun) {
  EXPECT_EQ(tuned({.budget = 0}).trials.size(), 1u);
  EXPECT_EQ(tuned({.budget = 0, .trials = 3}).trials.size(), 3u);  // whatever they take
  EXPECT_EQ(tuned({.trials = 1}).trials.size(), 1u);
}

// Within a budget as many as fit; one that is long enough for a few.
TEST(Tune, ABudgetIsUsed) { EXPECT_GT(tuned({.budget = 0.3}).trials.size(), 2u); }

TEST(Tune, MoreIsHeldOutThanByTrainingUnlessItIsSaid) {
  const auto held_out = [](const Settings& settings) {
    Events events;
    tuned({.budget = 0}, als(settings), 1, &events);
    const Profile& profile = events.profiles.at(0);
    return static_cast<double>(profile.held_out) /
           static_cast<double>(profile.held_out + profile.size);
  };
  EXPECT_NEAR(held_out({}), 0.1, 0.03);
  EXPECT_NEAR(held_out({number("holdout", 0.3)}), 0.3, 0.05);
}

TEST(Tune, SomethingMustBeHeldOut) {
  EXPECT_EQ(usage_error([] { tuned({.budget = 0}, als({number("holdout", 0)})); }),
            "nothing was held out to compare settings with; give --holdout, or more data");
}

// What nobody gave is not given by being searched around.
TEST(Tune, AutomaticValuesSurvive) {
  const Tuned found = tuned({.trials = 1, .search = "dim,penalty"}, als({whole("dim", 5)}));
  EXPECT_EQ(found.trials[0].values, (Strings{"5", "auto"}));
  const std::vector<Setting> best = found.best_settings();
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].name, "dim");
  EXPECT_EQ(detail::whole_number(best[0].value), 5);
  const Tuned given = tuned({.trials = 1, .search = "penalty"}, als({number("penalty", 0.25)}));
  EXPECT_EQ(given.trials[0].values, Strings{"0.25"});
  EXPECT_NE(given.trials[0].held_out, tuned({.trials = 1, .search = "penalty"}).trials[0].held_out);
}

TEST(Tune, TheBestSettingsTrainAModelAsGood) {
  const Tuned found = tuned({.trials = 8});
  const TestFolder folder;
  const Trained done = train_now(request(
      "als", ratings_file(), folder.path() + "/a.kith",
      Settings{whole("dim", 4), whole("epochs", 6), number("holdout", 0.1), flag("refit", false)} +
          found.best_settings()));
  EXPECT_EQ(done.held_out, found.trials[found.best].held_out);
}

TEST(Tune, TellsOfEachRun) {
  Events events;
  const Tuned found = tuned({.trials = 6, .search = "dim,penalty"}, als(), 1, &events);
  EXPECT_EQ(events.order, (Strings{"profile", "attempt"}));
  ASSERT_EQ(events.attempts.size(), 5u);  // the first is the settings as given
  size_t best = 0;
  for (size_t i = 0; i < events.attempts.size(); ++i) {
    const Attempt& attempt = events.attempts[i];
    EXPECT_EQ(attempt.number, i + 1);
    EXPECT_EQ(attempt.total, 6u);
    EXPECT_EQ(attempt.better, *found.trials[i + 1].held_out < *found.trials[best].held_out) << i;
    if (attempt.better) {
      best = i + 1;
      expect_part("--dim " + found.trials[best].values[0], attempt.text);
    } else {
      expect_part("best held-out", attempt.text);
    }
  }
  EXPECT_EQ(best, found.best);
}

TEST(Tune, StopsWhenAskedWithWhatItHas) {
  Context context(1);
  struct Cancels : Events {
    explicit Cancels(Context& c) : context(c) {}
    using Events::on;
    void on(const Attempt& e) override {
      Events::on(e);
      if (attempts.size() == 2) context.cancel();
    }
    Context& context;
  } cancels(context);
  const Tuned found = tune(plan(als()), {.trials = 50}, context, &cancels);
  EXPECT_TRUE(found.cancelled);
  EXPECT_EQ(found.trials.size(), 3u);
  for (const Trial& trial : found.trials) {
    EXPECT_GE(*trial.held_out, *found.trials[found.best].held_out);
  }
}

TEST(Tune, OtherModelsAreTunedToo) {
  const std::string output = shared_folder().path() + "/tuned.kith";
  const Tuned text_run =
      tuned({.trials = 3, .search = "lr"}, request("word2vec", text_file(), output, quick_words()));
  EXPECT_EQ(text_run.names, Strings{"lr"});
  EXPECT_EQ(text_run.trials[0].values, Strings{"auto"});
  EXPECT_TRUE(text_run.trials[1].held_out);
  const Tuned table = tuned({.trials = 2, .search = "lr"},
                            request("feat2vec", places_file(), output, quick_places()));
  EXPECT_EQ(table.trials[0].values, Strings{"auto"});
  EXPECT_EQ(table.trials.size(), 2u);
}

}  // namespace
}  // namespace kith::test
