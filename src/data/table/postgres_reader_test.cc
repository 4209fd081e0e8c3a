// SPDX-License-Identifier: Apache-2.0
// Against a real server that each test starts in a folder of its own, reached by a socket there.
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <cstdlib>

#include "core/error.h"
#include "data/table/test_tables.h"

namespace kith {
namespace {

using Names = std::vector<std::string>;
using Rows = std::vector<Row>;

class PostgresReader : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path versions = "/usr/lib/postgresql";
    if (std::filesystem::is_directory(versions)) {
      for (const auto& version : std::filesystem::directory_iterator(versions)) {
        if (std::filesystem::exists(version.path() / "bin/initdb"))
          programs_ = version.path() / "bin";
      }
    }
    if (programs_.empty()) GTEST_SKIP() << "there is no PostgreSQL server here";
    // The server refuses to be root.
    if (geteuid() == 0) shell(fmt::format("chown postgres {}", folder_.path()));
    ASSERT_EQ(
        as_server(fmt::format("{}/initdb -D {} -A trust -U kith -E UTF8 --no-locale --no-sync",
                              programs_, data())),
        0);
    started_ = as_server(fmt::format("{}/pg_ctl start -w -D {} -l {}/log -o \"-k {} -c "
                                     "listen_addresses= -c fsync=off\"",
                                     programs_, data(), folder_.path(), folder_.path())) == 0;
    ASSERT_TRUE(started_);
  }
  void TearDown() override {
    if (started_) stop();
  }

  static int shell(const std::string& command) {
    return std::system(("cd / && " + command + " >/dev/null 2>&1").c_str());
  }
  static int as_server(const std::string& command) {
    return shell((geteuid() == 0 ? "runuser -u postgres -- " : "") + command);
  }
  void stop() {
    as_server(fmt::format("{}/pg_ctl stop -m immediate -D {}", programs_, data()));
    started_ = false;
  }

