// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/parallel.h"

namespace kith {

// What a trainer says at a safe point: no worker is running, and saving the model now and
// training the saved copy on gives what this run would have given.
struct Progress {
  uint64_t done = 0, total = 0;  // units of work, in the model's own unit
  double loss = 0;               // mean over the epoch so far
  double lr = 0;
  int epoch = 0;                   // counted from 1
  bool epoch_done = false;         // this report closes the epoch
  std::optional<double> held_out;  // set when it was measured at this point
  const char* note = nullptr;      // something the user should read, such as a rollback
  bool refit = false;              // of a second run, on all data: nothing is held out
  bool kept = false;  // the last report: `held_out` is of what was kept, an earlier epoch's
};

// Of another way to learn that a model tries within its run. Nothing of it is saved.
struct TrialRun {
  uint64_t number = 0, total = 0;  // counted from 1
  double share = 0;                // of all of them, in [0, 1]
  std::string text;                // what is tried; of one that is taken, what it gains
  bool better = false;             // it is taken
};

// Everything about a training run that is not the model's business. Models receive it; they own
// none of it.
class Job {
 public:
  explicit Job(const Context& context) : context_(&context) {}
  // With threads of its own.
  explicit Job(int threads = 1) : own_(std::make_unique<Context>(threads)), context_(own_.get()) {}

  uint64_t seed = 1;
  bool deterministic = false;  // the same bits for any number of threads

  // Called at every safe point on the caller's thread. It may save a checkpoint.
  std::function<void(const Progress&)> on_progress = [](const Progress&) {};
  std::function<void(const TrialRun&)> on_trial = [](const TrialRun&) {};

  const Context& context() const { return *context_; }
  // NOLINTNEXTLINE(google-explicit-constructor): a job is where its work is done
  operator const Context&() const { return *context_; }
  int threads() const { return context_->threads(); }
  void cancel() { own_->cancel(); }  // with threads of its own only; else cancel the context
  bool cancelled() const { return context_->cancelled(); }

 private:
  std::unique_ptr<Context> own_;
  const Context* context_;
};

}  // namespace kith
