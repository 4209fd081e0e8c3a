// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of tables, and parts of rows, as a model that completes them sees them.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/opened.h"
#include "data/table/encoding.h"
#include "data/table/table_reader.h"
#include "kith/events.h"
#include "kith/predict.h"
#include "kith/settings.h"

namespace kith {

// A model that completes rows, with buffers of its own: one for each call and thread.
class RowAsker {
 public:
  RowAsker(const Model::Impl& model, std::string_view question);
  const CompletesRows& model() const { return model_; }
  const Encoding& encoding() const { return model_.encoding(); }
  const Group& group(size_t g) const { return encoding().groups[g]; }
  const Names& names(size_t g) const { return encoding().spaces[group(g).space].names; }

  // Cells by group from "column=value"; several values of a set or text column are joined. A value
  // without its column is looked for in all of them. What is not known counts as missing, as in a
  // file, and the observer is told; Error(kInput) with the nearest spelling if nothing is left.
  using Cells = std::vector<std::optional<std::string>>;
  Cells cells(std::span<const std::string> terms, Observer* observer = nullptr) const;
  bool knows(const std::string& value) const;  // whether any column has it
  // The rows of names in a cell of a group.
  std::vector<uint32_t> members(size_t group, std::string_view cell);

  // Good until the next row is seen.
  const SeenRow& see(const Cells& cells);
  const SeenRow& see(std::span<const Cell> cells);

  // How well each value of a group fits the rest of the row.
  struct Scores {
    std::vector<float> scores;
    bool probabilities;  // whether e^score / sum is the model's; a hinge, say, knows only sides
  };
  Scores scores(const SeenRow& row, size_t group) const;

  // What fills a group of the row. Error(kUsage) if nothing can.
  void check_target(size_t group) const;
  Prediction predict(const SeenRow& row, size_t group, size_t top) const;

  // The expectation of a number, and the value with as much probability below as above.
  struct Guess {
    double mean, median;
  };
  Guess guess(const SeenRow& row, size_t group) const;
  // The same of the values as often as they were seen.
  Guess guess_of_all(size_t group) const;

 private:
  size_t column_of(const std::string& value) const;
  // What to say of each value that is not known; the cell is none if it has no other.
  std::vector<std::string> drop_unknown(size_t group, std::optional<std::string>& cell) const;
  bool scores_alone(size_t group) const;
  const Model::Impl& opened_;
  const CompletesRows& model_;
  mutable CellEncoder encoder_;
  SeenRow seen_;
};

// The rows of sources as cells by group of a model; columns that they lack are missing cells, and
// so is what a column's type cannot read, with a note for the first of each column.
class GroupedRows {
 public:
  // `reading`: settings of how a table is read.
  GroupedRows(const Encoding& encoding, const std::vector<std::string>& sources,
              std::span<const Setting> reading, const Context& context, Observer* observer);
  bool next();  // Error(kCancelled) if that was asked for
  std::span<const Cell> cells() const { return cells_; }
  std::string where() const { return reader_->where(); }
  uint64_t row() const { return reader_->row(); }
  bool has(size_t group) const { return column_[group] != Encoding::npos; }
  const std::vector<std::string>& columns() const { return reader_->columns(); }
  // A column of the sources that the model need not know; Error(kUsage) if they have none.
  size_t column(const std::string& name) const;
  std::span<const Cell> raw() const { return raw_; }
  // By column of the sources: whether the model takes it for numbers (or vectors of them); for
  // lists as JSON has them.
  std::vector<uint8_t> numbers() const;
  std::vector<uint8_t> lists() const;

 private:
  std::optional<size_t> find(const std::string& name) const;
  void drop_unreadable(size_t group);
  const Encoding& encoding_;
  std::string source_;
  std::unique_ptr<TableReader> reader_;
  const Context& context_;
  Observer* observer_;
  std::vector<size_t> column_;  // of the sources, by group
  std::vector<Cell> raw_, cells_;
  std::vector<uint8_t> warned_;  // by group
};

struct Ranked {
  uint32_t value;
  float score;
};
// The best `top`, best first, equals in their order; those in `skip` are left out.
std::vector<Ranked> best_of(std::span<const float> scores, size_t top,
                            std::span<const uint32_t> skip = {});
// e^score / sum: what the model thinks of each value, given the rest.
std::vector<double> probabilities(std::span<const float> scores);

// A number as it would stand in the column: 1927, 3.25, 1994-05-17.
std::string show_number(const Group& group, double value);

void note(Observer* observer, Note::Level level, std::string text);

}  // namespace kith
