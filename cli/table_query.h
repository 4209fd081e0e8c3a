// SPDX-License-Identifier: Apache-2.0
#pragma once
// Questions to a model of tables: rows and parts of rows, and what completes them.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands.h"
#include "data/table_reader.h"
#include "model_file.h"
#include "models/table_model.h"

namespace kith::cli {

// A model of tables, ready to be asked.
class AskedTable {
 public:
  explicit AskedTable(OpenModel opened);
  const TableModel& model() const { return model_; }
  const Encoding& encoding() const { return model_.encoding(); }
  const Group& group(size_t g) const { return encoding().groups[g]; }
  const Names& names(size_t g) const { return encoding().spaces[group(g).space].names; }

  // Cells by group from "column=value"; several values of a set or text column are joined. A value
  // without its column is looked for in all of them. Error(kUsage) or Error(kInput) with the
  // nearest spelling for what is not known.
  std::vector<std::optional<std::string>> cells(std::span<const std::string> terms) const;

  bool knows(const std::string& value) const;  // whether any column has it

  // Good until the next row is seen.
  const SeenRow& see(std::span<const std::optional<std::string>> cells);
  const SeenRow& see(std::span<const Cell> cells);

  // How well each value of a group fits the rest of the row.
  std::vector<float> scores(const SeenRow& row, size_t group);
  // Whether e^score / sum is the model's probability of a value; a hinge, say, knows only sides.
  bool has_probabilities(size_t group) const;
  const Matrix& values(size_t group);

 private:
  size_t column_of_value(const std::string& value) const;
  bool is_two_classes(size_t group) const;
  std::vector<float> class_scores(const SeenRow& row, size_t group) const;
  OpenModel opened_;
  TableModel& model_;
  CellEncoder encoder_;
  SeenRow seen_;
  std::vector<std::optional<Matrix>> values_;
};

// Error(kUsage) if the file holds a model of another kind.
AskedTable open_table_model(const std::string& path, std::string_view command);
AskedTable as_table(OpenModel opened, const std::string& path, std::string_view command);

// The rows of a table as cells by group of a model; columns that it lacks are missing cells, and so
// is what a column's type cannot read, with a warning for the first of each column.
class GroupedRows {
 public:
  GroupedRows(const Encoding& encoding, const std::vector<std::string>& sources,
              const TableOptions& options);
  bool next();
  std::span<const Cell> cells() const { return cells_; }
  std::string where() const { return reader_->where(); }
  bool has(size_t group) const { return column_[group] != Encoding::npos; }
  // A column of the file that the model need not know.
  std::optional<size_t> column(const std::string& name) const;
  const Cell& raw(size_t column) const { return raw_[column]; }

 private:
  void drop_unreadable(size_t group);
  const Encoding& encoding_;
  std::unique_ptr<TableReader> reader_;
  std::vector<size_t> column_;  // of the file, by group
  std::vector<Cell> raw_, cells_;
  std::vector<uint8_t> warned_;  // by group
};

// A sentence for each column with cells that its type could not read.
std::vector<std::string> unreadable_cells(const Table& table);

struct Ranked {
  size_t value;
  float score;
};
// The best `top`, best first; `skip(value)` leaves out.
std::vector<Ranked> best_of(std::span<const float> scores, size_t top,
                            const std::function<bool(size_t)>& skip);
// e^score / sum: what the model thinks of each value, given the rest.
std::vector<double> probabilities(std::span<const float> scores);

// A number as it would be written in the column: 1927, 3.25, 1994-05-17.
std::string show_number(const Group& group, double value);
// The expectation, and the value with as much probability below as above.
struct Guess {
  double mean, median;
};
Guess guess(const Group& group, std::span<const double> probabilities);

// near and eval for models of tables; the commands themselves are shared.
struct TableNear {
  std::string to;
  size_t top = 10;
  bool json = false;
};
int near_table(OpenModel opened, std::span<const std::string> terms, const TableNear& options);

struct TableEval {
  std::string target, given, train;
  int threads = 0;
  bool json = false;
};
int eval_table(OpenModel opened, const std::vector<std::string>& files, const TableEval& options,
               const TableOptions& table);

// Reads flags into two structs of options and returns the rest.
template <class A, class B>
std::vector<std::string> parse(Args args, A& a, B& b) {
  const std::array sections{Section("Options", a), Section("The table", b)};
  Arguments arguments = parse_arguments(args, sections);
  kith::apply(arguments.settings, sections);
  return std::move(arguments.positional);
}
template <class A, class B>
std::vector<Section> sections_of(std::string_view) {
  static A a;
  static B b;
  return {Section("Options", a), Section("The table", b)};
}
// The same for commands that read ratings, too.
template <class A, class B, class C>
std::vector<std::string> parse(Args args, A& a, B& b, C& c) {
  const std::array sections{Section("Options", a), Section("The table", b),
                            Section("The ratings", c)};
  Arguments arguments = parse_arguments(args, sections);
  kith::apply(arguments.settings, sections);
  return std::move(arguments.positional);
}
template <class A, class B, class C>
std::vector<Section> sections_of(std::string_view) {
  static A a;
  static B b;
  static C c;
  return {Section("Options", a), Section("The table", b), Section("The ratings", c)};
}

}  // namespace kith::cli
