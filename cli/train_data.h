// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a training run learns from, read and ready: a text, a table or ratings. The rest of the run
// is the same for all.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/job.h"
#include "terminal.h"
#include "train.h"

namespace kith::cli {

class TrainData {
 public:
  virtual ~TrainData() = default;
  virtual std::string_view unit() const = 0;  // what is counted: "word", "row", "rating"
  virtual uint64_t size() const = 0;          // units per epoch
  virtual uint64_t vectors() const = 0;       // that will be learned
  virtual uint64_t memory_needed(const Job& job) const = 0;
  virtual std::string_view to_save_memory() const = 0;  // what a user can do about it
  // The model of the plan, or another of its kind.
  virtual void train(Model& model, Job& job) = 0;
  // The same for the last time: what the model has taken over need not stay.
  virtual void train_last(Model& model, Job& job) { train(model, job); }
  // Whether a setting of the model matters for this data.
  virtual bool has_say(std::string_view /*setting*/) const { return true; }
  virtual uint64_t fingerprint() const = 0;
  // What the model file says of it. Nothing here may depend on time, machine or threads.
  virtual std::map<std::string, std::string> metadata() const = 0;
  virtual std::string next() const = 0;  // what to ask the model, behind "kith COMMAND MODEL"
};

// Reads what the plan names, and reports what is in it.
std::unique_ptr<TrainData> read_data(const TrainPlan& plan, Status& status);
std::unique_ptr<TrainData> read_text(const TrainPlan& plan, Status& status);
std::unique_ptr<TrainData> read_table(const TrainPlan& plan, Status& status);
std::unique_ptr<TrainData> read_ratings(const TrainPlan& plan, Status& status);

// Calls of a reader, about reading so far, turned into progress.
std::function<void(uint64_t, double)> reading_progress(Status& status);

}  // namespace kith::cli
