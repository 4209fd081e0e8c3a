// SPDX-License-Identifier: Apache-2.0
// When a run stops, and which epoch it leaves, for held-out losses that are known beforehand.

#include "train/run.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "train/test_scripted.h"

namespace kith {
namespace {

using test::Script;
using test::ScriptedCourse;

struct Outcome {
  size_t trained, parameter;
  std::optional<double> held_out;
};
Outcome outcome(std::vector<double> losses, int early_stop, bool start_counts) {
  Job job;
  RunState state;
  Script script{.losses = losses};
  script.plan = {.epochs = static_cast<int>(losses.size()) - 1,
                 .early_stop = early_stop,
                 .start_counts = start_counts};
  ScriptedCourse course(script, state, job);
  EXPECT_TRUE(TrainingRun(script.plan, state, course, job).go());
  return {course.blocks_trained, course.parameter, state.held_out_now()};
}

TEST(Run, StopsWhenPatienceIsOverAndTakesTheBest) {
  const Outcome o = outcome({9, 5, 4, 4.5, 4.6, 1, 1}, 2, false);
  EXPECT_EQ(o.trained, 4u);
  EXPECT_EQ(o.parameter, 2u);
  EXPECT_EQ(o.held_out, 4);
}

TEST(Run, WithoutEarlyStoppingTheLastEpochStands) {
  const Outcome o = outcome({9, 5, 4, 4.5, 4.6}, 0, true);
  EXPECT_EQ(o.trained, 4u);
  EXPECT_EQ(o.parameter, 4u);
}

TEST(Run, AStartThatCountsDoesNotEndTheClimbAwayFromIt) {
  // Above the start for three epochs, which is all the patience there is, and then far below.
  const Outcome o = outcome({3, 3.1, 3.2, 3.15, 2, 1, 0.5, 0.6, 0.7, 0.8, 0.9}, 3, true);
  EXPECT_EQ(o.trained, 9u);
  EXPECT_EQ(o.parameter, 6u);
  EXPECT_EQ(o.held_out, 0.5);
}

TEST(Run, AStartThatCountsMayBeTheBest) {
  const Outcome o = outcome({3, 4, 4.1, 4.2, 4.3, 4.4, 4.5, 4.6, 4.7}, 3, true);
  EXPECT_EQ(o.trained, 6u);
  EXPECT_EQ(o.parameter, 0u);
  EXPECT_EQ(o.held_out, 3);
}

TEST(Run, AStartThatDoesNotCountIsNotTaken) {
  const Outcome o = outcome({3, 4, 4.1, 4.2, 4.3}, 2, false);
  EXPECT_EQ(o.trained, 3u);
  EXPECT_EQ(o.parameter, 1u);
}

TEST(Run, ACancelInsideASegmentStopsAfterTheBlockUnderWay) {
  Job job;
  RunState state;
  Script script{.losses = {}, .blocks = 100, .segment = 50, .cancels_at = 7};
  script.plan.epochs = 2;
  ScriptedCourse course(script, state, job);
  EXPECT_FALSE(TrainingRun(script.plan, state, course, job).go());
  EXPECT_EQ(state.block, 8u);
  EXPECT_EQ(course.parameter, 8u);
}

// Where a run is cut must leave no trace: the state at the end is the same to the last bit.
TEST(Run, ResumedAnywhereItEndsInTheSameState) {
  const auto all = [](std::optional<uint64_t> stop_at, bool cancel_scoring) {
    RunState state;
    size_t parameter = 0, best = 0;
    for (int part = 0; part < 3 && !state.finished; ++part) {
      Job job;
      Script script{.losses = {9, 5, 4, 4.5, 4.6, 4.7, 4.8}, .blocks = 10, .segment = 4};
      script.plan = {.epochs = 6, .lr = 1, .early_stop = 3};
      if (part == 0) script.cancels_at = stop_at;
      if (part == 0) script.cancel_scoring = cancel_scoring;
      ScriptedCourse course(script, state, job);
      course.parameter = parameter;
      course.best = best;
      state.finished = TrainingRun(script.plan, state, course, job).go();
      parameter = course.parameter;
      best = course.best;
    }
    EXPECT_TRUE(state.finished);
    return std::tuple(state.block, state.loss, state.held_out, state.kept, parameter);
  };
  const auto whole = all(std::nullopt, false);
  EXPECT_EQ(std::get<0>(whole), 50u);
  for (uint64_t block = 0; block < 50; ++block) {
    EXPECT_EQ(all(block, false), whole) << "cut after block " << block;
  }
  EXPECT_EQ(all(std::nullopt, true), whole) << "cut while the first epoch was scored";
}

TEST(Run, ANumberThatIsNotFiniteHalvesTheRateAndStartsAnew) {
  Job job;
  RunState state;
  Script script{.losses = {3, 2, 1}, .blocks = 4, .diverges_at = 5};
  script.plan = {.epochs = 2, .lr = 1};
  ScriptedCourse course(script, state, job);
  std::string notes;
  job.on_progress = [&](const Progress& p) { notes += p.note ? p.note : ""; };
  EXPECT_TRUE(train(course, state, job));
  EXPECT_EQ(state.lr_scale, 0.5);
  EXPECT_EQ(course.starts.size(), 2u);
  EXPECT_EQ(course.rates.front(), 1);
  EXPECT_EQ(course.rates[6], 0.5);
  EXPECT_EQ(course.parameter, 8u);
  EXPECT_EQ(state.held_out, (std::vector<double>{3, 2, 1}));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "half the learning rate", notes);
}

// Ten times the start, and one more: for what is held out and for what is trained on.
TEST(Run, ALossFarAboveItsStartIsADivergenceToo) {
  const auto end = [](Script script) -> std::string {
    Job job;
    RunState state;
    script.plan = {.epochs = 2, .lr = 1};
    ScriptedCourse course(script, state, job);
    try {
      train(course, state, job);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kDiverged);
      EXPECT_EQ(course.starts.size(), 4u);
      return e.what();
    }
    EXPECT_EQ(course.starts.size(), 1u);
    return "";
  };
  EXPECT_EQ(end({.losses = {2, 1, 20.9}}), "");
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "the held-out loss is 21.1 after epoch 2 and was 2 at the start",
                      end({.losses = {2, 1, 21.1}}));
  EXPECT_EQ(end({.losses = {}, .first_loss = 2, .growth = 18.9}), "");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "the loss is 21.1 after epoch 2 and was 2 at the start",
                      end({.losses = {}, .first_loss = 2, .growth = 19.1}));
}

