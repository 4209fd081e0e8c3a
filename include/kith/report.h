// SPDX-License-Identifier: Apache-2.0
#pragma once
// How good, with what simpler ways reach beside it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kith/events.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct Measure {
  std::string name;  // "rmse", "mrr"; in lower case, the same everywhere
  double value = 0;
};

// One way to answer: the model, or something simpler.
struct Way {
  std::string name;  // "model", "popularity"
  std::vector<Measure> measures;
  std::optional<double> at(std::string_view measure) const;
};

// Ways that are compared by the same measures, the model's first.
struct Comparison {
  std::vector<Way> ways;
};

struct Report {
  std::string title;     // what was asked
  std::string subtitle;  // of how much
  std::vector<Comparison> comparisons;
  std::vector<std::pair<std::string, uint64_t>> counts;  // "rows", "users", "skipped"
  // Right answers of questions in sections: name, right, asked.
  struct Section {
    std::string name;
    uint64_t right = 0, asked = 0;
  };
  std::vector<Section> sections;
  std::string rule;  // how they were answered: "add", "mul"
  // Of a few values: how often each (row) was guessed to be each (column).
  struct Confusion {
    std::vector<std::string> values;
    std::vector<std::vector<uint64_t>> counts;
  };
  std::optional<Confusion> confusion;
  // Of labels: how many of the texts that were given each have it, and how many of those that have
  // it were given it.
  struct Label {
    std::string name;
    double precision = 0, recall = 0, f1 = 0;
    uint64_t texts = 0;  // that have it
  };
  std::vector<Label> labels;
  std::vector<std::pair<std::string, double>> shares;  // by column, "leaks": of rows that tell it
  std::vector<Note> notes;
  std::vector<Report> parts;  // the folds of a cross-validation

  std::optional<double> at(std::string_view measure) const;  // the model's
  std::optional<double> at(std::string_view way, std::string_view measure) const;
  std::optional<uint64_t> count(std::string_view name) const;
};

// The means of what was measured on each part; a measure that one of them lacks is left out.
Report mean_of(std::vector<Report> parts);

}  // namespace KITH_VISIBLE
