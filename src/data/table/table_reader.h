// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables as they come: CSV, TSV, JSON lines, JSON arrays, SQLite, PostgreSQL. Rows of text cells,
// in a stream; what the cells mean is the schema's business (schema.h).

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kith/fields.h"

namespace kith {

enum class TableFormat { kCsv, kTsv, kJson, kSqlite, kPostgres };

struct TableOptions {
  std::optional<TableFormat> format{};
  std::string delimiter{};
  bool header = true;
  std::string query{};
  // For callers who know what they expect, not for users. Whether the first row of a text table,
  // cell by cell, names the columns; asked if `header` is set, and without it every first row does.
  std::function<bool(std::span<const std::string_view>)> is_header{};
  bool spaces = false;  // a blank may be the delimiter, if nothing else is

  static constexpr std::tuple fields{
      field("format", &TableOptions::format, "of the table")
          .automatic("seen from name and content"),
      field("delimiter", &TableOptions::delimiter, "between the cells of a text table; else found"),
      field("header", &TableOptions::header, "the first row names the columns"),
      field("query", &TableOptions::query, "for databases: a table's name, or a SELECT"),
  };
};

// The members of a JSON list stand in one cell, with this between them.
inline constexpr char kListSeparator = '\x1f';

// A cell is missing (not there, empty, null) or text, valid until the next row is read.
using Cell = std::optional<std::string_view>;

class TableReader {
 public:
  virtual ~TableReader() = default;
  virtual const std::vector<std::string>& columns() const = 0;
  // The next row into `cells`, one for each column; false at the end. Error(kInput) naming file,
  // line and column for what cannot be read.
  virtual bool next(std::vector<Cell>& cells) = 0;
  virtual std::string where() const = 0;  // of the row last read: "films.csv:17"
  virtual uint64_t bytes() const = 0;     // read so far; 0 for a database
  virtual double share() const = 0;       // of the input, in [0, 1], or -1 when unknown
};

// One table from one or more sources that have the same columns. A source is a file (plain, gzip or
// zstd), "-" for standard input, or "postgresql://..." for a database server.
std::unique_ptr<TableReader> open_table(const std::vector<std::string>& sources,
                                        const TableOptions& options);

}  // namespace kith

template <>
struct kith::EnumNames<kith::TableFormat> {
  static constexpr std::array<std::string_view, 5> names{"csv", "tsv", "json", "sqlite",
                                                         "postgres"};
};
