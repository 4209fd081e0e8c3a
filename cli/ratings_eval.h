// SPDX-License-Identifier: Apache-2.0
#pragma once
// eval for models of ratings; the command itself is shared with other models.

#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "data/split.h"
#include "ratings_query.h"

namespace kith::cli {

struct RatingsEval {
  size_t top = 10;
  std::optional<double> relevant;  // see MeasureOptions
  int threads = 0;
  bool json = false;
};

// A model that is there.
int eval_ratings(OpenModel opened, const std::vector<std::string>& files,
                 const RatingsEval& options, const TableOptions& table, RatingsOptions columns);

// How ratings are cut for one that is trained.
struct SplitOptions {
  SplitBy split = SplitBy::kRandom;
  double test = 0.1;
  int folds = 0;
  double holdout = 0.05;
  int64_t seed = 1;

  static constexpr std::tuple fields{
      field("split", &SplitOptions::split,
            "which ratings are tested: any, so many of each user, the last in time, the last of "
            "each user"),
      field("test", &SplitOptions::test, "their share").between(0.0001, 0.9999),
      field("folds", &SplitOptions::folds,
            "train and test so many times, each rating tested once; 0: one test")
          .between(0, 1000),
      field("holdout", &SplitOptions::holdout,
            "of the others, the share by which the model sees when to stop")
          .between(0, 0.9),
      field("seed", &SplitOptions::seed, "of every random number").at_least(0),
  };
};
// `settings`: the model's own.
int eval_training(const ModelInfo& info, const std::vector<std::string>& files,
                  std::span<const Setting> settings, const RatingsEval& options,
                  const SplitOptions& split, const TableOptions& table,
                  const RatingsOptions& columns);

}  // namespace kith::cli