  std::string data() const { return folder_.path() + "/data"; }
  std::string address() const {
    return fmt::format("postgresql://kith:s3cret@/postgres?host={}", folder_.path());
  }
  void execute(const std::string& sql) const {
    PGconn* const connection = PQconnectdb(address().c_str());
    PGresult* const result = PQexec(connection, sql.c_str());
    EXPECT_NE(PQresultStatus(result), PGRES_FATAL_ERROR) << PQerrorMessage(connection);
    PQclear(result);
    PQfinish(connection);
  }
  std::unique_ptr<TableReader> open(const std::string& query = "") const {
    return open_table({address()}, {.query = query});
  }
  std::string error(const std::string& query = "") const {
    std::string message = message_of(ErrorKind::kInput, [&] { rows_of(*open(query)); });
    EXPECT_EQ(message.find("s3cret"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }

  TestFolder folder_;
  std::string programs_;
  bool started_ = false;
};

TEST_F(PostgresReader, EveryKindOfCell) {
  execute(
      "CREATE TABLE films(name text, year int, score float8, good bool, born date, tags text[], "
      "ids int[], price numeric(8,2));"
      "INSERT INTO films VALUES('Alien', 1979, 0.30000000000000004, true, '1979-05-25', "
      "'{a,\"b c\",\"say \\\"hi\\\"\",NULL,\"x,y\"}', '{{1,2},{3,4}}', 9.50),"
      "('', NULL, 'NaN', false, NULL, '{}', '[0:1]={7,8}', NULL)");
  const std::string s(1, kListSeparator);
  const auto reader = open();
  EXPECT_EQ(reader->columns(),
            (Names{"name", "year", "score", "good", "born", "tags", "ids", "price"}));
  EXPECT_EQ(
      rows_of(*reader),
      (Rows{{"Alien", "1979", "0.30000000000000004", "true", "1979-05-25",
             "a" + s + "b c" + s + "say \"hi\"" + s + "x,y", "1" + s + "2" + s + "3" + s + "4",
             "9.50"},
            {kMissing, kMissing, "NaN", "false", kMissing, kMissing, "7" + s + "8", kMissing}}));
  EXPECT_EQ(reader->where(), "postgresql://kith@" + folder_.path() + "/postgres: row 2");
  EXPECT_EQ(reader->share(), -1);
  std::vector<Cell> cells;
  EXPECT_FALSE(reader->next(cells));
}

// Rows that were changed go to the end of the table, where a plain SELECT finds them.
TEST_F(PostgresReader, RowsComeInTheOrderOfThePrimaryKey) {
  execute(
      "CREATE TABLE keyed(b int, \"A\" text, x int, PRIMARY KEY(\"A\", b));"
      "INSERT INTO keyed VALUES(2, 'p', 1), (1, 'q', 2), (1, 'p', 3);"
      "UPDATE keyed SET x = 4 WHERE x = 1");
  EXPECT_EQ(rows_of(*open("keyed")), (Rows{{"1", "p", "3"}, {"2", "p", "4"}, {"1", "q", "2"}}));
}

// As the same rows are that come as JSON lines.
TEST_F(PostgresReader, JsonIsFlattened) {
  execute(
      "CREATE TABLE docs(id int, doc jsonb, plain json, none jsonb, tags text[]);"
      "INSERT INTO docs VALUES(1, '{\"a\": \"x\", \"b\": {\"c\": 2, \"d\": [1, 2]}}', "
      "'{\"k\": true}', NULL, '{p,q}'), (2, NULL, 'null', NULL, NULL), "
      "(3, '{\"b\": {\"c\": 3}, \"e\": \"late\"}', '{}', '{}', '{}')");
  const std::string s(1, kListSeparator);
  const auto reader = open("SELECT * FROM docs ORDER BY id");
  EXPECT_EQ(reader->columns(),
            (Names{"id", "doc.a", "doc.b.c", "doc.b.d", "plain.k", "tags", "doc.e", "none"}));
  EXPECT_EQ(rows_of(*reader),
            (Rows{{"1", "x", "2", "1" + s + "2", "true", "p" + s + "q", kMissing, kMissing},
                  {"2", kMissing, kMissing, kMissing, kMissing, kMissing, kMissing, kMissing},
                  {"3", kMissing, "3", kMissing, kMissing, kMissing, "late", kMissing}}));
  expect_part(
      "row 1001: column doc: the key doc.b is not among the first 1000 rows, which settle "
      "the columns; name the keys to be read in a SELECT of --query",
      error("SELECT jsonb_build_object(CASE WHEN i > 1000 THEN 'b' ELSE 'a' END, i) AS doc "
            "FROM generate_series(1, 1001) AS i"));
  expect_part("the key doc.a occurs twice in this row",
              error("SELECT 1 AS \"doc.a\", '{\"a\": 2}'::json AS doc"));
}

TEST_F(PostgresReader, ATableOrAQueryCanBeChosen) {
  execute(
      "CREATE TABLE films(x int); CREATE TABLE \"My Films\"(y int); INSERT INTO films VALUES(1), "
      "(2);"
      "INSERT INTO \"My Films\" VALUES(3); CREATE VIEW v AS SELECT x + 1 AS z FROM films;"
      "CREATE SCHEMA other; CREATE TABLE other.films(w int); INSERT INTO other.films VALUES(4);"
      "CREATE TABLE blobs(b bytea); INSERT INTO blobs VALUES('\\x00')");
  EXPECT_EQ(rows_of(*open("films")), (Rows{{"1"}, {"2"}}));
  EXPECT_EQ(rows_of(*open("public.films")), (Rows{{"1"}, {"2"}}));
  EXPECT_EQ(rows_of(*open("other.films")), (Rows{{"4"}}));
  EXPECT_EQ(rows_of(*open("My Films")), (Rows{{"3"}}));
  EXPECT_EQ(rows_of(*open("v")), (Rows{{"2"}, {"3"}}));
  EXPECT_EQ(rows_of(*open("select x AS k FROM films WHERE x > 1;")), (Rows{{"2"}}));
  const auto none = open("SELECT x AS k FROM films WHERE false");
  EXPECT_EQ(none->columns(), Names{"k"});
  EXPECT_EQ(rows_of(*none), Rows{});

  expect_part(
      "the database has 4 tables; choose one with --query, or give a SELECT: \"My Films\", "
      "blobs, films, other.films",
      error());
  expect_part("there is no table film among ", error("film"));
  expect_part("the server says: column \"nope\" does not exist", error("SELECT nope FROM films"));
  expect_part("the server says: cannot insert multiple commands", error("SELECT 1; SELECT 2"));
  expect_part("the server says: cannot execute SELECT in a read-only transaction",
              error("WITH d AS (DELETE FROM films RETURNING x) SELECT * FROM d"));
  expect_part("(after row 2): the server says: division by zero",
              error("SELECT 1 / (3 - x) AS q FROM (VALUES (1), (2), (3)) AS t(x)"));
  expect_part("columns 1 and 2 are both called x", error("SELECT x, x FROM films"));
  expect_part(": row 1: column b holds binary data (bytea)", error("blobs"));
  EXPECT_EQ(rows_of(*open("films")).size(), 2u) << "nothing was deleted";
}

TEST_F(PostgresReader, AnEmptyDatabaseAndAWrongName) {
  expect_part("the database has no tables", error());
  const std::string message = message_of(ErrorKind::kIo, [&] {
    open_table({fmt::format("postgresql://kith:s3cret@/nowhere?host={}", folder_.path())}, {});
  });
  expect_part("/nowhere: cannot connect: ", message);
  expect_part("database \"nowhere\" does not exist", message);
  EXPECT_EQ(message.find("s3cret"), std::string::npos);
}

TEST_F(PostgresReader, AServerThatStopsInTheMiddle) {
  const auto reader =
      open("SELECT i, repeat('x', 100) AS t FROM generate_series(1, 20000000) AS i");
  std::vector<Cell> cells;
  for (int i = 1; i <= 1000; ++i) {
    ASSERT_TRUE(reader->next(cells));
    ASSERT_EQ(cells[0], std::to_string(i));
  }
  stop();
  uint64_t rows = 1000;
  const std::string message = message_of(ErrorKind::kIo, [&] {
    while (reader->next(cells)) ++rows;
  });
  EXPECT_LT(rows, 20000000u);
  expect_part(fmt::format("/postgres: the connection was lost after row {}: ", rows), message);
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

}  // namespace
}  // namespace kith
