// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts without labels, one at a time: lines, empty ones too, or rows of a table with a column of
// texts.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/labelled/label_source.h"
#include "data/table/table_reader.h"

namespace kith {

struct TextRow {
  std::string_view text;  // "" if the cell is missing; dies with the next
  std::string_view name;  // of the column that names rows; "" if there is none
};

class TextRows {
 public:
  // `column`: of the texts, several with commas; "" for lines. `name`: the column that names the
  // rows, or "". Error(kUsage) for what only tables have, with the flag `name_flag` for the name.
  TextRows(const std::vector<std::string>& sources, const std::string& column,
           const std::string& name, std::string_view name_flag, const TableOptions& table);

  bool next(TextRow& out);
  uint64_t row() const { return source_->row(); }  // what was left out counts
  const std::string& where() const { return where_; }
  uint64_t bytes() const { return source_->bytes(); }
  double share() const { return source_->share(); }
  std::vector<Note> finish() { return source_->finish(); }

 private:
  std::string where_, name_;
  std::string_view name_flag_;
  std::unique_ptr<LabelSource> source_;
  LabelledText item_;
  std::optional<size_t> name_at_;
};

}  // namespace kith
