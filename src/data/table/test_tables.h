// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: tables as plain values.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/table/table_readers.h"
#include "data/test_files.h"

namespace kith {

using Row = std::vector<std::optional<std::string>>;
inline constexpr std::nullopt_t kMissing = std::nullopt;

// Rows that are there already.
class FixedTable final : public TableReader {
 public:
  FixedTable(std::vector<std::string> columns, std::vector<Row> rows)
      : TableReader(TableOptions{}), columns_(std::move(columns)), rows_(std::move(rows)) {}
  const std::vector<std::string>& columns() const override { return columns_; }
  bool next(std::vector<Cell>& cells) override {
    if (at_ == rows_.size()) return false;
    cells.assign(rows_[at_].begin(), rows_[at_].end());
    ++at_;
    return true;
  }
  std::string where() const override { return fmt::format("fixed:{}", at_); }
  uint64_t bytes() const override { return at_; }
  double share() const override { return -1; }

 private:
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
  size_t at_ = 0;
};

inline std::vector<Row> rows_of(TableReader& reader) {
  std::vector<Row> out;
  for (std::vector<Cell> cells; reader.next(cells);) {
    EXPECT_EQ(cells.size(), reader.columns().size());
    out.emplace_back(cells.begin(), cells.end());
  }
  return out;
}

// A text as a table called "t", in pieces of the given size.
inline std::unique_ptr<TableReader> table_of(std::string text, const TableOptions& options = {},
                                             size_t piece = size_t{1} << 20) {
  return read_text_table(memory_source(std::move(text), piece), "t", options);
}

// The message with which a text is refused.
inline std::string refusal(const std::string& text, const TableOptions& options = {}) {
  return message_of(ErrorKind::kInput, [&] { rows_of(*table_of(text, options)); });
}

inline void expect_part(const std::string& part, const std::string& message) {
  EXPECT_PRED_FORMAT2(testing::IsSubstring, part, message);
}

}  // namespace kith
