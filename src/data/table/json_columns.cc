// SPDX-License-Identifier: Apache-2.0
// Columns of a database whose cells are JSON, flattened like the objects of a file of JSON lines:
// {"b": 1} in the column doc is a column doc.b.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/table/cells.h"
#include "data/table/flat_reader.h"
#include "io/utf8.h"

namespace kith {
namespace {

class JsonColumns final : public FlatReader {
 public:
  JsonColumns(std::unique_ptr<TableReader> rows, std::vector<bool> is_json)
      : FlatReader(rows->tally(),
                   Flattener({}, "row", "name the keys to be read in a SELECT of --query")),
        rows_(std::move(rows)),
        is_json_(std::move(is_json)) {
    find_columns();
    name_empty_ones();
    row_.close_columns();
  }

  uint64_t bytes() const override { return rows_->bytes(); }
  double share() const override { return rows_->share(); }

 private:
  std::string place() const override { return rows_->where(); }

  bool read_row() override {
    while (rows_->next(cells_)) {
      const size_t columns = row_.columns().size();
      try {
        take_row();
        return true;
      } catch (const BadRow& row) {
        tally()->leave_out(row);
        row_.drop_columns(columns);
      }
    }
    return false;
  }

  void take_row() {
    row_.start_row();
    for (size_t i = 0; i < cells_.size(); ++i) {
      const std::string& name = rows_->columns()[i];
      const std::string_view text = cells_[i].value_or("");
      bool good = true;
      if (!is_json_[i]) {
        good = row_.cell(name, text);
      } else if (!text.empty() && trimmed(text) != "null") {
        row_.enter(name);
        good = nlohmann::json::sax_parse(text.begin(), text.end(), &row_);
      }
      if (good) continue;
      throw BadRow(fmt::format("{}: column {}: {}", place(), shown(name), row_.problem()));
    }
  }

  // Where no row has a key the column is there, and missing; so it is in a table without rows.
  void name_empty_ones() {
    row_.start_row();
    for (size_t i = 0; i < is_json_.size(); ++i) {
      const std::string& name = rows_->columns()[i];
      const bool named = std::ranges::any_of(row_.columns(), [&](const std::string& column) {
        return column == name || (is_json_[i] && column.starts_with(name + "."));
      });
      if (!named) row_.cell(name, "");
    }
  }

  std::unique_ptr<TableReader> rows_;
  std::vector<bool> is_json_;  // by column of these
  std::vector<Cell> cells_;
};

}  // namespace

std::unique_ptr<TableReader> expand_json(std::unique_ptr<TableReader> rows,
                                         std::vector<bool> is_json) {
  if (std::ranges::find(is_json, true) == is_json.end()) return rows;
  return std::make_unique<JsonColumns>(std::move(rows), std::move(is_json));
}

bool is_json_object(std::string_view text) {
  return trimmed(text).starts_with('{') && nlohmann::json::accept(text.begin(), text.end());
}

}  // namespace kith
