// SPDX-License-Identifier: Apache-2.0
// A table of a PostgreSQL server, or what a SELECT gives, row by row: the server waits until we
// have read, so memory is that of a row. Nothing is changed there, and passwords are never shown.
#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "data/table/cells.h"
#include "data/table/table_readers.h"
#include "io/utf8.h"

namespace kith {
namespace {

struct Close {
  void operator()(PGconn* connection) const { ::PQfinish(connection); }
  void operator()(PGresult* result) const { ::PQclear(result); }
  void operator()(PQconninfoOption* options) const { ::PQconninfoFree(options); }
};
using Connection = std::unique_ptr<PGconn, Close>;
using Result = std::unique_ptr<PGresult, Close>;
using Address = std::unique_ptr<PQconninfoOption, Close>;

// Numbers of types, fixed in the server's pg_type.dat.
constexpr Oid kBool = 16, kBytea = 17, kJson = 114, kJsonb = 3802;
// Of: bool, char, name, int2, int4, text, bpchar, varchar, int8, float4, float8, timestamp, date,
// timestamptz, numeric, uuid.
constexpr std::array<Oid, 16> kArrays{1000, 1002, 1003, 1005, 1007, 1009, 1014, 1015,
                                      1016, 1021, 1022, 1115, 1182, 1185, 1231, 2951};

enum class Kind { kPlain, kBool, kArray, kBinary };

Kind kind_of(Oid type) {
  if (type == kBool) return Kind::kBool;
  if (type == kBytea) return Kind::kBinary;
  return std::ranges::find(kArrays, type) != kArrays.end() ? Kind::kArray : Kind::kPlain;
}

// {a,b,"c \"d\"",NULL} -> a b c "d", joined. Arrays of arrays become one list.
void unpack_array(std::string_view text, std::string& out) {
  out.clear();
  text.remove_prefix(std::min(text.find('{'), text.size()));  // "[0:2]=" may stand in front
  const auto add = [&](std::string_view member) {
    if (member.empty()) return;
    if (!out.empty()) out += kListSeparator;
    out += member;
  };
  std::string member;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      member.clear();
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        member += text[i];
      }
      ++i;
      add(member);
    } else if (text[i] == '{' || text[i] == '}' || text[i] == ',') {
      ++i;
    } else {
      const size_t end = std::min(text.find_first_of(",}", i), text.size());
      const std::string_view bare = text.substr(i, end - i);
      if (bare != "NULL") add(bare);
      i = end;
    }
  }
}

// The server as messages call it, and its password, which they must not say.
struct Server {
  std::string where, password;
};

// What should have been escaped sends parts of a password to where it may be shown.
bool is_escaped(std::string_view source) {
  const size_t user = source.find("://") + 3;
  const std::string_view place = source.substr(user, source.find('?', user) - user);
  const size_t at = place.rfind('@');
  return at == std::string_view::npos ||
         place.substr(0, at).find_first_of("/@") == std::string_view::npos;
}

Server describe(const std::string& source) {
  char* message = nullptr;
  const Address address(is_escaped(source) ? ::PQconninfoParse(source.c_str(), &message) : nullptr);
  ::PQfreemem(message);  // may quote the password
  if (!address) {
    throw fault(ErrorKind::kUsage,
                "the address of the database cannot be read; write it as "
                "postgresql://USER@HOST:PORT/DATABASE, with %XX for special characters");
  }
  const auto get = [&](std::string_view key) {
    for (const auto* o = address.get(); o->keyword; ++o) {
      if (key == o->keyword && o->val) return std::string(o->val);
    }
    return std::string();
  };
  std::string out = "postgresql://";
  if (const auto user = get("user"); !user.empty()) out += user + "@";
  out += get("host");
  if (const auto port = get("port"); !port.empty()) out += ":" + port;
  return {out + "/" + get("dbname"), get("password")};
}

