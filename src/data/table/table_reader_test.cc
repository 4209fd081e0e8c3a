// SPDX-License-Identifier: Apache-2.0
#include "data/table/table_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <thread>

#include "data/table/test_tables.h"

namespace kith {
namespace {

using Names = std::vector<std::string>;
using Rows = std::vector<Row>;

class OpenTable : public testing::Test {
 protected:
  TestFolder folder_;
};

TEST_F(OpenTable, FormatsAreToldByNameAndContent) {
  const Rows expected{{"1", "2"}};
  for (const auto& [name, text] :
       std::vector<std::pair<std::string, std::string>>{{"a.csv", "x,y\n1,2\n"},
                                                        {"b.tsv", "x\ty\n1\t2\n"},
                                                        {"c", "x;y\n1;2\n"},
                                                        {"d.txt", "x|y\n1|2\n"},
                                                        {"e.jsonl", "{\"x\": 1, \"y\": 2}\n"},
                                                        {"f", "[{\"x\": 1, \"y\": 2}]"},
                                                        {"g.JSON", " {\"x\": 1, \"y\": 2}"}}) {
    const auto reader = open_table({folder_.write(name, text)}, {});
    EXPECT_EQ(reader->columns(), (Names{"x", "y"})) << name;
    EXPECT_EQ(rows_of(*reader), expected) << name;
  }
}

TEST_F(OpenTable, ABracketAloneIsNoJson) {
  EXPECT_EQ(open_table({folder_.write("a", "[x],{y}\n1,2\n")}, {})->columns(),
            (Names{"[x]", "{y}"}));
  EXPECT_EQ(open_table({folder_.write("b.csv", "{\"x\": 1},y\n1,2\n")}, {})->columns(),
            (Names{"{\"x\": 1}", "y"}));
}

TEST_F(OpenTable, CompressedFiles) {
  const std::string path = folder_.path() + "/a.tsv.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, "x\ty\n1,3\t2\n");
  gzclose(file);
  EXPECT_EQ(rows_of(*open_table({path}, {})), (Rows{{"1,3", "2"}}));
}

TEST_F(OpenTable, APipeIsReadOnce) {
  const std::string path = folder_.path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(path) << "x,y\n1,2\n"; });
  EXPECT_EQ(rows_of(*open_table({path}, {})), (Rows{{"1", "2"}}));
}

TEST_F(OpenTable, SeveralSourcesAreOneTable) {
  const auto a = folder_.write("a.csv", "x,y\n1,2\n"), b = folder_.write("b.csv", "y;x\n4;3\n"),
             c = folder_.write("c.json", "{\"x\": 5}"), d = folder_.write("d.csv", "x,y\n");
  const auto reader = open_table({a, d, b, c}, {});
  EXPECT_EQ(reader->columns(), (Names{"x", "y"}));
  std::vector<Cell> cells;
  ASSERT_TRUE(reader->next(cells));
  ASSERT_TRUE(reader->next(cells));
  EXPECT_EQ(cells, (std::vector<Cell>{"3", "4"}));
  EXPECT_EQ(reader->where(), b + ":2");
  EXPECT_GT(reader->share(), 0.5);
  EXPECT_LT(reader->share(), 1);
  EXPECT_EQ(rows_of(*reader), (Rows{{"5", kMissing}}));
  EXPECT_EQ(reader->share(), 1);
  EXPECT_EQ(reader->bytes(), 8u + 8u + 8u + 4u);
}

TEST_F(OpenTable, SeveralSourcesAreCountedTogether) {
  const auto a = folder_.write("a.csv", "x,y\n1,2\n3\n4\n"),
             b = folder_.write("b.csv", "y,x\n4,\xE9\n1,2\n6\n"),
             c = folder_.write("c.json", "{\"x\": 5}\n");
  const auto reader = open_table({a, b, c}, {.delimiter = ",", .bad_rows = BadRows::kSkip});
  EXPECT_EQ(rows_of(*reader).size(), 4u);
  const auto notes = reader->tally()->finish();
  ASSERT_EQ(notes.size(), 2u);
  expect_part("3 rows could not be read and were skipped; the first: " + a + ":3: ", notes[0].text);
  expect_part("1 row with bytes that are not UTF-8, which became U+FFFD; the first is " + b + ":2",
              notes[1].text);
}

TEST_F(OpenTable, SourcesMustHaveTheSameColumns) {
  const auto a = folder_.write("a.csv", "x,y\n1,2\n"), b = folder_.write("b.csv", "x,z\n3,4\n"),
             c = folder_.write("c.csv", "x,y,z\n3,4,5\n"), d = folder_.write("d.json", "{\"z\":1}");
  const auto error = [&](const std::string& second) {
    return message_of(ErrorKind::kInput, [&] { rows_of(*open_table({a, second}, {})); });
  };
  expect_part(b + ": has no column y, which " + a + " has; all sources", error(b));
  expect_part(c + ": has a column z, which " + a + " does not have; all sources", error(c));
  expect_part(d + ":1: the key z is not among", error(d));
}

TEST_F(OpenTable, MissingFiles) {
  const auto a = folder_.write("a.csv", "x,y\n1,2\n");
  const std::string missing = folder_.path() + "/missing";
  expect_part(missing, message_of(ErrorKind::kIo, [&] { open_table({missing}, {}); }));
  expect_part(missing, message_of(ErrorKind::kIo, [&] {
                open_table({a, missing}, {});
              }));  // told before the first is read
  expect_part(folder_.path(),
              message_of(ErrorKind::kIo, [&] { open_table({folder_.path()}, {}); }));
  expect_part("no table was given", message_of(ErrorKind::kUsage, [&] { open_table({}, {}); }));
}

TEST_F(OpenTable, AQueryIsForDatabases) {
  const auto a = folder_.write("a.csv", "x,y\n1,2\n");
  expect_part(a + ": query is for databases",
              message_of(ErrorKind::kUsage, [&] { open_table({a}, {.query = "films"}); }));
}

TEST_F(OpenTable, ADatabaseMustBeAPlainFile) {
  const std::string path = folder_.path() + "/a.db.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, "SQLite format 3\0and more", 24);
  gzclose(file);
  expect_part(path + ": an SQLite database must be a file of its own",
              message_of(ErrorKind::kInput, [&] { open_table({path}, {}); }));
}

TEST_F(OpenTable, PasswordsAreNotShown) {
  for (const char* source : {"postgresql://kith:s3cret@127.0.0.1:1/films",
                             "postgres://127.0.0.1:1/films?user=kith&password=s3cret"}) {
    const std::string message =
        message_of(ErrorKind::kIo, [&] { open_table({source}, {.query = "films"}); });
    expect_part("postgresql://kith@127.0.0.1:1/films: cannot connect: ", message);
    EXPECT_EQ(message.find("s3cret"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  const std::string message = message_of(ErrorKind::kUsage, [&] {
    open_table({"postgresql://kith:s3cret%zz@127.0.0.1:1/films"}, {});
  });
  expect_part("write it as postgresql://USER@HOST:PORT/DATABASE", message);
  EXPECT_EQ(message.find("s3cret"), std::string::npos) << message;
}

}  // namespace
}  // namespace kith
