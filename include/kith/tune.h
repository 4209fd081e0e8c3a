// SPDX-License-Identifier: Apache-2.0
#pragma once
// Settings by search: many short runs on the same data, judged by the held-out score. The runs are
// a function of the seed and of each other's scores alone, whatever the threads (all are
// deterministic); the budget only says how many there are.

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/events.h"
#include "kith/train.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct TuneOptions {
  double budget = 60;
  std::optional<int64_t> trials{};
  std::string search{};

  static constexpr std::tuple fields{
      field("budget", &TuneOptions::budget, "seconds; no run begins after this time")
          .between(0, 1e9),
      field("trials", &TuneOptions::trials, "number of runs, however long they take")
          .between(1, 1e6)
          .automatic("as many as fit the budget"),
      field("search", &TuneOptions::search,
            "settings to search, such as dim,penalty; by default all that have a range and are not "
            "given"),
  };
};

struct Trial {
  std::vector<std::string> values;  // of the settings that are searched, as a user would type them
  // As training tells it; of labels the log loss of calibrated probabilities. None: it diverged.
  std::optional<double> held_out;
  double seconds = 0;
};
struct Tuned {
  std::string model;
  std::vector<std::string> names;  // of the settings that are searched
  std::vector<std::string> fixed;  // of those with a range that stay as they were given
  std::vector<Trial> trials;       // the first with the settings as given
  size_t best = 0;
  bool cancelled = false;
  std::vector<Setting> best_settings() const;
  // " --dim 20 --lr 0.1"; without what is left to the model.
  std::string flags(const Trial& trial) const;
};
Tuned tune(Plan plan, const TuneOptions& options, Context& context, Observer* observer = nullptr);

}  // namespace KITH_VISIBLE
