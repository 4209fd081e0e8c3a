// SPDX-License-Identifier: Apache-2.0
#pragma once
// Training as a command: what the user asked for, worked out and checked before anything costs
// time.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "commands.h"
#include "data/corpus.h"
#include "data/encoding.h"
#include "data/ratings.h"
#include "data/table_reader.h"
#include "models/model.h"
#include "terminal.h"

namespace kith::cli {

// What makes the same run again: kept in the model file together with the settings of corpus and
// model. The number of threads is not among them, nor is anything that differs between machines.
struct RunOptions {
  std::string from;
  int64_t seed = 1;
  bool deterministic = false;

  static constexpr std::tuple fields{
      field("from", &RunOptions::from, "go on from this model; new words are added to it"),
      field("seed", &RunOptions::seed, "of every random number").at_least(0),
      field("deterministic", &RunOptions::deterministic,
            "the same bits for any number of threads; up to 3 times the work"),
  };
};

struct TrainOptions {
  std::string output;
  std::string config;
  bool resume = false;
  int64_t checkpoint_every = 300;
  int threads = 0;
  std::string max_memory;
  std::string scratch;
  bool quiet = false;
  bool json = false;

  static constexpr std::tuple fields{
      field("output", &TrainOptions::output,
            "the model file to write (-o); else named after the input"),
      field("config", &TrainOptions::config, "read settings from this TOML file; flags win"),
      field("resume", &TrainOptions::resume, "go on from OUTPUT.checkpoint with its settings"),
      field("checkpoint-every", &TrainOptions::checkpoint_every,
            "seconds between checkpoints; 0 for none but at Ctrl-C")
          .between(0, 1e9),
      field("threads", &TrainOptions::threads, "0 for all cores").between(0, 1024),
      field("max-memory", &TrainOptions::max_memory,
            "refuse to start if more is needed, such as 2G; else what is free"),
      field("scratch", &TrainOptions::scratch, "folder for temporary data; else that of OUTPUT"),
      field("quiet", &TrainOptions::quiet, "no progress, only warnings and errors (-q)"),
      field("json", &TrainOptions::json, "print the summary as JSON"),
  };
};

// How a table is taken.
struct TableUse {
  std::string schema;
  std::string types;
  int64_t holdout = 10000;

  static constexpr std::tuple fields{
      field("schema", &TableUse::schema,
            "what the columns are, as JSON; written if it is not there"),
      field("types", &TableUse::types, "for some columns: year=category,notes=ignore"),
      field("holdout", &TableUse::holdout,
            "rows held out to score the model, at most 1 % of the table; 0 for none")
          .between(0, 1e9),
  };
};

// How ratings are taken, beyond where they stand.
struct RatingsUse {
  double holdout = 0.05;

  static constexpr std::tuple fields{
      field("holdout", &RatingsUse::holdout,
            "share of the ratings held out to score the model; 0 for none")
          .between(0, 0.9),
  };
};

struct TrainPlan {
  TrainOptions options;
  RunOptions run;
  CorpusOptions corpus;        // for text
  TableOptions table_options;  // for tables and ratings
  TableUse table;
  RatingsOptions ratings_options;  // for ratings
  RatingsUse ratings;
  const ModelInfo* info = nullptr;
  bool chosen = false;  // the user named no model
  std::unique_ptr<Model> model;
  std::vector<std::string> files;
  std::optional<Archive> checkpoint;  // to go on from
  std::optional<Vocabulary> base;     // of the model to go on from
  std::optional<Encoding> base_encoding;
  std::string settings;  // of run, data and model, as TOML

  // The settings that make the run, in the order of help; those of the other kind of data not.
  std::vector<Section> kept();

  std::string checkpoint_path() const { return options.output + ".checkpoint"; }
};

std::vector<Section> train_sections(std::string_view model);
bool is_database(std::string_view source);  // and not a file
// As it may be shown: a database without its password.
std::string shown_source(std::string_view source);
TrainPlan make_plan(Args args);

struct TrainSummary {
  bool finished = false;
  TrainPlan plan;
  std::string unit;   // what is counted: "word", "row", "rating"
  std::string next;   // what to ask the model
  uint64_t size = 0;  // units per epoch
  uint64_t vectors = 0;
  double epochs = 0;                               // done by this run
  double seconds = 0;                              // of the whole run
  double training = 0;                             // seconds of it
  double per_second = 0;                           // units
  double loss = 0;                                 // of the last epoch
  std::optional<double> first_held_out, held_out;  // the first and the last that were measured
};

// The whole run but for the summary.
TrainSummary train(Args args);

}  // namespace kith::cli
