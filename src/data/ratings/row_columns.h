// SPDX-License-Identifier: Apache-2.0
#pragma once
// Columns that say something of users, or of items, gathered on the way: in a table of ratings
// those whose cell is the same in all ratings of a row; in a table of their own all.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/names.h"
#include "data/ratings/row_features.h"
#include "data/table/table_reader.h"

namespace kith {

class RowColumns {
 public:
  enum class From { kRatings, kOwnTable };
  RowColumns(std::vector<std::string> names, From from);
  // A cell for each column. The first that is there counts; in a table of ratings a later one that
  // differs ends the column.
  void add(uint32_t row, std::span<const Cell> cells);
  // Whether the cells are the same wherever a row stood again, which they must have had the chance
  // not to be.
  bool is_left(size_t column) const;
  // What is left, as features of so many rows. Their types are inferred as those of a table are.
  RowFeatures features(size_t rows) const;

 private:
  struct Column {
    std::string name;
    std::vector<std::string> cells;  // of rows; empty: not there
    bool same = true;
    uint64_t first = 0, again = 0;  // cells of rows that had none, and that had one
  };
  std::vector<Column> columns_;
  From from_;
};

// A table about users or items.
struct TableOfRows {
  std::string path;
  const char* what;           // "user" or "item"
  const Names& rows;          // whom it may be about
  const std::string& column;  // what the ratings call them
};
// Its features. The column that is called as in the ratings, else the first one, says of whom; rows
// of others are left out. Error(kInput) if all are. Notes say what is learned from, and of how
// many.
RowFeatures read_features(const TableOfRows& about, TableOptions options, std::vector<Note>& notes);

// A handful of names, for a note.
std::string listed(std::vector<std::string> names);

// The features of both.
RowFeatures joined(const RowFeatures& a, const RowFeatures& b);

}  // namespace kith
