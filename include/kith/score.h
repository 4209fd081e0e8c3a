// SPDX-License-Identifier: Apache-2.0
#pragma once
// Odd rows of a table, and what is odd about them.

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/model.h"
#include "kith/settings.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct ScoreOptions {
  int64_t top = 20;
  std::string name{};
  bool all = false;

  static constexpr std::tuple fields{
      field("top", &ScoreOptions::top, "how many rows, the oddest first").between(1, 1e9),
      field("name", &ScoreOptions::name, "the column that names a row; else its place"),
      field("all", &ScoreOptions::all, "every row, in the order of the file"),
  };
};

// A row's score is the sum over pairs of its columns; what each pair adds is compared with what it
// adds elsewhere in the table, in standard deviations.
struct ScoredRow {
  std::string name;    // of the column that names it, or its place
  uint64_t row = 0;    // in the sources, from 1
  bool named = false;  // by a column
  double score = 0, odd = 0;
  struct Pair {
    std::string columns;  // "cast x director"
    double score = 0, usual = 0, odd = 0;
  };
  std::vector<Pair> pairs;  // those that are there, in the order of the columns
};
// "cast x director 0.12, usually 1.50; ...": the oddest pairs, if any is.
std::string because(const ScoredRow& row);
std::vector<ScoredRow> score_rows(const Model& model, const std::vector<std::string>& sources,
                                  const ScoreOptions& options, std::span<const Setting> reading,
                                  const Context& context, Observer* observer = nullptr);

}  // namespace KITH_VISIBLE
