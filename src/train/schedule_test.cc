// SPDX-License-Identifier: Apache-2.0
#include "train/schedule.h"

#include <gtest/gtest.h>

#include <string>

#include "train/test_scripted.h"

namespace kith {
namespace {

using test::Script;
using test::ScriptedCourse;

Script watched(bool refit) {
  Script script{.losses = {9, 5, 4, 4.5, 4.6}, .blocks = 3, .refit = refit};
  script.plan = {.epochs = 4, .lr = 1, .early_stop = 2};
  return script;
}

TEST(Schedule, AModelThatDoesNotRefitKeepsItsBestEpoch) {
  Job job;
  RunState state;
  ScriptedCourse course(watched(false), state, job);
  EXPECT_TRUE(train(course, state, job));
  EXPECT_TRUE(state.finished && course.finished && !course.everything);
  EXPECT_EQ(course.parameter, 6u);
  EXPECT_EQ(course.starts, std::vector{Start::kFirst});
}

TEST(Schedule, TheSecondRunIsOnEverythingForAsManyEpochsAsWereBest) {
  Job job;
  RunState state;
  ScriptedCourse course(watched(true), state, job);
  EXPECT_TRUE(train(course, state, job));
  EXPECT_TRUE(course.everything);
  EXPECT_EQ(course.starts, (std::vector{Start::kFirst, Start::kAgain}));
  EXPECT_EQ(state.refit, 2u);
  EXPECT_EQ(course.parameter, 6u);  // two epochs of three blocks
  EXPECT_EQ(course.blocks_trained, 12u + 6u);
  EXPECT_EQ(state.held_out_now(), 4);  // what the first run measured stands
  // The rate falls as it did in the first run.
  EXPECT_EQ(course.rates[12], course.rates[0]);
  EXPECT_EQ(course.rates[17], course.rates[5]);
}

// What it says is what it does: without early stopping no epoch is the best.
TEST(Schedule, TheSecondRunSaysForHowLong) {
  for (const int early_stop : {0, 2}) {
    Job job;
    RunState state;
    Script script = watched(true);
    script.plan.early_stop = early_stop;
    std::string said;
    job.on_progress = [&](const Progress& p) {
      if (p.refit && p.note) said = p.note;
    };
    ScriptedCourse course(script, state, job);
    EXPECT_TRUE(train(course, state, job));
    EXPECT_EQ(state.refit, early_stop ? 2u : 4u);
    EXPECT_EQ(said, early_stop ? "now training again with what was held out, for the best number "
                                 "of epochs"
                               : "now training again with what was held out, for as many epochs");
  }
}

// A rate that was too high for the first run is too high for the second.
TEST(Schedule, TheSecondRunKeepsARateThatWasHalved) {
  Job job;
  RunState state;
  Script script = watched(true);
  script.diverges_at = 1;
  ScriptedCourse course(script, state, job);
  EXPECT_TRUE(train(course, state, job));
  EXPECT_EQ(state.lr_scale, 0.5);
  // Two blocks that were in vain, four epochs of three blocks, and two in the second run.
  ASSERT_EQ(course.rates.size(), 2u + 12u + 6u);
  EXPECT_EQ(course.rates[2], course.rates[0] / 2);
  EXPECT_EQ(course.rates[14], course.rates[2]);
  EXPECT_EQ(course.rates[19], course.rates[7]);
}

// What it reports is of the second run alone: its epochs, and that nothing is held out.
TEST(Schedule, TheSecondRunIsReportedAsOne) {
  Job job;
  RunState state;
  ScriptedCourse course(watched(true), state, job);
  std::vector<Progress> first, second;
  job.on_progress = [&](const Progress& p) { (p.refit ? second : first).push_back(p); };
  EXPECT_TRUE(train(course, state, job));
  EXPECT_EQ(first.front().total, 12u);  // four epochs of three blocks
  ASSERT_EQ(second.size(), 6u);
  for (const Progress& p : second) {
    EXPECT_EQ(p.total, 6u);
    EXPECT_FALSE(p.held_out);
  }
  EXPECT_EQ(second.back().done, second.back().total);
}

TEST(Schedule, IfNothingWasBetterThanTheStartThereIsNoSecondRun) {
  Job job;
  RunState state;
  Script script = watched(true);
  script.losses = {3, 5, 5, 5, 5};
  script.plan.start_counts = true;
  ScriptedCourse course(script, state, job);
  EXPECT_TRUE(train(course, state, job));
  EXPECT_EQ(course.starts, (std::vector{Start::kFirst, Start::kNothing}));
  EXPECT_EQ(state.refit, 0u);
  EXPECT_EQ(course.parameter, 0u);
}

TEST(Schedule, ResumedInEitherRunItEndsTheSame) {
  for (const uint64_t stop : {1u, 5u, 11u, 13u, 17u}) {
    RunState state;
    size_t parameter = 0, best = 0, trained = 0;
    bool everything = false;
    for (int part = 0; part < 2; ++part) {
      Job job;
      ScriptedCourse course(watched(true), state, job);
      course.parameter = parameter;
      course.best = best;
      course.everything = everything;
      uint64_t seen = 0;
      if (part == 0) {
        job.on_progress = [&](const Progress&) {
          if (++seen == stop) job.cancel();
        };
      }
      const bool finished = train(course, state, job);
      EXPECT_EQ(finished, part == 1) << stop;
      parameter = course.parameter;
      best = course.best;
      everything = course.everything;
      trained += course.blocks_trained;
    }
    EXPECT_EQ(parameter, 6u) << stop;
    EXPECT_EQ(trained, 18u) << stop;
    EXPECT_EQ(state.refit, 2u) << stop;
  }
}

}  // namespace
}  // namespace kith
