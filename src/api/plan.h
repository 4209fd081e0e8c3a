// SPDX-License-Identifier: Apache-2.0
#pragma once
// What stands behind kith::Plan.

#include <any>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/reading.h"
#include "data/dataset.h"
#include "io/archive.h"
#include "kith/train.h"
#include "models/model.h"

namespace kith {

struct Plan::Impl {
  TrainOptions options;
  RunOptions run;
  const ModelInfo* info = nullptr;
  bool chosen = false;  // the caller named no model
  std::unique_ptr<ModelBase> model;
  std::unique_ptr<DataReader> reader;
  std::vector<std::string> sources;
  std::vector<std::string> given;     // names of the settings that the caller gave
  std::optional<Archive> checkpoint;  // to go on from
  std::optional<Model> finished;      // what a run that is resumed has come to already
  std::any base;                      // what the model to go on from knows
  std::string settings;               // of run, data and model, as TOML
  std::optional<uint64_t> available;  // memory, before anything was loaded

  // The settings that make the run: of itself, the data and the model.
  std::vector<Section> kept();
  std::string checkpoint_path() const;
  std::string scratch_folder() const;
  std::string schema_path() const;
  MemoryLimit limit() const;
};

// What the sources hold, read as the plan says and told to the observer. `keep_all`: nothing is
// held out.
std::unique_ptr<Dataset> read_data(Plan::Impl& plan, const Context& context, Observer* observer);

// What there is left for this process; nothing if that cannot be seen.
std::optional<uint64_t> available_memory();
// Of this process, as it is now; 0 if that cannot be told.
uint64_t memory_now();

}  // namespace kith
