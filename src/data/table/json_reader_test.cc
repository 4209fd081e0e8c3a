// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "data/table/test_tables.h"

namespace kith {
namespace {

using namespace std::string_literals;
using Names = std::vector<std::string>;
using Rows = std::vector<Row>;

const std::string kSep(1, kListSeparator);

TEST(JsonReader, LinesAndArraysAreTheSameTable) {
  const Rows expected{{"Alien", "1979"}, {"Brazil", "1985"}};
  for (const char* text : {
           R"({"name":"Alien","year":1979})"
           "\n"
           R"({"name":"Brazil","year":1985})"
           "\n",
           R"([{"name":"Alien","year":1979},{"year":1985,"name":"Brazil"}])",
           "\xEF\xBB\xBF [\n {\n  \"name\": \"Alien\",\n  \"year\": 1979\n },\r\n"
           " {\"name\": \"Brazil\", \"year\": 1985}\n]\n\n",
           R"({"name":"Alien","year":1979} {"name":"Brazil","year":1985})",
       }) {
    const auto reader = table_of(text);
    EXPECT_EQ(reader->columns(), (Names{"name", "year"})) << text;
    EXPECT_EQ(rows_of(*reader), expected) << text;
    const std::string_view all = text;
    EXPECT_EQ(reader->bytes(), all.size() - (all.starts_with("\xEF\xBB\xBF") ? 3 : 0));
    EXPECT_EQ(reader->share(), 1);
  }
}

TEST(JsonReader, Scalars) {
  EXPECT_EQ(rows_of(*table_of(R"({"a": [], "b": null, "c": "", "d": true, "e": false})")),
            (Rows{{kMissing, kMissing, kMissing, "true", "false"}}));
  EXPECT_EQ(rows_of(*table_of(R"({"a": 0.1, "b": -12, "c": 1e3, "d": 18446744073709551615,
                                  "e": 123456789012345678901234567890, "f": 0.30000000000000004})")),
            (Rows{{"0.1", "-12", "1000", "18446744073709551615", "123456789012345678901234567890",
                   "0.30000000000000004"}}));
  EXPECT_EQ(rows_of(*table_of(R"({"a": "\"}{][\\", "b": "\u00e9\n"})")),
            (Rows{{"\"}{][\\", "\xC3\xA9\n"}}));
}

TEST(JsonReader, ListsAndObjectsAreFlattened) {
  const auto reader = table_of(
      R"({"tags": ["x", 1, null, true], "at": {"city": "Oslo", "pos": {"lat": 60}},
          "cast": [{"id": 1, "name": "A"}, {"id": 2, "name": "B"}], "m": [[1, 2], [3]]})");
  EXPECT_EQ(reader->columns(),
            (Names{"tags", "at.city", "at.pos.lat", "cast.id", "cast.name", "m"}));
  EXPECT_EQ(rows_of(*reader),
            (Rows{{"x" + kSep + "1" + kSep + "true", "Oslo", "60", "1" + kSep + "2",
                   "A" + kSep + "B", "1" + kSep + "2" + kSep + "3"}}));
}

TEST(JsonReader, ColumnsAreAllKeysOfTheFirstObjects) {
  const auto reader = table_of("{\"a\": 1}\n{}\n{\"b\": 2}\n{\"c\": 3, \"a\": 4}\n");
  EXPECT_EQ(reader->columns(), (Names{"a", "b", "c"}));
  EXPECT_EQ(rows_of(*reader), (Rows{{"1", kMissing, kMissing},
                                    {kMissing, kMissing, kMissing},
                                    {kMissing, "2", kMissing},
                                    {"4", kMissing, "3"}}));
}

TEST(JsonReader, ALateNewKeyIsAnError) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "{\"a\": 1}\n";
  EXPECT_EQ(rows_of(*table_of(text + "{\"a\": null}\n{}")).size(), 1002u);
  expect_part("t:1001: the key late is not among the first 1000 objects",
              refusal(text + "{\"late\": 1}\n"));
}

TEST(JsonReader, WhereCountsLines) {
  const auto reader = table_of("[\n{\"a\": 1},\n\n{\"a\":\n2},{\"a\": 3}]");
  std::vector<std::string> places;
  for (std::vector<Cell> cells; reader->next(cells);) places.push_back(reader->where());
  EXPECT_EQ(places, (Names{"t:2", "t:4", "t:5"}));
}

TEST(JsonReader, ErrorsNameTheLine) {
  const TableOptions json{.format = TableFormat::kJson};
  expect_part("t: there is no object with a key", refusal("", json));
  expect_part("t: there is no object with a key", refusal("[]"));
  expect_part("t: there is no object with a key", refusal("{}\n{}"));
  expect_part("t:1: expected an object {...}, found a,b", refusal("a,b\n1,2", json));
  expect_part("t:2: expected an object {...}, found 5", refusal("{\"a\":1}\n5"));
  expect_part("t:1: expected an object {...}, found 1, 2]", refusal("[1, 2]", json));
  expect_part("t:2: expected a comma between objects, found {", refusal("[{\"a\":1}\n{\"a\":2}]"));
  expect_part("t:1: the list of objects is never closed", refusal("[{\"a\":1},"));
  expect_part("t:1: the list of objects is never closed", refusal("[{\"a\":1}"));
  expect_part("t:2: text follows the end of the list: x", refusal("[{\"a\":1}]\nx"));
  expect_part("t:2: the object that begins here is never closed", refusal("{\"a\":1}\n{\"a\":\n"));
  expect_part("t:2: a string is not closed at the end of the line", refusal("{\"a\":\n\"x\n\"}"));
  expect_part("a string in the object that begins here is never closed", refusal("{\"a\":\"x"));
  expect_part("t:3: this is not JSON: syntax error", refusal("{\"a\":1}\n{\"a\":2,\n\"b\"}\n"));
  expect_part("t:1: this is not JSON: number overflow", refusal("{\"a\":1e999}"));
  expect_part("t:1: the key a occurs twice", refusal(R"({"a":1,"a":2})"));
  expect_part("t:1: the key a occurs twice", refusal(R"({"a":[1],"a":[2]})"));
  expect_part("t:1: the key a.b occurs twice", refusal(R"({"a":{"b":1},"a.b":2})"));
  expect_part("column 1 of 1 has no name", refusal(R"({"":1})"));
  expect_part("t:1: nested deeper than 100 levels", refusal("{\"a\":" + std::string(100000, '[')));
  expect_part("longer than 64 MiB",
              refusal("{\"a\":\"" + std::string(kMaxRowBytes + (2 << 20), 'x')));
}

