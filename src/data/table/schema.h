// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the columns of a table mean: inferred from a sample, shown to the user, kept in a JSON file
// that can be edited.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "data/table/cells.h"
#include "data/table/sampled_table.h"
#include "kith/fields.h"

namespace kith {

enum class ColumnType { kCategory, kSet, kText, kNumber, kDate, kBoolean, kVector, kIgnore };

struct Column {
  std::string name{};
  ColumnType type = ColumnType::kCategory;
  std::string separator{};  // between the members of a set, or the numbers of a vector

  // How it takes part. All of these may be left out of the schema file.
  std::string vocabulary{};  // columns that name the same one share their values' vectors
  std::string swap{};        // columns that name the same one are replaced together
  bool sampled = true;       // whether noise replaces it at all
  double weight = 1;         // of every pair that it is in
  std::vector<std::string> interacts{};  // with these columns only; empty for all
  int64_t min_count = 1;              // values and words seen less often have no row of their own
  int64_t buckets = 0;                // rows for hashed n-grams; 0 for none
  std::optional<int> knots{};         // number, date: points of the piecewise-linear basis
  double pooling = 0.5;               // set, text: the sum of n members is divided by n^pooling
  DateOrder order = DateOrder::kIso;  // date: what 03/04/2020 means

  // The keys of the schema file, but for name and interacts.
  static constexpr std::tuple fields{
      field("type", &Column::type, "what its cells are"),
      field("separator", &Column::separator, "between the members of a set or vector"),
      field("order", &Column::order, "of day and month in dates with slashes"),
      field("vocabulary", &Column::vocabulary, "columns with the same one share their vectors"),
      field("swap", &Column::swap, "columns with the same one are replaced by noise together"),
      field("sampled", &Column::sampled, "whether noise replaces it at all"),
      field("weight", &Column::weight, "of every pair that it is in").between(0, 1e6),
      field("min_count", &Column::min_count, "of values and words to have a row").between(1, 1e15),
      field("buckets", &Column::buckets, "rows for hashed n-grams; 0 for none").between(0, 1e9),
      field("knots", &Column::knots, "of the basis of numbers and dates").between(2, 1024),
      field("pooling", &Column::pooling, "divide the sum of n members by n^pooling").between(0, 1),
  };
};

// What a sample showed of a column, for the user's eyes.
struct ColumnProfile {
  uint64_t rows = 0;
  uint64_t missing = 0;               // number, date: marks like NA count as missing too
  uint64_t distinct = 0;              // cells; of a set its members
  std::vector<std::string> examples;  // at most three, shortened to 40 characters
  std::string remark;  // why it is ignored, or something odd: "3 of 10,000 cells are not numbers"
  std::optional<ColumnType> rather;  // if the guess is doubtful: what else it may be
};

struct Schema {
  std::vector<Column> columns;
};

struct Inferred {
  Schema schema;
  std::vector<ColumnProfile> profiles;  // one for each column
};
Inferred infer_schema(const SampledTable& table);

// The file: {"columns": [{"name": ..., "type": ..., ...}]}, settings at their defaults left out. A
// key "inferred" is of schema_file.h.
std::string to_json(const Schema& schema);
// Error(kInput) naming the place for anything unknown or out of range, with a suggestion.
Schema schema_from_json(std::string_view text, const std::string& where);
// The inferred schema with what the file says put over it, column by column. Error(kInput) if the
// file names a column that the table has not, with the nearest name.
Schema merged(const Schema& inferred, const Schema& file, const std::string& where);

}  // namespace kith

template <>
struct kith::EnumNames<kith::ColumnType> {
  static constexpr std::array<std::string_view, 8> names{"category", "set",     "text",   "number",
                                                         "date",     "boolean", "vector", "ignore"};
};
