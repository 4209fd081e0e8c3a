// SPDX-License-Identifier: Apache-2.0
#pragma once
// The whole of a training: a run that is watched by what is held out; then, if the model wants it
// and something was held out, one on everything, for as many epochs as were best.

#include "train/run.h"

namespace kith {

// Where the parameters of a run start.
enum class Start {
  kFirst,    // the run on what is not held out, or the only one
  kAgain,    // the run on everything: the parameters are the first one's best
  kNothing,  // no epoch was better than the start: what this leaves is the model
};

// What a model brings to its training.
class Course : public Trainee {
 public:
  virtual RunPlan plan() const = 0;  // of the first run
  // Whether there is a second one.
  virtual bool refits() const { return false; }
  // Makes everything, what was held out included, the data of the run that comes.
  virtual void take_everything() {}
  virtual void start(Start start) = 0;
  // Makes the parameters of the last run those to be saved.
  virtual void finish() {}
  void restart() override { start(Start::kFirst); }
};

// Trains, or goes on where a restored checkpoint stopped; true at the end, which `state` then says.
bool train(Course& course, RunState& state, Job& job);

}  // namespace kith
