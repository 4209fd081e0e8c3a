// SPDX-License-Identifier: Apache-2.0
#pragma once
// From data to a model file: plan, run, resume.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/events.h"
#include "kith/model.h"
#include "kith/settings.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// What makes the same run again: kept in the model file together with the settings of data and
// model. The number of threads is not among them, nor is anything that differs between machines.
struct RunOptions {
  std::string from{};
  int64_t seed = 1;
  bool deterministic = false;

  static constexpr std::tuple fields{
      field(
          "from", &RunOptions::from,
          "continue training this model, to which new names are added; pca and gmm: learn from its "
          "vectors"),
      field("seed", &RunOptions::seed, "seed of all random numbers").at_least(0),
      field("deterministic", &RunOptions::deterministic,
            "the same result, bit for bit, with any number of threads; up to 3 times the work"),
  };
};

struct TrainOptions {
  std::string output{};
  bool resume = false;
  int64_t checkpoint_every = 300;
  std::string max_memory{};
  std::string scratch{};

  static constexpr std::tuple fields{
      field("output", &TrainOptions::output,
            "the model file to write (-o); else named after the input"),
      field("resume", &TrainOptions::resume,
            "continue from OUTPUT.checkpoint, if there is one, with its settings"),
      field("checkpoint-every", &TrainOptions::checkpoint_every,
            "seconds between checkpoints; 0: only at Ctrl-C")
          .between(0, 1e9),
      field("max-memory", &TrainOptions::max_memory,
            "refuse to start if more memory is needed, such as 2G; by default what is free"),
      field("scratch", &TrainOptions::scratch,
            "folder for temporary data; by default that of OUTPUT"),
  };
};

// What to train on what. Settings are of the run, the data and the model, by name; unknown ones are
// errors with a suggestion.
struct TrainRequest {
  std::string model{};  // "" to look at the data, and take what suits them
  std::vector<std::string> sources{};
  std::vector<Setting> settings{};
  TrainOptions options{};
};
// Which model that is: the one named, that of the checkpoint or of the model to go on from, or what
// suits the data. Error(kUsage) if these contradict each other.
std::string model_for(const TrainRequest& request);
// All that can be set for a model: of the run, of its data, of itself. For "", of all models: a
// name is of one type wherever it stands.
std::vector<FieldGroup> train_settings(std::string_view model);

// Those of the TOML file that the setting `config` names, if it is there, then the others.
std::vector<Setting> with_config(std::vector<Setting> settings, std::string_view model);

// A request, worked out and checked before anything costs time: which model, with which settings,
// from where, to where.
class Plan {
 public:
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();
  std::string_view model() const;
  std::string_view data() const;  // the kind
  const std::string& output() const;
  std::string checkpoint_path() const;  // beside it
  const std::string& settings() const;  // all that make the run, as TOML
  bool chosen() const;                  // the caller named no model

  struct Impl;
  explicit Plan(std::unique_ptr<Impl> impl);
  Impl& impl() const { return *impl_; }  // for the engine

 private:
  std::unique_ptr<Impl> impl_;
};
Plan plan(const TrainRequest& request, Observer* observer = nullptr);

// How a run went, epoch by epoch; of one that went on from a checkpoint what came after it.
struct TrainingCurve {
  struct Point {
    int epoch = 0;
    double loss = 0;
    std::optional<double> held_out{};
    bool refit = false;  // of a second run, on all data
  };
  std::vector<Point> points;
  std::optional<double> before;  // the held-out loss before the first epoch
  std::optional<int> kept;       // the epoch whose parameters are the model's, if not the last
};
// As an SVG picture: the loss, and the held-out loss if something was held out.
std::string training_plot(const TrainingCurve& curve, std::string_view title);

struct Trained {
  bool finished = false;  // else it was cancelled, and a checkpoint was kept
  bool before = false;    // a run that was resumed had come to its end: nothing was trained
  std::string model, output, unit;
  std::string example;   // a name to ask the model about
  bool rates = false;    // it rates items for users: the example is a user
  bool target = false;   // it learned to fill a column, or to label texts
  bool divides = false;  // it divides rows into clusters
  bool topics = false;   // it has topics
  uint64_t size = 0;     // units per epoch
  uint64_t vectors = 0;
  double epochs = 0;                               // done by this run
  double seconds = 0;                              // of the whole run
  double training = 0;                             // seconds of it
  double per_second = 0;                           // units
  double loss = 0;                                 // of the last epoch
  std::optional<double> first_held_out, held_out;  // before training, and of the model
  TrainingCurve curve;
};
// Reads, checks memory, trains, keeps checkpoints, checks again, saves.
Trained train(Plan plan, Context& context, Observer* observer = nullptr);

// Bytes that this process has taken at most; seconds of all its threads.
uint64_t peak_memory();
double cpu_seconds();

}  // namespace KITH_VISIBLE
