// SPDX-License-Identifier: Apache-2.0
// A table of an SQLite database, or what a SELECT gives. The file is only read.
#include <sqlite3.h>

#include <array>
#include <utility>

#include "core/error.h"
#include "data/table/cells.h"
#include "data/table/table_readers.h"
#include "io/utf8.h"

namespace kith {
namespace {

constexpr int kBusyPatience = 5000;  // milliseconds that another program may hold the file
constexpr int kLooked = 1000;        // rows that tell which columns are JSON

struct Close {
  void operator()(sqlite3* db) const { ::sqlite3_close(db); }
  void operator()(sqlite3_stmt* statement) const { ::sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

class SqliteReader final : public TableReader {
 public:
  SqliteReader(std::string path, const TableOptions& options)
      : TableReader(options), path_(std::move(path)) {
    const std::string& query = options.query;
    sqlite3* db = nullptr;
    const int code =
        ::sqlite3_open_v2(path_.c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
    db_.reset(db);  // there to be closed and asked even if opening failed
    if (code != SQLITE_OK) fail(code);
    ::sqlite3_busy_timeout(db, kBusyPatience);
    statement_ = prepare(is_select(query) ? query : select_all(std::string(trimmed(query))));
    const int columns = ::sqlite3_column_count(statement_.get());
    if (columns == 0 || !::sqlite3_stmt_readonly(statement_.get())) {
      throw fault(ErrorKind::kInput, "{}: the query gives no rows: {}; give a SELECT", path_,
                  shown(query));
    }
    for (int i = 0; i < columns; ++i) {
      columns_.emplace_back(::sqlite3_column_name(statement_.get(), i));
    }
    check_column_names(columns_, path_, "name the columns of the query with AS");
    numbers_.resize(columns_.size());
    repaired_.resize(columns_.size());
  }

  const std::vector<std::string>& columns() const override { return columns_; }

  bool next(std::vector<Cell>& cells) override {
    if (ended_) return false;  // one more step would begin again
    const int code = ::sqlite3_step(statement_.get());
    ended_ = code == SQLITE_DONE;
    if (ended_) return false;
    if (code != SQLITE_ROW) fail(code);
    ++row_;
    tally()->add_row();
    cells.resize(columns_.size());
    bool good = true;
    for (size_t i = 0; i < cells.size(); ++i) {
      cells[i] = cell(i);
      if (!cells[i] || !repair_utf8(*cells[i], repaired_[i])) continue;
      cells[i] = repaired_[i];
      good = false;
    }
    if (!good) tally()->add_repaired(*this);
    return true;
  }

  // By column: whether the cells that are there are objects of JSON, which SQLite keeps as text.
  // Before the first row is read.
  std::vector<bool> find_json() {
    std::vector<bool> some(columns_.size()), all(columns_.size(), true);
    int code = SQLITE_ROW;
    for (int row = 0; row < kLooked && code == SQLITE_ROW; ++row) {
      code = ::sqlite3_step(statement_.get());
      for (size_t i = 0; code == SQLITE_ROW && i < columns_.size(); ++i) {
        const int column = static_cast<int>(i);
        const int type = ::sqlite3_column_type(statement_.get(), column);
        if (type == SQLITE_NULL || !all[i]) continue;
        some[i] = true;
        all[i] = type == SQLITE_TEXT && is_json_object(cell(i).value_or(""));
      }
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code);
    ::sqlite3_reset(statement_.get());
    for (size_t i = 0; i < some.size(); ++i) some[i] = some[i] && all[i];
    return some;
  }

  std::string where() const override { return fmt::format("{}: row {}", path_, row_); }
  uint64_t bytes() const override { return 0; }
  double share() const override { return -1; }

 private:
  // A bad file or query is the fault of the input, lack of memory its own, all else of the system.
  [[noreturn]] void fail(int code) const {
    const int basic = code & 0xff;
    const bool input = basic == SQLITE_CORRUPT || basic == SQLITE_NOTADB || basic == SQLITE_ERROR;
    const ErrorKind kind = input                   ? ErrorKind::kInput
                           : basic == SQLITE_NOMEM ? ErrorKind::kLimit
                                                   : ErrorKind::kIo;
    throw fault(kind, "{}: SQLite says: {}",
                row_ == 0 ? path_ : fmt::format("{} (after row {})", path_, row_),
                db_ ? ::sqlite3_errmsg(db_.get()) : ::sqlite3_errstr(code));
  }

  Statement prepare(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    const char* rest = nullptr;
    const int code = ::sqlite3_prepare_v2(db_.get(), sql.c_str(), static_cast<int>(sql.size()) + 1,
                                          &statement, &rest);
    if (code != SQLITE_OK) fail(code);
    if (trimmed(rest).find_first_not_of("; \n\t") != std::string_view::npos) {
      ::sqlite3_finalize(statement);
      throw fault(ErrorKind::kInput, "{}: the query has more than one statement; give one SELECT",
                  path_);
    }
    return Statement(statement);
  }

  std::string select_all(const std::string& table) const {
    // Views can be named, but only tables are counted when none is.
    const Statement list = prepare(fmt::format(
        "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND type IN "
        "('table'{}) ORDER BY name",
        table.empty() ? "" : ", 'view'"));
    std::vector<std::string> tables;
    int code;
    while ((code = ::sqlite3_step(list.get())) == SQLITE_ROW) {
      tables.emplace_back(reinterpret_cast<const char*>(::sqlite3_column_text(list.get(), 0)));
    }
    if (code != SQLITE_DONE) fail(code);
    std::string quoted;
    for (const char c : tables[choose_table(tables, table, path_)]) {
      quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return fmt::format("SELECT * FROM \"{}\"", quoted);
  }

  Cell cell(size_t i) {
    const int column = static_cast<int>(i);
    switch (::sqlite3_column_type(statement_.get(), column)) {
      case SQLITE_INTEGER:
        return number(i, ::sqlite3_column_int64(statement_.get(), column));
      case SQLITE_FLOAT:  // SQLite's own text would have 15 digits only
        return number(i, ::sqlite3_column_double(statement_.get(), column));
      case SQLITE_TEXT: {
        const auto* text =
            reinterpret_cast<const char*>(::sqlite3_column_text(statement_.get(), column));
        const auto size = static_cast<size_t>(::sqlite3_column_bytes(statement_.get(), column));
        return text && size > 0 ? Cell(std::string_view(text, size)) : Cell();
      }
      case SQLITE_BLOB:
        throw fault(ErrorKind::kInput,
                    "{}: column {} holds binary data (a BLOB); leave it out with a SELECT, or make "
                    "it text with CAST or hex()",
                    where(), shown(columns_[i]));
      default:
        return std::nullopt;
    }
  }

  template <class T>
  Cell number(size_t i, T value) {
    char* const begin = numbers_[i].data();
    return std::string_view(begin, static_cast<size_t>(fmt::format_to(begin, "{}", value) - begin));
  }

  std::string path_;
  Database db_;
  Statement statement_;  // after the database: it must go first
  std::vector<std::string> columns_;
  std::vector<std::array<char, 32>>
      numbers_;                        // text of the numbers of a row: 24 characters at most
  std::vector<std::string> repaired_;  // cells of a row that were not UTF-8
  uint64_t row_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<TableReader> read_sqlite(const std::string& path, const TableOptions& options) {
  auto rows = std::make_unique<SqliteReader>(path, options);
  std::vector<bool> is_json = rows->find_json();
  return expand_json(std::move(rows), std::move(is_json));
}

}  // namespace kith
