// SPDX-License-Identifier: Apache-2.0
#pragma once
// What train and tune are told, from flags and a TOML file.

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "commands.h"
#include "kith/train.h"

namespace kith::cli {

struct TrainFlags {
  std::string config{};
  int threads = 0;
  bool quiet = false;
  bool json = false;
  std::string plot{};

  static constexpr std::tuple fields{
      field("config", &TrainFlags::config, "read settings from this TOML file; flags win"),
      field("threads", &TrainFlags::threads, "0 for all cores").between(0, 1024),
      field("quiet", &TrainFlags::quiet, "no progress, only warnings and errors (-q)"),
      field("json", &TrainFlags::json, "print the summary as JSON"),
      field("plot", &TrainFlags::plot, "write a picture of the loss by epoch (SVG)"),
  };
};

struct TrainArgs {
  TrainRequest request;
  TrainFlags flags;
  std::string words;  // of the command line, as words_of() gives them
};

// As a shell wants them, behind "kith train", without these flags, each of which has a value;
// --resume, or other settings, can follow.
std::string words_of(Args args, std::span<const std::string> left_out = {});

// `own`: what the command itself can be told; applied. Error(kUsage).
TrainArgs parse_train(const Command& command, Args args, std::span<const Section> own = {});
// What can be told about training a model, or any model for "".
std::vector<FieldGroup> train_groups(std::string_view model);

// Trains as asked, telling what happens, and prints the summary.
int run_training(const TrainArgs& args);

// Plans, trains and narrates, without a summary.
struct Outcome {
  Trained trained;
  int code;
};
Outcome train_aloud(const TrainArgs& args);

}  // namespace kith::cli
