// SPDX-License-Identifier: Apache-2.0
// The picture of a run, from what its trainer said.
#include <gtest/gtest.h>

#include <string>

#include "api/training.h"

namespace kith {
namespace {

Progress closing(int epoch, double loss, std::optional<double> held_out = {}, bool refit = false) {
  Progress p;
  p.epoch = epoch;
  p.loss = loss;
  p.held_out = held_out;
  p.refit = refit;
  p.epoch_done = true;
  p.total = 100;
  return p;
}

TrainingReport report() {
  return {nullptr, "row", 10, false, [](double x) { return 2 * x; }};
}

size_t count_of(const std::string& text, std::string_view part) {
  size_t out = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

TEST(TrainingPlot, TheCurveIsWhatWasSaid) {
  TrainingReport r = report();
  Progress middle = closing(1, 9);
  middle.epoch_done = false;  // within an epoch
  r.update(middle);
  r.update(closing(1, 3, 0.5));
  r.update(closing(2, 2, 0.25));
  Progress kept = closing(1, 0, 0.5);
  kept.kept = true;
  kept.epoch_done = false;
  r.update(kept);
  r.update(closing(1, 2.5, {}, true));
  const TrainingCurve curve = r.take_curve();
  ASSERT_EQ(curve.points.size(), 3u);
  EXPECT_EQ(curve.points[1].loss, 2);
  EXPECT_EQ(curve.points[1].held_out, 0.5);  // as people are told it: twice
  EXPECT_EQ(curve.kept, 1);
  EXPECT_TRUE(curve.points[2].refit);
  EXPECT_EQ(curve.points[2].held_out, std::nullopt);
}

TEST(TrainingPlot, WhatWasLostIsNotDrawn) {
  TrainingReport r = report();
  r.update(closing(1, 3));
  r.update(closing(2, 30));
  r.update(closing(1, 2));  // with half the rate
  const TrainingCurve curve = r.take_curve();
  ASSERT_EQ(curve.points.size(), 1u);
  EXPECT_EQ(curve.points[0].loss, 2);
}

TEST(TrainingPlot, HasALineForEachRunAndForWhatIsHeldOut) {
  TrainingCurve curve;
  EXPECT_EQ(count_of(training_plot(curve, "nothing"), "<polyline"), 1u);  // and no line in it
  curve.points = {{1, 3, {}, false}, {2, 2, {}, false}};
  const std::string plain = training_plot(curve, "a < b");
  EXPECT_EQ(count_of(plain, "<polyline"), 1u);
  EXPECT_EQ(count_of(plain, "a &lt; b"), 1u);
  EXPECT_EQ(count_of(plain, "held-out loss"), 0u);
  curve.before = 5;
  curve.kept = 1;
  curve.points = {{1, 3, 2.0, false}, {2, 2, 2.5, false}, {1, 3.5, {}, true}};
  const std::string whole = training_plot(curve, "m");
  EXPECT_EQ(count_of(whole, "<polyline"), 4u);  // held out, what is kept of it, two runs
  EXPECT_EQ(count_of(whole, "held-out loss"), 1u);
  EXPECT_EQ(count_of(whole, ">kept<"), 1u);
  EXPECT_EQ(count_of(whole, "second run, on all data"), 1u);
}

}  // namespace
}  // namespace kith
