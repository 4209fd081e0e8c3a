// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/error.h"
#include "core/rng.h"
#include "data/table/schema.h"
#include "data/table/test_tables.h"

namespace kith {
namespace {

const std::string kSep(1, kListSeparator);

struct Guess {
  Column column;
  ColumnProfile profile;
};

Guess guess(const Row& cells, const std::string& name = "x") {
  std::vector<Row> rows;
  for (const auto& cell : cells) rows.push_back({cell});
  const SampledTable table(
      std::make_unique<FixedTable>(std::vector<std::string>{name}, std::move(rows)));
  Inferred inferred = infer_schema(table);
  return {inferred.schema.columns.at(0), inferred.profiles.at(0)};
}

ColumnType type_of(const Row& cells) { return guess(cells).column.type; }

template <class Make>
Row column(size_t rows, const Make& make) {
  Row out;
  for (size_t i = 0; i < rows; ++i) out.push_back(make(i));
  return out;
}

TEST(InferSchema, Numbers) {
  EXPECT_EQ(type_of({"1.5", "2", "-3e2"}), ColumnType::kNumber);
  EXPECT_EQ(type_of({"1500000000", "1600000000", "1600000007"}), ColumnType::kNumber);
  EXPECT_EQ(type_of(column(200, [](size_t i) { return std::to_string(2000 + i % 10); })),
            ColumnType::kNumber)
      << "years";
  EXPECT_EQ(type_of(column(200, [](size_t i) { return fmt::format("{}.5", i % 5); })),
            ColumnType::kNumber)
      << "decimals";
  EXPECT_EQ(type_of(column(200, [](size_t i) { return std::to_string(i * i % 97); })),
            ColumnType::kNumber);
  EXPECT_EQ(type_of(column(200, [](size_t i) { return std::to_string(1000 + i * i * 100); })),
            ColumnType::kNumber)
      << "unique, but far apart: quantities";
}

TEST(InferSchema, FewWholeNumbersAreClasses) {
  const auto ratings = guess(column(200, [](size_t i) { return std::to_string(1 + i % 5); }));
  EXPECT_EQ(ratings.column.type, ColumnType::kCategory);
  EXPECT_EQ(ratings.profile.remark, "only 5 different whole numbers");
  EXPECT_EQ(ratings.profile.rather, ColumnType::kNumber);
  EXPECT_EQ(type_of(column(24, [](size_t i) { return std::to_string(1 + i % 5); })),
            ColumnType::kNumber)
      << "too few of each to tell";
  EXPECT_EQ(type_of(column(25, [](size_t i) { return std::to_string(1 + i % 5); })),
            ColumnType::kCategory);
  EXPECT_EQ(type_of(column(200, [](size_t i) { return fmt::format("{:05}", i % 50 * 700); })),
            ColumnType::kCategory)
      << "postal codes";
}

TEST(InferSchema, NumbersWithMarksAndMistakes) {
  const auto marked = guess({"1", "2.5", "NA", "n/a", kMissing, "-", "inf", "7"});
  EXPECT_EQ(marked.column.type, ColumnType::kNumber);
  EXPECT_EQ(marked.profile.missing, 5u);
  EXPECT_EQ(marked.profile.rows, 8u);
  EXPECT_EQ(marked.profile.remark, "");
  Row cells =
      column(10000, [](size_t i) { return fmt::format("{}", 0.25 * static_cast<double>(i)); });
  cells[16] = cells[99] = cells[500] = "abc";
  const auto mistaken = guess(cells);
  EXPECT_EQ(mistaken.column.type, ColumnType::kNumber);
  EXPECT_EQ(mistaken.profile.remark, "3 of 10,000 cells are not numbers: abc (row 17)");
  for (size_t i = 0; i < 600; ++i) cells[i * 3] = fmt::format("abc{}", i % 7);
  EXPECT_EQ(type_of(cells), ColumnType::kCategory) << "6 % are none";
  EXPECT_EQ(type_of({"NA", "-"}), ColumnType::kCategory) << "no number at all";
}

TEST(InferSchema, Dates) {
  EXPECT_EQ(type_of({"1999-12-31", "2000-01-01"}), ColumnType::kDate);
  EXPECT_EQ(type_of({"1999-12-31T12:00", "2000-01-01 00:00:00Z", "null"}), ColumnType::kDate);
  const auto day_first = guess({"03/04/2020", "31/12/2020", "01/02/2020"});
  EXPECT_EQ(day_first.column.type, ColumnType::kDate);
  EXPECT_EQ(day_first.column.order, DateOrder::kDayFirst);
  const auto month_first = guess({"03/04/2020", "12/31/2020"});
  EXPECT_EQ(month_first.column.type, ColumnType::kDate);
  EXPECT_EQ(month_first.column.order, DateOrder::kMonthFirst);
  const auto unclear = guess({"03/04/2020", "01/02/2020"});
  EXPECT_EQ(unclear.column.type, ColumnType::kCategory);
  expect_part("cannot be told apart", unclear.profile.remark);
  Row cells = column(100, [](size_t i) { return fmt::format("2020-01-{:02}", 1 + i % 31); });
  cells[3] = "soon";
  EXPECT_EQ(guess(cells).profile.remark, "1 of 100 cells is not a date: soon (row 4)");
}

TEST(InferSchema, Booleans) {
  for (const auto& [yes, no] :
       {std::pair{"true", "false"}, {"Yes", "No"}, {"T", "F"}, {"1", "0"}}) {
    EXPECT_EQ(type_of({yes, no, kMissing, yes}), ColumnType::kBoolean) << yes;
  }
  EXPECT_EQ(type_of({"true", "False", "TRUE"}), ColumnType::kBoolean);
  EXPECT_NE(type_of({"yes", "0"}), ColumnType::kBoolean) << "of two kinds";
  EXPECT_NE(type_of({"1", kMissing}), ColumnType::kBoolean) << "only one seen";
  EXPECT_NE(type_of({"1", "0", "2"}), ColumnType::kBoolean);
}

TEST(InferSchema, Vectors) {
  for (const std::string& separator :
       {kSep, std::string(","), std::string(";"), std::string("|")}) {
    const auto found = guess({fmt::format("1{0}2.5{0}-3", separator),
                              fmt::format("4{0} 5{0}6e-1", separator), kMissing});
    EXPECT_EQ(found.column.type, ColumnType::kVector);
    EXPECT_EQ(found.column.separator, separator);
    EXPECT_EQ(found.profile.remark, "3 numbers in each cell");
  }
  EXPECT_EQ(guess({"[0.1, 0.2, 0.3]", "[1, 2, 3]"}).column.separator, ",");
  EXPECT_EQ(guess({"0.1 0.2 0.3", "1 2 3"}).column.separator, " ");
  EXPECT_NE(type_of({"1|2|3", "1|2"}), ColumnType::kVector) << "not the same number";
  EXPECT_NE(type_of({"1|2", "3|4"}), ColumnType::kVector) << "two are not enough";
  EXPECT_NE(type_of({"1|2|a", "3|4|5"}), ColumnType::kVector);
  EXPECT_NE(type_of({"030 123 456", "030 124 999"}), ColumnType::kVector) << "telephone numbers";
}

// Members of a fixed list, a few per row.
Row random_sets(const std::string& separator, size_t rows) {
  std::mt19937 random(3);
  return column(rows, [&](size_t) {
    std::string cell;
    for (size_t n = 1 + random() % 4; n > 0; --n) {
      cell += fmt::format("{}tag {}", cell.empty() ? "" : separator, random() % 30);
    }
    return cell;
  });
}

TEST(InferSchema, Sets) {
  for (const std::string& separator :
       {kSep, std::string("|"), std::string(";"), std::string(","), std::string(", ")}) {
    const auto found = guess(random_sets(separator, 500));
    EXPECT_EQ(found.column.type, ColumnType::kSet) << separator;
    EXPECT_EQ(found.column.separator, separator.substr(0, 1));
    EXPECT_EQ(found.profile.distinct, 30u) << "members";
  }
  EXPECT_EQ(type_of({"a|b", "b|c", "a|c", "a|b|c"}), ColumnType::kSet) << "a small table";
  EXPECT_EQ(type_of({"a" + kSep + "b", "c", "d"}), ColumnType::kSet) << "a list is a list";
}

// The same kind of cells is the same type, few rows or many, whether members and names repeat yet
// or not.
TEST(InferSchema, ItDoesNotMatterHowManyRowsThereAre) {
  for (const size_t rows : {150, 1000, 9000}) {
    std::mt19937 random(7);
    const auto person = [&](size_t of) {
      return fmt::format("First{} Last{}", random() % 50, random() % of);
    };
    const auto cast = guess(column(rows, [&](size_t) {
      std::string cell = person(100000);
      for (size_t n = random() % 5; n > 0; --n) cell += "|" + person(100000);
      return cell;
    }));
    EXPECT_EQ(cast.column.type, ColumnType::kSet) << rows;
    EXPECT_EQ(cast.column.separator, "|");
    EXPECT_EQ(cast.profile.remark, "| occurs in most cells");
    EXPECT_EQ(cast.profile.rather, ColumnType::kText);
    EXPECT_EQ(type_of(column(rows, [&](size_t) { return person(30); })), ColumnType::kCategory)
        << rows << ": of 1,500 people";
    EXPECT_EQ(type_of(column(rows, [&](size_t) { return person(100000); })), ColumnType::kText)
        << rows << ": of 5,000,000";
  }
}

// Where there are too few rows to tell, it says so, with the other type.
TEST(InferSchema, NamesInAFewRowsAreDoubtful) {
  std::mt19937 random(8);
  const auto people = [&](size_t rows, size_t of) {
    return guess(column(rows, [&](size_t) { return fmt::format("First Last{}", random() % of); }));
  };
  const std::string remark = "too few rows to tell names that come again from short texts";
  const auto few = people(50, 4000), some = people(200, 4000), many = people(5000, 4000);
  EXPECT_EQ(few.column.type, ColumnType::kText);
  EXPECT_EQ(few.profile.remark, remark);
  EXPECT_EQ(few.profile.rather, ColumnType::kCategory);
  EXPECT_EQ(some.profile.remark, remark);
  EXPECT_EQ(some.profile.rather,
            some.column.type == ColumnType::kText ? ColumnType::kCategory : ColumnType::kText);
  EXPECT_EQ(many.column.type, ColumnType::kCategory);
  EXPECT_EQ(many.profile.remark, "");
  EXPECT_EQ(people(200, 30).profile.remark, "") << "often the same: a category";
  EXPECT_EQ(people(5000, 10000000).profile.remark, "") << "never the same in many rows: a text";
  EXPECT_EQ(
      guess(column(50, [](size_t i) { return fmt::format("the film number {} of my life", i); }))
          .profile.remark,
      "")
      << "many words are a text";
}

TEST(InferSchema, NumbersThatAreNamesByTheirName) {
  const Row cells = column(500, [](size_t i) { return std::to_string(9800 + i * i % 450); });
  for (const char* name : {"user", "item_id", "StoreId", "Order No", "country-code", "ZIP", "zip",
                           "billing.zip", "Postcode", "userid", "movieid", "USERID", "imdb_movieid",
                           "store_number", "storeNumber", "postal", "plz", "home_plz"}) {
    const auto found = guess(cells, name);
    EXPECT_EQ(found.column.type, ColumnType::kCategory) << name;
    EXPECT_EQ(found.profile.remark, "by its name these are codes");
    EXPECT_EQ(found.profile.rather, ColumnType::kNumber);
  }
  for (const char* name : {"piano", "users", "price", "paid", "encoded", "number", "humid",
                           "number_of_rooms", "education-num", "solid"}) {
    EXPECT_EQ(guess(cells, name).column.type, ColumnType::kNumber) << name;
  }
}

TEST(InferSchema, NumbersThatAreNamesByTheirLooks) {
  std::mt19937 random(5);
  const auto drawn = [&](size_t rows, const auto& make) {
    return guess(column(rows, [&](size_t) { return fmt::format("{}", make()); }));
  };
  for (const size_t rows : {400, 3000, 20000}) {
    const auto region = drawn(rows, [&] { return 11000 + random() % 201; });
    EXPECT_EQ(region.column.type, ColumnType::kCategory) << rows;
    EXPECT_EQ(region.profile.remark, "whole numbers of one width that come again, taken for codes");
    EXPECT_EQ(region.profile.rather, ColumnType::kNumber);
    const auto jobs = drawn(rows, [&] { return 1000 + mix64(random() % 150) % 9000; });
    EXPECT_EQ(jobs.column.type, ColumnType::kCategory) << rows << ": far apart, and come again";
  }
}

TEST(InferSchema, WhatIsMeasuredIsNoCode) {
  std::mt19937 random(6);
  std::normal_distribution<> normal(0, 1);
  std::exponential_distribution<> exponential(1);
  const auto type = [&](size_t rows, const auto& make) {
    return type_of(
        column(rows, [&](size_t) { return fmt::format("{}", static_cast<int64_t>(make())); }));
  };
  for (const size_t rows : {400, 3000, 20000}) {
    const auto of = [&](const auto& make) { return type(rows, make); };
    EXPECT_EQ(of([&] { return 1950 + random() % 70; }), ColumnType::kNumber) << "years";
    EXPECT_EQ(of([&] { return 10 + random() % 90; }), ColumnType::kNumber) << "ages";
    EXPECT_EQ(of([&] { return 100 + random() % 900; }), ColumnType::kNumber) << "three digits";
    EXPECT_EQ(of([&] { return 3000 + random() % 1000; }), ColumnType::kNumber) << "smooth";
    EXPECT_EQ(of([&] { return std::clamp(4000 + 900 * normal(random), 1000.0, 9999.0); }),
              ColumnType::kNumber);
    EXPECT_EQ(of([&] { return std::min(1000 + 700 * exponential(random), 9999.0); }),
              ColumnType::kNumber);
    EXPECT_EQ(of([&] { return random() % 3 == 0 ? 9999 : 1000 + random() % 8000; }),
              ColumnType::kNumber)
        << "one value stands for what is not known";
    EXPECT_EQ(of([&] { return 1000 * (20 + random() % 60); }), ColumnType::kNumber) << "round";
    EXPECT_EQ(of([&] { return 100 * (10 + random() % 90) + 99; }), ColumnType::kNumber) << "prices";
    EXPECT_EQ(of([&] { return 874724710 + random() % (rows / 3); }), ColumnType::kNumber)
        << "seconds since 1970";
    EXPECT_EQ(of([&] {
                return 20150001 + 10000 * (random() % 8) + 100 * (1 + random() % 12) +
                       random() % 28;
              }),
              ColumnType::kNumber)
        << "days";
  }
}

// What comes late counts as much as what comes early, and a column is the same in any order.
TEST(InferSchema, ItDoesNotMatterWhereRowsStand) {
  const size_t n = 30000;
  const auto cells = [&](size_t i) -> Row {
    const bool late = i >= 12000;
    const bool word = late && i % 5 != 0;
    return {word ? fmt::format("w{}", i % 11) : fmt::format("{}.5", i % 700),
            late ? std::nullopt : std::optional(fmt::format("v{}", i % 9)),
            late ? fmt::format("a{}|b{}", i % 7, i % 3) : fmt::format("a{}", i % 7),
            std::to_string(i + 1)};
  };
  std::vector<Row> rows;
  for (size_t i = 0; i < n; ++i) rows.push_back(cells(i));
  const auto infer = [&] {
    const SampledTable table([&] {
      return std::make_unique<FixedTable>(std::vector<std::string>{"b", "c", "d", "n"}, rows);
    });
    EXPECT_EQ(table.looked_at(), n);
    return infer_schema(table);
  };
  const Inferred found = infer();
  const auto& columns = found.schema.columns;
  EXPECT_EQ(columns[0].type, ColumnType::kCategory) << "words among numbers";
  EXPECT_EQ(columns[2].type, ColumnType::kSet);
  EXPECT_NEAR(static_cast<double>(found.profiles[1].missing), 6000, 300) << "of 10,000 rows";
  EXPECT_EQ(columns[3].type, ColumnType::kIgnore) << "the number of the row";
  EXPECT_EQ(found.profiles[3].remark, "an identifier: all 10,000 numbers looked at differ");
  EXPECT_EQ(to_json(infer().schema), to_json(found.schema)) << "the same table, the same schema";
  std::ranges::reverse(rows);
  EXPECT_EQ(to_json(infer().schema), to_json(found.schema)) << "in another order";
}

TEST(InferSchema, SeparatorsThatSeparateNothing) {
  std::mt19937 random(4);
  const auto word = [&] { return fmt::format("word{}", random() % 5000); };
  EXPECT_EQ(type_of(column(300,
                           [&](size_t) {
                             return fmt::format("{} {} {} {}, {} {} {} {} {}; {} {}", word(),
                                                word(), word(), word(), word(), word(), word(),
                                                word(), word(), word(), word());
                           })),
            ColumnType::kText)
      << "prose";
  EXPECT_EQ(type_of(column(300,
                           [&](size_t i) {
                             return fmt::format("Surname{}, First{}", i % 250, random() % 40);
                           })),
            ColumnType::kText)
      << "names";
  const auto amounts = guess(column(300, [](size_t i) {
    return i % 3 == 0 ? std::to_string(i % 60) : fmt::format("{},{:03}", 1 + i % 50, i);
  }));
  EXPECT_EQ(amounts.column.type, ColumnType::kCategory);
  expect_part("remove the commas", amounts.profile.remark);
}

TEST(InferSchema, TextAndCategories) {
  EXPECT_EQ(type_of(column(100, [](size_t i) { return fmt::format("The film number {}", i); })),
            ColumnType::kText);
  EXPECT_EQ(type_of(column(300, [](size_t i) { return fmt::format("New York {}", i % 10); })),
            ColumnType::kCategory)
      << "words, but they repeat";
  EXPECT_EQ(type_of(column(300,
                           [](size_t i) {
                             return fmt::format("a long review of eight or more words: {}", i % 60);
                           })),
            ColumnType::kText)
      << "long";
  EXPECT_EQ(type_of(column(300, [](size_t i) { return fmt::format("city{}", i % 40); })),
            ColumnType::kCategory);
  EXPECT_EQ(type_of(column(60,
                           [](size_t i) {
                             return fmt::format(
                                 "\xE6\x9D\xB1\xE4\xBA\xAC\xE7\x89\xA9\xE8\xAA\x9E{}", i);
                           })),
            ColumnType::kText)
      << "no spaces are written between these words";
  EXPECT_EQ(type_of({"a", "b", "c"}), ColumnType::kCategory) << "too few to be identifiers";
}

TEST(InferSchema, IgnoredColumns) {
  const auto constant = guess({"x", "x", "x"});
  EXPECT_EQ(constant.column.type, ColumnType::kIgnore);
  EXPECT_EQ(constant.profile.remark, "every cell is the same: x");
  EXPECT_EQ(guess({"x" + kSep + "y", "x" + kSep + "y"}).profile.remark,
            "every cell is the same: x, y");
  EXPECT_EQ(type_of({"x", kMissing, "x"}), ColumnType::kCategory) << "there or not is something";
  const auto missing = guess({kMissing, kMissing});
  EXPECT_EQ(missing.column.type, ColumnType::kIgnore);
  EXPECT_EQ(missing.profile.remark, "every cell is missing");
  const auto names = guess(column(1200, [](size_t i) { return fmt::format("tt{:07}", i * 7); }));
  EXPECT_EQ(names.column.type, ColumnType::kIgnore);
  EXPECT_EQ(names.profile.remark, "an identifier: all 1,200 values differ");
  const auto numbers = guess(column(1200, [](size_t i) { return std::to_string(i + 1); }));
  EXPECT_EQ(numbers.column.type, ColumnType::kIgnore);
  EXPECT_EQ(numbers.profile.remark, "an identifier: all 1,200 numbers differ");
  EXPECT_EQ(numbers.profile.rather, ColumnType::kNumber);
  EXPECT_EQ(names.profile.rather, ColumnType::kCategory);
  EXPECT_EQ(
      guess(column(50, [](size_t i) { return std::to_string(1000 * i); }), "film_id").column.type,
      ColumnType::kIgnore);
  EXPECT_EQ(guess({}).profile.remark, "the table has no rows");
}

TEST(InferSchema, Profiles) {
  const auto profile =
      guess({"b", "a", "b", kMissing, std::string(100, 'c'), "d" + kSep + "e\n"}).profile;
  EXPECT_EQ(profile.rows, 6u);
  EXPECT_EQ(profile.missing, 1u);
  EXPECT_EQ(profile.examples, (std::vector<std::string>{"b", "a", std::string(40, 'c') + "..."}));
}

}  // namespace
}  // namespace kith