class PostgresReader final : public TableReader {
 public:
  PostgresReader(const std::string& source, const TableOptions& options)
      : TableReader(options), server_(describe(source)) {
    const std::string& query = options.query;
    connect(source);
    command("BEGIN READ ONLY");
    command("SET LOCAL DateStyle TO ISO");
    const std::string statement =
        is_select(query) ? query : select_all(table_of(std::string(trimmed(query))));
    if (options.columns_only) {
      const Result prepared(::PQprepare(connection_.get(), "", statement.c_str(), 0, nullptr));
      check(prepared.get());
      result_.reset(::PQdescribePrepared(connection_.get(), ""));
      check(result_.get());
      find_columns();
      result_.reset();
      return;
    }
    // With parameters, even none, a query can only be one statement.
    if (!::PQsendQueryParams(connection_.get(), statement.c_str(), 0, nullptr, nullptr, nullptr,
                             nullptr, 0) ||
        !::PQsetSingleRowMode(connection_.get())) {
      fail(::PQerrorMessage(connection_.get()));
    }
    fetch();
    find_columns();
  }

  const std::vector<std::string>& columns() const override { return columns_; }
  const std::vector<bool>& is_json() const { return is_json_; }  // by column

  bool next(std::vector<Cell>& cells) override {
    if (!std::exchange(held_, false)) fetch();
    if (!result_) return false;
    ++row_;
    tally()->add_row();
    cells.resize(columns_.size());
    for (size_t i = 0; i < cells.size(); ++i) cells[i] = cell(i);
    return true;
  }

  std::string where() const override { return fmt::format("{}: row {}", server_.where, row_); }
  uint64_t bytes() const override { return 0; }
  double share() const override { return -1; }

 private:
  void connect(const std::string& source) {
    // What stands behind dbname, the address, wins over it; what stands before is a default.
    const std::array<const char*, 5> keys{"connect_timeout", "fallback_application_name", "dbname",
                                          "client_encoding", nullptr};
    const std::array<const char*, 5> values{"30", "kith", source.c_str(), "UTF8", nullptr};
    connection_.reset(::PQconnectdbParams(keys.data(), values.data(), 1));
    if (!connection_) throw std::bad_alloc();
    // The library would print what servers remark.
    ::PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    if (::PQstatus(connection_.get()) != CONNECTION_OK) {
      throw fault(ErrorKind::kIo, "{}: cannot connect: {}", server_.where,
                  one_line(::PQerrorMessage(connection_.get())));
    }
  }

  // The server's words on one line, without the password.
  std::string one_line(std::string text) const {
    const std::string& secret = server_.password;
    for (size_t i = 0; !secret.empty() && (i = text.find(secret, i)) != std::string::npos; i += 3) {
      text.replace(i, secret.size(), "***");
    }
    std::string out;
    for (const char c : trimmed(text)) {
      const bool space = c == '\n' || c == '\t' || c == '\r' || c == ' ';
      if (!space) out += c;
      if (space && out.back() != ' ') out += ' ';
    }
    return out;
  }

  [[noreturn]] void fail(const char* message, std::string_view state = "") const {
    // Class 57P: the server is being shut down.
    if (::PQstatus(connection_.get()) == CONNECTION_BAD || state.starts_with("57P")) {
      throw fault(ErrorKind::kIo, "{}: the connection was lost after row {}: {}", server_.where,
                  row_, one_line(message));
    }
    throw fault(ErrorKind::kInput, "{}: the server says: {}",
                row_ == 0 ? server_.where : fmt::format("{} (after row {})", server_.where, row_),
                one_line(message));
  }

  void check(const PGresult* result) const {
    const ExecStatusType status = ::PQresultStatus(result);
    if (status != PGRES_FATAL_ERROR && status != PGRES_BAD_RESPONSE) return;
    const char* const message = ::PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char* const state = ::PQresultErrorField(result, PG_DIAG_SQLSTATE);
    fail(message ? message : ::PQerrorMessage(connection_.get()), state ? state : "");
  }

  Result command(const char* sql, const char* parameter = nullptr) const {
    Result result(::PQexecParams(connection_.get(), sql, parameter ? 1 : 0, nullptr, &parameter,
                                 nullptr, nullptr, 0));
    check(result.get());
    return result;
  }

