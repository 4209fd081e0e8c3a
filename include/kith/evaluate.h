// SPDX-License-Identifier: Apache-2.0
#pragma once
// How good a model is by questions whose answers are known, and how good a kind of model would be.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kith/analogy_rule.h"
#include "kith/context.h"
#include "kith/model.h"
#include "kith/report.h"
#include "kith/settings.h"
#include "kith/side.h"
#include "kith/split.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct EvaluateOptions {
  std::optional<int64_t> restrict_to = 30000;
  AnalogyRule rule = AnalogyRule::kAdd;
  std::optional<Side> vectors{};
  std::string target{}, given{}, train{};
  int64_t top = 10;
  std::optional<double> relevant{};

  static constexpr std::tuple fields{
      field("restrict", &EvaluateOptions::restrict_to,
            "words: analogies among this many of the most frequent words; auto: all")
          .between(1, 4e9),
      field("rule", &EvaluateOptions::rule, "words: analogies by 3CosAdd, or 3CosMul"),
      field("vectors", &EvaluateOptions::vectors, "words: which vectors of the model to compare")
          .automatic(kUsualSide),
      field("target", &EvaluateOptions::target, "tables: the column to predict"),
      field("given", &EvaluateOptions::given,
            "tables: the columns to predict it from, such as cast,year"),
      field(
          "train", &EvaluateOptions::train,
          "tables: the table that the model was trained on, to compare it with simpler ones "
          "learned from the same rows: skip-gram or, for a target of numbers or classes, a linear "
          "model; for a number of two such columns as user and film, their biases"),
      field("top", &EvaluateOptions::top, "ratings: length of a list of recommendations")
          .between(1, 1e6),
      field("relevant", &EvaluateOptions::relevant,
            "ratings: an item should be recommended if it is rated this or higher")
          .automatic("the user's mean"),
  };
};

// What the sources ask is seen from the model and their lines: questions for words (one report a
// file), rows of a table, ratings.
std::vector<Report> evaluate(const Model& model, const std::vector<std::string>& sources,
                             const EvaluateOptions& options, std::span<const Setting> reading,
                             const Context& context, Observer* observer = nullptr);

// How data are cut for a model that is trained on a part and tested on the rest.
struct SplitOptions {
  SplitBy split = SplitBy::kRandom;
  double test = 0.1;
  std::optional<int> folds{};
  int64_t seed = 1;

  static constexpr std::tuple fields{
      field("split", &SplitOptions::split,
            "which ratings are tested: any at random, a share of each user's, the latest of all, "
            "the latest of each user"),
      field("test", &SplitOptions::test, "share of the ratings that are tested")
          .between(0.0001, 0.9999),
      field("folds", &SplitOptions::folds,
            "train and test this many times; each rating is tested once")
          .between(2, 1000)
          .automatic("one test"),
      field("seed", &SplitOptions::seed, "seed of all random numbers").at_least(0),
  };
};
// `settings`: of the model and of the data. The report's parts are the folds, if there are some.
Report cross_validate(std::string_view model, const std::vector<std::string>& sources,
                      std::span<const Setting> settings, const SplitOptions& split,
                      const EvaluateOptions& options, Context& context,
                      Observer* observer = nullptr);

}  // namespace KITH_VISIBLE
