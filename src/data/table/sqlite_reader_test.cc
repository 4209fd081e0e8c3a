// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "data/dataset.h"
#include "data/ratings/rating_columns.h"
#include "data/table/test_tables.h"

namespace kith {
namespace {

using Names = std::vector<std::string>;
using Rows = std::vector<Row>;

class SqliteReader : public testing::Test {
 protected:
  std::string database(const std::string& sql) {
    std::string path = folder_.path() + "/t.db";
    std::filesystem::remove(path);
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db);
    sqlite3_close(db);
    return path;
  }
  std::string error(const std::string& path, const std::string& query = "",
                    ErrorKind kind = ErrorKind::kInput) {
    return message_of(kind, [&] { rows_of(*open_table({path}, {.query = query})); });
  }
  TestFolder folder_;
};

TEST_F(SqliteReader, WhatIsNotUtf8IsRepairedAndTold) {
  const auto path =
      database("CREATE TABLE t(a, b); INSERT INTO t VALUES(CAST(x'e9' AS TEXT), 'b')");
  const auto reader = open_table({path}, {});
  EXPECT_EQ(rows_of(*reader), (Rows{{"\uFFFD", "b"}}));
  EXPECT_EQ(reader->tally()->finish().size(), 1u);
}

TEST_F(SqliteReader, TheOnlyTableIsTaken) {
  const auto path = database(
      "CREATE TABLE films(name TEXT, year INT, score REAL);"
      "INSERT INTO films VALUES('Alien', 1979, 0.1), ('', NULL, 0.30000000000000004),"
      "('Brazil', -9223372036854775808, 2)");
  const auto reader = open_table({path}, {});
  EXPECT_EQ(reader->columns(), (Names{"name", "year", "score"}));
  EXPECT_EQ(rows_of(*reader), (Rows{{"Alien", "1979", "0.1"},
                                    {kMissing, kMissing, "0.30000000000000004"},
                                    {"Brazil", "-9223372036854775808", "2"}}));
  EXPECT_EQ(reader->where(), path + ": row 3");
  EXPECT_EQ(reader->bytes(), 0u);
  EXPECT_EQ(reader->share(), -1);
  std::vector<Cell> cells;
  EXPECT_FALSE(reader->next(cells)) << "does not begin again";
}

TEST_F(SqliteReader, ColumnsOfJsonObjectsAreFlattened) {
  const std::string table = "CREATE TABLE t(id INT, doc TEXT, note TEXT, list TEXT);";
  const std::string rows =
      "INSERT INTO t VALUES(1, '{\"a\": 1, \"b\": {\"c\": \"x\"}}', '{no json', '[1, 2]'),"
      "(2, NULL, '{}', '[3]'), (3, ' {\"b\": {\"c\": \"y\"}}', NULL, '[4]')";
  const auto path = database(table + rows);
  const auto reader = open_table({path}, {});
  EXPECT_EQ(reader->columns(),
            (std::vector<std::string>{"id", "doc.a", "doc.b.c", "note", "list"}));
  EXPECT_EQ(rows_of(*reader), (Rows{{"1", "1", "x", "{no json", "[1, 2]"},
                                    {"2", kMissing, kMissing, "{}", "[3]"},
                                    {"3", kMissing, "y", kMissing, "[4]"}}));
  EXPECT_EQ(reader->where(), path + ": row 3");
  EXPECT_EQ(reader->tally()->finish().size(), 0u);

  std::string many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ";
  const auto query = [&](int last, const std::string& then) {
    return many + std::to_string(last) + ") SELECT i, CASE WHEN i < 1001 THEN '{\"a\": 1}' ELSE '" +
           then + "' END AS doc FROM n";
  };
  EXPECT_EQ(rows_of(*open_table({path}, {.query = query(1000, "")})).size(), 1000u);
  expect_part(": row 1001: column doc: this is not JSON", error(path, query(1001, "no")));
  expect_part(
      "nested deeper than 100 levels",
      error(path, query(1001, "{\"a\":" + std::string(101, '[') + std::string(101, ']') + "}")));
  TableOptions skip{.bad_rows = BadRows::kSkip, .query = query(1002, "no")};
  EXPECT_EQ(rows_of(*open_table({path}, skip)).size(), 1000u);
}

TEST_F(SqliteReader, ATableOrAQueryCanBeChosen) {
  const auto path = database(
      "CREATE TABLE a(x); CREATE TABLE \"b \"\" c\"(y); INSERT INTO a VALUES(1), (2);"
      "INSERT INTO \"b \"\" c\" VALUES(3); CREATE VIEW v AS SELECT x + 1 AS z FROM a");
  EXPECT_EQ(rows_of(*open_table({path}, {.query = "a"})), (Rows{{"1"}, {"2"}}));
  EXPECT_EQ(rows_of(*open_table({path}, {.query = "b \" c"})), (Rows{{"3"}}));
  EXPECT_EQ(rows_of(*open_table({path}, {.query = "v"})), (Rows{{"2"}, {"3"}}));
  const auto reader = open_table({path}, {.query = " select x AS k FROM a WHERE x > 1;\n"});
  EXPECT_EQ(reader->columns(), Names{"k"});
  EXPECT_EQ(rows_of(*reader), (Rows{{"2"}}));
  EXPECT_EQ(rows_of(*open_table({path}, {.query = "WITH q(n) AS (VALUES(7)) SELECT n FROM q"})),
            (Rows{{"7"}}));
}

TEST_F(SqliteReader, ATableOfRatingsIsSeenByItsColumns) {
  const auto path = database(
      "CREATE TABLE seen(\"user\", film, rating); CREATE TABLE films(film, year);"
      "INSERT INTO seen VALUES('a', 'x', 3)");
  EXPECT_EQ(looks_like_ratings(path, "seen"), "columns user, film and rating");
  EXPECT_EQ(seen_as(path, "seen").kind->name, "ratings");
  EXPECT_EQ(seen_as(path, "films").kind->name, "table");
  EXPECT_EQ(seen_as(path, "SELECT user AS who, film AS item, rating AS stars FROM seen").kind->name,
            "table");
  EXPECT_EQ(seen_as(path, "SELECT user, film AS item, rating AS stars FROM seen").kind->name,
            "ratings");
  expect_part("the database has 2 tables; choose one with --query",
              message_of(ErrorKind::kInput, [&] { seen_as(path); }));
}

TEST_F(SqliteReader, Errors) {
  const auto path = database(
      "CREATE TABLE films(x); CREATE TABLE people(x, b);"
      "INSERT INTO people VALUES('p', x'00ff')");
  expect_part(path +
                  ": the database has 2 tables; choose one with --query, or give a SELECT: "
                  "films, people",
              error(path));
  expect_part("there is no table film among films, people; did you mean films?",
              error(path, "film"));
  expect_part(path + ": SQLite says: no such column: nope", error(path, "SELECT nope FROM films"));
  expect_part("more than one statement", error(path, "SELECT 1 AS a; SELECT 2 AS b"));
  expect_part("there is no table DELETE FROM films", error(path, "DELETE FROM films"));
  expect_part("the query gives no rows", error(path, "WITH q AS (SELECT 1) DELETE FROM films"));
  expect_part(": row 1: column b holds binary data (a BLOB)", error(path, "people"));
  expect_part("columns 1 and 2 are both called x; name the columns of the query with AS",
              error(path, "SELECT x, x FROM films"));
  expect_part("the database has no tables", error(database("PRAGMA user_version = 1")));
}

TEST_F(SqliteReader, FilesThatAreNoGoodDatabase) {
  const auto path = database("CREATE TABLE t(x); INSERT INTO t VALUES(1)");
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto cut = folder_.write("cut.db", bytes.substr(0, 1000));
  EXPECT_NE(error(cut), "");
  const auto text = folder_.write("text.db", "hello\n");
  expect_part("file is not a database", message_of(ErrorKind::kInput, [&] {
                open_table({text}, {.format = TableFormat::kSqlite});
              }));
}

}  // namespace
}  // namespace kith