// What the loss began with belongs to the state: a run that was cut goes on with it.
TEST(Run, WhatALossBeganWithOutlivesAPause) {
  RunState state;
  Script script{.losses = {}, .first_loss = 2, .growth = 19.1};
  script.plan = {.epochs = 2, .lr = 1};
  script.cancels_at = 0;
  Job first;
  ScriptedCourse course(script, state, first);
  EXPECT_FALSE(TrainingRun(script.plan, state, course, first).go());
  EXPECT_EQ(state.first_loss, 2);
  script.cancels_at.reset();
  Job second;
  ScriptedCourse rest(script, state, second);
  EXPECT_THROW(TrainingRun(script.plan, state, rest, second).go(), Error);
}

// The losses may be fine where a parameter is not.
TEST(Run, AParameterThatIsNotFiniteIsFoundAtTheEndOfItsEpoch) {
  Job job;
  RunState state;
  Script script{.losses = {3, 2, 1}, .blocks = 4, .spoils = true};
  script.plan = {.epochs = 2, .lr = 1};
  ScriptedCourse course(script, state, job);
  EXPECT_TRUE(train(course, state, job));
  EXPECT_EQ(state.lr_scale, 0.5);
  EXPECT_EQ(course.blocks_trained, 4u + 8u) << "an epoch, and all of it again";
  EXPECT_EQ(state.held_out, (std::vector<double>{3, 2, 1}));
}

TEST(Run, GivesUpAfterThreeRollbacks) {
  Job job;
  RunState state;
  Script script{.losses = {3, 2, 1}};
  script.plan = {.epochs = 2, .lr = 1};
  ScriptedCourse course(script, state, job);
  // Whoever saves a checkpoint finds that a number is not finite, at whatever rate.
  job.on_progress = [](const Progress&) { throw fault(ErrorKind::kDiverged, "not finite"); };
  try {
    train(course, state, job);
    FAIL() << "it never gave up";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kDiverged);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "halved 3 times", e.what());
  }
  EXPECT_EQ(course.rates, (std::vector<double>{1, 0.5, 0.25, 0.125}));
}

TEST(Run, ConvergedIsTheEndOfItAlsoAfterAPause) {
  Job job;
  RunState state;
  Script script{.losses = {3, 2, 1, 0}, .converges_at = 2};
  script.plan = {.epochs = 3};
  ScriptedCourse course(script, state, job);
  EXPECT_TRUE(TrainingRun(script.plan, state, course, job).go());
  EXPECT_EQ(course.parameter, 2u);
  EXPECT_TRUE(state.converged);
  EXPECT_TRUE(TrainingRun(script.plan, state, course, job).go());
  EXPECT_EQ(course.parameter, 2u);
}

}  // namespace
}  // namespace kith
