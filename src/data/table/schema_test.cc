// SPDX-License-Identifier: Apache-2.0
#include "data/table/schema.h"

#include <gtest/gtest.h>

#include "data/table/test_tables.h"

namespace kith {
namespace {

std::string error(const std::string& text) {
  return message_of(ErrorKind::kInput, [&] { schema_from_json(text, "s.json"); });
}

TEST(Schema, DefaultsAreLeftOut) {
  Schema schema;
  schema.columns.push_back({.name = "title", .type = ColumnType::kText});
  schema.columns.push_back({.name = "genres", .type = ColumnType::kSet, .separator = "|"});
  EXPECT_EQ(to_json(schema), R"({
  "columns": [
    {
      "name": "title",
      "type": "text"
    },
    {
      "name": "genres",
      "type": "set",
      "separator": "|"
    }
  ]
}
)");
}

TEST(Schema, EverySettingSurvivesTheFile) {
  Schema schema;
  Column& column = schema.columns.emplace_back();
  column = {.name = "d\xC3\xA9j\xC3\xA0 \"vu\"",
            .type = ColumnType::kDate,
            .separator = std::string(1, kListSeparator),
            .vocabulary = "people",
            .swap = "cast",
            .sampled = false,
            .weight = 0.1,
            .interacts = {"a", "b"},
            .min_count = 5,
            .buckets = 1000000,
            .knots = 3,
            .pooling = 1,
            .order = DateOrder::kDayFirst};
  const Schema read = schema_from_json(to_json(schema), "s.json");
  ASSERT_EQ(read.columns.size(), 1u);
  for_each_field<Column>([&](const auto& f) {
    EXPECT_EQ(read.columns[0].*(f.member), column.*(f.member)) << f.name;
    EXPECT_NE(column.*(f.member), Column{}.*(f.member)) << f.name << " is not tried";
  });
  EXPECT_EQ(read.columns[0].name, column.name);
  EXPECT_EQ(read.columns[0].interacts, column.interacts);
  EXPECT_EQ(to_json(read), to_json(schema));
}

TEST(Schema, ListsStandALineAnItem) {
  Schema schema;
  EXPECT_EQ(to_json(schema), "{\n  \"columns\": []\n}\n");
  schema.columns.push_back({.name = "a\"", .sampled = false, .interacts = {"b", "\t"}});
  schema.columns[0].pooling = 1;
  EXPECT_EQ(to_json(schema), R"({
  "columns": [
    {
      "name": "a\"",
      "type": "category",
      "sampled": false,
      "pooling": 1.0,
      "interacts": [
        "b",
        "\t"
      ]
    }
  ]
}
)");
}

TEST(Schema, NothingUnknownIsAccepted) {
  const auto column = [](const std::string& rest) {
    return error(R"({"columns": [{"name": "a", )" + rest + "}]}");
  };
  expect_part("s.json: column 1 (a): unknown key wieght; did you mean weight?",
              column(R"("type": "text", "wieght": 2)"));
  expect_part(
      "s.json: column 1 (a): type must be one of category, set, text, number, date, boolean, "
      "vector, ignore; got txt; did you mean text?",
      column(R"("type": "txt")"));
  expect_part("type must be one of", column(R"("type": 5)"));
  expect_part("weight must be between 0 and 1000000; got -1",
              column(R"("type": "text", "weight": -1)"));
  expect_part("knots must be a whole number", column(R"("type": "number", "knots": 2.5)"));
  expect_part("knots must be between 2 and 1024; got 1", column(R"("type": "number", "knots": 1)"));
  expect_part("sampled must be true or false; got \"yes\"",
              column(R"("type": "text", "sampled": "yes")"));
  expect_part("weight cannot be null", column(R"("type": "text", "weight": null)"));
  expect_part("interacts must be a list of columns' names; got [1]",
              column(R"("type": "text", "interacts": [1])"));
  expect_part("(a): type is missing; give one of category", column(R"("weight": 1)"));
  expect_part("buckets must be a whole number",
              column(R"("type": "text", "buckets": 18446744073709551615)"));
}

TEST(Schema, TheFileMustHaveItsShape) {
  expect_part("s.json:2: this is not JSON: syntax error", error("{\n\"columns\": ["));
  expect_part("s.json: expected {\"columns\": [...]}, found []", error("[]"));
  expect_part("s.json: columns must be a list of objects; got nothing", error("{}"));
  expect_part("columns must be a list of objects; got {}", error(R"({"columns": {}})"));
  expect_part("s.json: unknown key colums; did you mean columns?", error(R"({"colums": []})"));
  expect_part("s.json: column 1: expected an object with a name and a type, found 3",
              error(R"({"columns": [3]})"));
  expect_part("s.json: column 1: name must be text that is not empty; got nothing",
              error(R"({"columns": [{"type": "text"}]})"));
  expect_part("name must be text that is not empty; got 5",
              error(R"({"columns": [{"name": 5, "type": "text"}]})"));
  expect_part(
      "s.json: column 2: a is column 1 already",
      error(R"({"columns": [{"name": "a", "type": "text"}, {"name": "a", "type": "set"}]})"));
}

TEST(Schema, TheFileIsPutOverWhatWasInferred) {
  const Schema inferred{
      {{.name = "a", .type = ColumnType::kSet, .separator = ";"},
       {.name = "b", .type = ColumnType::kText},
       {.name = "c", .type = ColumnType::kDate, .order = DateOrder::kMonthFirst}}};
  const Schema file{{{.name = "c", .type = ColumnType::kDate, .weight = 2},
                     {.name = "a", .type = ColumnType::kSet, .interacts = {"b"}}}};
  const Schema both = merged(inferred, file, "s.json");
  ASSERT_EQ(both.columns.size(), 3u);
  EXPECT_EQ(both.columns[0].separator, ";") << "the file does not say";
  EXPECT_EQ(both.columns[0].interacts, std::vector<std::string>{"b"});
  EXPECT_EQ(both.columns[1].type, ColumnType::kText);
  EXPECT_EQ(both.columns[2].weight, 2);
  EXPECT_EQ(both.columns[2].order, DateOrder::kMonthFirst);
}

TEST(Schema, TheFileMustFitTheTable) {
  const Schema inferred{{{.name = "title", .type = ColumnType::kText}, {.name = "year"}}};
  const auto error = [&](const Column& column) {
    return message_of(ErrorKind::kInput, [&] { merged(inferred, {{column}}, "s.json"); });
  };
  expect_part("s.json: the table has no column tilte; did you mean title?",
              error({.name = "tilte"}));
  expect_part("s.json: column title is a set and needs a separator",
              error({.name = "title", .type = ColumnType::kSet}));
  expect_part(
      "s.json: column title interacts with yaer, but the table has no column yaer; did you "
      "mean year?",
      error({.name = "title", .interacts = {"yaer"}}));
}

}  // namespace
}  // namespace kith