  // The table as SQL names it: quoted and with its schema where needed.
  std::string table_of(const std::string& name) const {
    // Views can be named, but only tables are counted when none is.
    const Result list = command(
        "SELECT c.oid::regclass::text, c.relname, n.nspname || '.' || c.relname "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE (c.relkind IN ('r', 'p') OR $1 <> '' AND c.relkind IN ('v', 'm', 'f')) "
        "AND NOT c.relispartition "
        "AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' "
        "ORDER BY NOT pg_table_is_visible(c.oid), 1",
        name.c_str());
    std::vector<std::string> tables;
    for (int row = 0; row < ::PQntuples(list.get()); ++row) {
      tables.emplace_back(::PQgetvalue(list.get(), row, 0));
      for (const int column : {1, 2}) {
        if (name == ::PQgetvalue(list.get(), row, column)) return tables.back();
      }
    }
    return tables[choose_table(tables, name, server_.where)];
  }

  // In the order of its primary key, if it has one: else a server gives rows as it likes, and the
  // same run tomorrow would see other data.
  std::string select_all(const std::string& table) const {
    const Result key = command(
        "SELECT quote_ident(a.attname) FROM pg_index i "
        "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) "
        "WHERE i.indrelid = $1::regclass AND i.indisprimary "
        "ORDER BY array_position(i.indkey::int2[], a.attnum)",
        table.c_str());
    std::string out = "SELECT * FROM " + table;
    for (int row = 0; row < ::PQntuples(key.get()); ++row) {
      out += (row == 0 ? " ORDER BY " : ", ") + std::string(::PQgetvalue(key.get(), row, 0));
    }
    return out;
  }

  // The next row into result_, or nothing at the end. The first result of a query without rows is
  // kept too: it has the columns.
  void fetch() {
    result_.reset(::PQgetResult(connection_.get()));
    if (!result_) return;
    check(result_.get());
    const bool row = ::PQresultStatus(result_.get()) == PGRES_SINGLE_TUPLE;
    if (!row && !columns_.empty()) result_.reset();
  }

  void find_columns() {
    const int columns = result_ ? ::PQnfields(result_.get()) : 0;
    if (columns == 0) {
      throw fault(ErrorKind::kInput, "{}: the query gives no columns; give a SELECT",
                  server_.where);
    }
    for (int i = 0; i < columns; ++i) {
      columns_.emplace_back(::PQfname(result_.get(), i));
      const Oid type = ::PQftype(result_.get(), i);
      kinds_.push_back(kind_of(type));
      is_json_.push_back(type == kJson || type == kJsonb);
    }
    check_column_names(columns_, server_.where, "name the columns of the query with AS");
    lists_.resize(columns_.size());
    held_ = ::PQresultStatus(result_.get()) == PGRES_SINGLE_TUPLE;
  }

  Cell cell(size_t i) {
    const int column = static_cast<int>(i);
    if (::PQgetisnull(result_.get(), 0, column)) return std::nullopt;
    std::string_view text(::PQgetvalue(result_.get(), 0, column),
                          static_cast<size_t>(::PQgetlength(result_.get(), 0, column)));
    switch (kinds_[i]) {
      case Kind::kBool:
        return text == "t" ? "true" : "false";
      case Kind::kBinary:
        throw fault(ErrorKind::kInput,
                    "{}: column {} holds binary data (bytea); leave it out with a SELECT, or make "
                    "it text with encode()",
                    where(), shown(columns_[i]));
      case Kind::kArray:
        unpack_array(text, lists_[i]);
        text = lists_[i];
        break;
      case Kind::kPlain:
        break;
    }
    return text.empty() ? Cell() : Cell(text);
  }

  Server server_;
  Connection connection_;
  Result result_;  // the row last read
  std::vector<std::string> columns_;
  std::vector<Kind> kinds_;
  std::vector<bool> is_json_;
  std::vector<std::string> lists_;  // unpacked arrays of the row, by column
  uint64_t row_ = 0;
  bool held_ = false;  // result_ is the first row, and next() has not given it
};

}  // namespace

std::unique_ptr<TableReader> read_postgres(const std::string& source, const TableOptions& options) {
  auto rows = std::make_unique<PostgresReader>(source, options);
  std::vector<bool> is_json = rows->is_json();
  return expand_json(std::move(rows), std::move(is_json));
}

}  // namespace kith