TEST(JsonReader, WhatIsNotUtf8IsRepairedAndTold) {
  const auto reader = table_of("{\"a\":1}\n{\"a\":\"caf\xE9\"}\n");
  EXPECT_EQ(rows_of(*reader), (Rows{{"1"}, {"caf\uFFFD"}}));
  const auto notes = reader->tally()->finish();
  ASSERT_EQ(notes.size(), 1u);
  expect_part("1 row with bytes that are not UTF-8, which became U+FFFD; the first is t:2;",
              notes[0].text);
  EXPECT_EQ(rows_of(*table_of("{\"a\":\"caf\xE9\"}", {.encoding = TextEncoding::kLatin1})),
            (Rows{{"caf\u00E9"}}));
  EXPECT_EQ(rows_of(*table_of("\xFE\xFF\0{\0\"\0a\0\"\0:\0"
                              "1\0}"s)),
            (Rows{{"1"}}));
}

TEST(JsonReader, ObjectsThatCannotBeReadAreSkippedIfThatIsAsked) {
  const TableOptions skip{.format = TableFormat::kJson, .bad_rows = BadRows::kSkip};
  const std::string good = "{\"a\":1}\n";
  for (const auto& [bad, why] : std::vector<std::pair<std::string, std::string>>{
           {"{\"a\":2,\"b\"}\n", "this is not JSON"},
           {"{\"a\":2,\"new\":3,\"a\":4}\n", "the key a occurs twice"},
           {"{\"a\":\n", "the object that begins here is never closed"},
           {"{\"a\":[2}\n", "the object that begins here is never closed"},
           {"{\"a\":\"x\n", "a string is not closed at the end of the line"},
           {"a,b\n", "expected an object"},
           {"{\"a\":" + std::string(200, '[') + "\n", "nested deeper"}}) {
    for (const size_t piece : {size_t{1}, size_t{1000}}) {
      const auto reader = table_of(good + bad + good + bad + good, skip, piece);
      EXPECT_EQ(reader->columns(), (std::vector<std::string>{"a"}))
          << "no column of an object that was left out";
      std::vector<Cell> cells;
      ASSERT_TRUE(reader->next(cells));
      ASSERT_TRUE(reader->next(cells));
      EXPECT_EQ(reader->where(), "t:3") << bad;
      EXPECT_EQ(reader->row(), 3u) << "though rows behind it were read for the columns";
      EXPECT_EQ(rows_of(*reader), (Rows{{"1"}})) << bad;
      const auto notes = reader->tally()->finish();
      ASSERT_EQ(notes.size(), 1u);
      expect_part("2 rows could not be read and were skipped; the first: t:2: " + why,
                  notes[0].text);
    }
    expect_part(why, refusal(good + bad + good, {.format = TableFormat::kJson}));
  }
  // Objects of several lines stay whole; of a list, one that can be told from the next is skipped.
  const std::string tall = "{\n\"a\": 1\n}\n";
  EXPECT_EQ(rows_of(*table_of(tall + "{\n\"a\":}\n" + tall, skip)), (Rows{{"1"}, {"1"}}));
  EXPECT_EQ(rows_of(*table_of("[{\"a\":1}, {\"a\":}, {\"a\":3}]", skip)), (Rows{{"1"}, {"3"}}));
  expect_part("never closed", refusal("[{\"a\":1}, {\"a\":", skip));
}

TEST(JsonReader, WhatIsWrittenIsReadInPiecesOfAnySize) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    const bool array = random() % 2;
    const int indent = random() % 2 ? 1 : -1;
    nlohmann::json all = nlohmann::json::array();
    std::string lines;
    Rows expected;
    for (size_t r = 0; r < 1 + random() % 15; ++r) {
      nlohmann::json object;
      Row& row = expected.emplace_back();
      for (const char* key : {"k1", "k2", "k3"}) {
        std::string cell;
        for (size_t n = random() % 6; n > 0; --n) cell += "ab\"\n\\{}[],:"[random() % 11];
        object[key] = cell;
        row.push_back(cell.empty() ? std::nullopt : std::optional(cell));
      }
      lines += object.dump(indent) + "\n";
      all.push_back(object);
    }
    const std::string text = array ? all.dump(indent) : lines;
    for (const size_t piece : {size_t{1}, size_t{2}, 3 + random() % 20, text.size()}) {
      EXPECT_EQ(rows_of(*table_of(text, {}, piece)), expected) << text << " in " << piece;
    }
  }
}

}  // namespace
}  // namespace kith
