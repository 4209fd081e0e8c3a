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
#include <utility>
#include <vector>

#include "kith/error.h"
#include "kith/events.h"
#include "kith/fields.h"
#include "kith/text_encoding.h"

namespace kith {

class RowTally;
class TableReader;

enum class TableFormat { kCsv, kTsv, kJson, kSqlite, kPostgres };
enum class BadRows { kRefuse, kSkip };

struct TableOptions {
  std::optional<TableFormat> format{};
  std::string delimiter{};
  TextEncoding encoding = TextEncoding::kUtf8;
  bool header = true;
  BadRows bad_rows = BadRows::kRefuse;
  std::string query{};
  // For callers who know what they expect, not for users. Whether the first row of a text table,
  // cell by cell, names the columns; asked if `header` is set, and without it every first row does.
  std::function<bool(std::span<const std::string_view>)> is_header{};
  bool columns_only = false;          // nobody asks for rows: a query is not run
  bool spaces = false;                // a blank may be the delimiter, if nothing else is
  std::shared_ptr<RowTally> tally{};  // to share with other readers

  static constexpr std::tuple fields{
      field("format", &TableOptions::format, "format of the table")
          .automatic("recognised by name and content"),
      field("delimiter", &TableOptions::delimiter,
            "what separates the cells of a text table; detected by default"),
      field("encoding", &TableOptions::encoding,
            "encoding of the text, unless it has a byte-order mark"),
      field("header", &TableOptions::header, "the first row names the columns"),
      field("bad-rows", &TableOptions::bad_rows,
            "rows that cannot be read, up to half of all: refuse the table, or skip them"),
      field("query", &TableOptions::query, "for databases: a table's name, or a SELECT"),
  };
};

// The members of a JSON list stand in one cell, with this between them.
inline constexpr char kListSeparator = '\x1f';

// A cell is missing (not there, empty, null) or text, valid until the next row is read.
using Cell = std::optional<std::string_view>;

// One row that cannot be read; the next one can be tried.
class BadRow final : public Error {
 public:
  explicit BadRow(const std::string& message) : Error(ErrorKind::kInput, message) {}
};

// How the rows of a table came out, over all its sources.
class RowTally {
 public:
  explicit RowTally(BadRows bad_rows = BadRows::kRefuse) : bad_rows_(bad_rows) {}
  void add_row() { ++rows_; }  // good or bad
  uint64_t rows() const { return rows_; }
  // Leaves a row out. To be called while it is caught: thrown on if such rows are refused, or if
  // they are most of what there is.
  void leave_out(const BadRow& row);
  // A row with bytes that are not UTF-8, which became U+FFFD.
  void add_repaired(const TableReader& at);
  // Forgets what was counted: the sources are read once more.
  void restart() { *this = RowTally(bad_rows_); }
  // At the end: what a person should know. Error(kInput) if more than half of the rows are bad.
  std::vector<Note> finish() const;

 private:
  void check_most_are_good() const;
  BadRows bad_rows_;
  uint64_t rows_ = 0, left_out_ = 0;
  std::string first_left_out_;  // where and why
  uint64_t repaired_ = 0;
  std::string first_repaired_;  // where
};

class TableReader {
 public:
  explicit TableReader(std::shared_ptr<RowTally> tally) : tally_(std::move(tally)) {}
  explicit TableReader(const TableOptions& options)
      : tally_(options.tally ? options.tally : std::make_shared<RowTally>(options.bad_rows)) {}
  virtual ~TableReader() = default;
  virtual const std::vector<std::string>& columns() const = 0;
  // The next row into `cells`, one for each column; false at the end. Error(kInput) naming file,
  // line and column for what cannot be read, and is not to be skipped.
  virtual bool next(std::vector<Cell>& cells) = 0;
  virtual std::string where() const = 0;  // of the row last read: "films.csv:17"
  // Its number over all sources, from 1: rows that were left out count.
  virtual uint64_t row() const { return tally_->rows(); }
  virtual uint64_t bytes() const = 0;  // read so far; 0 for a database
  virtual double share() const = 0;    // of the input, in [0, 1], or -1 when unknown
  const std::shared_ptr<RowTally>& tally() const { return tally_; }

 private:
  std::shared_ptr<RowTally> tally_;
};

// One table from one or more sources that have the same columns. A source is a file (plain or
// packed), "-" for standard input, or "postgresql://..." for a database server.
std::unique_ptr<TableReader> open_table(const std::vector<std::string>& sources,
                                        const TableOptions& options);

// Whether all of them are files or databases, which give the same when they are opened again.
bool can_be_read_again(const std::vector<std::string>& sources);

}  // namespace kith

template <>
struct kith::EnumNames<kith::BadRows> {
  static constexpr std::array<std::string_view, 2> names{"refuse", "skip"};
};
template <>
struct kith::EnumNames<kith::TableFormat> {
  static constexpr std::array<std::string_view, 5> names{"csv", "tsv", "json", "sqlite",
                                                         "postgres"};
};
