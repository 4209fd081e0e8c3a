// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cells -> features. Whatever the type of a column, a cell becomes a weighted bag of rows of a
// table of vectors, and its vector is phi(cell) = sum of weight * row:
//
//   category, boolean   the value's row, weight 1
//   set                 the members' rows, each 1 / n^pooling
//   text                the rows of its words, likewise
//   number              two neighbouring knots of a piecewise-linear basis, and a bias row
//   date                the same on days, and a turn of the year, the week and the day as sin and
//   cos vector              its components (standardised) as weights of as many rows, and a bias
//   row
//
// With buckets, hashed n-grams of characters (text: pairs of words) join the bag, so that a value
// nobody has seen still has a vector.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/names.h"
#include "data/table/schema.h"
#include "data/text/tokenizer.h"

namespace kith {

struct Feature {
  uint32_t row;  // of its space, or of the whole model (see Encoding::base)
  float weight;
  bool operator==(const Feature&) const = default;
};

// Rows of vectors that one column uses, or several that share a vocabulary: values by name, then
// hashed n-grams; for numbers, dates and vectors the rows of their basis.
struct ValueSpace {
  std::string name;
  Names names;
  std::vector<uint64_t> counts;  // of the names, in cells
  uint64_t buckets = 0;
  uint64_t basis = 0;  // rows that have no name
  uint64_t rows() const { return names.size() + buckets + basis; }
};

// A column that takes part, and what was learned about it from the data.
struct Group {
  Column column;
  uint32_t space = 0;
  std::vector<double> knots;       // number, date: rising
  std::vector<float> mean, scale;  // vector: of each component
  // Number, date: values to choose from when one is predicted, with their counts.
  std::vector<double> values;
  std::vector<uint64_t> value_counts;

  bool numeric() const {
    return column.type == ColumnType::kNumber || column.type == ColumnType::kDate;
  }
  bool named() const { return !numeric() && column.type != ColumnType::kVector; }
};

class Encoding {
 public:
  std::vector<ValueSpace> spaces;
  std::vector<Group> groups;
  // Names and texts are in Unicode's normal form C, and the emoji of texts are words. Models of
  // 0.1 took both as they stood, and go on so.
  bool normal_form = true;

  // The group of a column; Error(kUsage) with the nearest name if there is none.
  size_t group(std::string_view name) const;
  size_t find(std::string_view name) const;  // or npos
  static constexpr size_t npos = static_cast<size_t>(-1);

  // Where the rows of a space begin in the table of all vectors.
  uint64_t base(size_t space) const;
  uint64_t rows() const { return base(spaces.size()); }
  // Features number rows in 32 bits. Error(kLimit) if there are more, which whoever makes or reads
  // an encoding asks once; then this is the same as base().
  void check_size() const;
  uint32_t base32(size_t space) const { return static_cast<uint32_t>(base(space)); }
};

// Appends a group, with the space that its column names or a new one. Error(kInput) if it cannot.
void add_group(Encoding& encoding, const Column& column);

// Turns cells into features, with buffers of its own: one per thread.
class CellEncoder {
 public:
  explicit CellEncoder(const Encoding& encoding);
  ~CellEncoder();

  // Appends the bag of a cell, rows numbered over all spaces. False if nothing of it is known: it
  // is missing, or a value without a row and without n-grams. Error(kInput) for a cell that its
  // type cannot read, with what was found.
  bool encode(size_t group, const Cell& cell, std::vector<Feature>& out);

  // What a bag is made of before weights: the members' names of a set, the words of a text, the
  // value of a category. Views die with the next call.
  std::span<const std::string_view> members(const Column& column, std::string_view cell);

 private:
  const Encoding& encoding_;
  std::vector<uint32_t> base_;
  std::vector<std::string_view> members_;
  std::string words_, form_;
  std::vector<std::pair<size_t, size_t>> spans_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

// The parts, for who builds an encoding (table.cc).
// Rows of the basis of a column: knots or components, cycles, bias.
uint64_t basis_rows(const Column& column, size_t knots, size_t components);
// What a cell of a number or date column says: a value, nothing (a missing mark), or rubbish.
struct NumericCell {
  std::optional<double> value;
  bool unreadable = false;
};
NumericCell numeric_cell(const Column& column, std::string_view cell);
// The numbers of a vector cell; nothing if one of them is none.
std::optional<std::vector<float>> vector_cell(const Column& column, std::string_view cell);
// The bag of a vector: standardised components, and the bias.
void append_vector(std::span<const float> values, const Group& group, uint32_t first,
                   std::vector<Feature>& out);
// The bag of a number or a date, whatever the column is.
void append_numeric(const Group& group, double value, uint32_t first, std::vector<Feature>& out);
// The bag of members that are rows of a space (kNoRow for one without), n-grams and pooling
// included.
inline constexpr uint32_t kNoRow = 0xffffffff;
void append_members(const Column& column, const ValueSpace& space,
                    std::span<const std::string_view> members, std::span<const uint32_t> rows,
                    uint32_t base, std::vector<Feature>& out);

}  // namespace kith
