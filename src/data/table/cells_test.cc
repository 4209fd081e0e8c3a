// SPDX-License-Identifier: Apache-2.0
#include "data/table/cells.h"

#include <gtest/gtest.h>

#include <clocale>
#include <string>
#include <vector>

namespace kith {
namespace {

TEST(Cells, NumbersAreWholeCells) {
  EXPECT_EQ(parse_number("42"), 42);
  EXPECT_EQ(parse_number(" -1.5e3\t"), -1500);
  EXPECT_EQ(parse_number("+7"), 7);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_EQ(parse_number("0.1"), 0.1);
  for (const char* bad : {"", " ", "1 2", "1,5", "12a", "0x10", "+-1", "++1", "+", "-", "nan",
                          "inf", "-inf", "1e999", "$5", "5%", "1_000"}) {
    EXPECT_EQ(parse_number(bad), std::nullopt) << bad;
  }
}

TEST(Cells, NumbersDoNotDependOnTheLocale) {
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"}) std::setlocale(LC_ALL, name);
  EXPECT_EQ(parse_number("1.5"), 1.5);
  EXPECT_EQ(parse_number("1,5"), std::nullopt);
  std::setlocale(LC_ALL, "C");
}

TEST(Cells, DatesAreDaysSince1970) {
  EXPECT_EQ(parse_date("1970-01-01"), 0);
  EXPECT_EQ(parse_date("1969-12-31"), -1);
  EXPECT_EQ(parse_date("2000-02-29"), 11016);
  EXPECT_EQ(parse_date("2000/02/29"), 11016);
  EXPECT_EQ(parse_date("1970-01-02T12:00"), 1.5);
  EXPECT_EQ(parse_date("1970-01-02 06:00:00Z"), 1.25);
  EXPECT_EQ(parse_date("1970-01-02T00:00:43.2"), 1 + 43.2 / 86400);
  EXPECT_EQ(parse_date("1970-01-02 01:00:00+01:00"), 1);
  EXPECT_EQ(parse_date("1970-01-01 22:30-0130"), 1);
  EXPECT_EQ(parse_date("1970-01-02 02:00:00+02"), 1);
  for (const char* bad :
       {"", "1970", "1970-01", "1970-1-1", "1970-13-01", "2001-02-29", "1970-01-32", "1970-01-01x",
        "1970-01-01T", "1970-01-01 25:00", "1970-01-01 12:60", "1970-01-01 12", "1970-01/01",
        "19700101", "70-01-01", "1970-01-01 12:00:00.", "1970-01-01 12:00+"}) {
    EXPECT_EQ(parse_date(bad), std::nullopt) << bad;
  }
}

TEST(Cells, MonthsMayHaveNames) {
  for (const char* good :
       {"02-Jan-1970", "2-jan-1970", "2 January 1970", "2 JAN 1970", "2/Jan/1970", "Jan 2, 1970",
        "January 2 1970", "Jan. 2, 1970", "2 Jan. 1970"}) {
    EXPECT_EQ(parse_date(good), 1) << good;
    EXPECT_EQ(parse_date(good, DateOrder::kMonthFirst), 1) << good;
  }
  EXPECT_EQ(parse_date("01-Dec-1970 12:00"), 334.5);
  for (const char* bad :
       {"02-Jam-1970", "02-Janu-1970", "30-Feb-1970", "Jan-02-1970", "January 1970", "02-Jan-70",
        "Janx 2, 1970", "2Jan1970xx", "May 2 19700"}) {
    EXPECT_EQ(parse_date(bad), std::nullopt) << bad;
  }
}

TEST(Cells, DatesWithSlashesNeedAnOrderOnlyIfTheyCanBeReadTwice) {
  EXPECT_EQ(parse_date("31/12/1969"), -1);
  EXPECT_EQ(parse_date("12/31/1969"), -1);
  EXPECT_EQ(parse_date("1/1/1970"), 0);
  EXPECT_EQ(parse_date("02/01/1970"), std::nullopt);
  EXPECT_EQ(parse_date("02/01/1970", DateOrder::kDayFirst), 1);
  EXPECT_EQ(parse_date("01/02/1970", DateOrder::kMonthFirst), 1);
  EXPECT_EQ(parse_date("01/02/1970 12:00", DateOrder::kMonthFirst), 1.5);
  EXPECT_EQ(parse_date("31/12/1969", DateOrder::kMonthFirst), std::nullopt);
  EXPECT_EQ(parse_date("1970-01-02", DateOrder::kMonthFirst), 1);
}

TEST(Cells, Booleans) {
  for (const char* yes : {"true", "TRUE", "Yes", "t", "y", "1", " true "}) {
    EXPECT_EQ(parse_boolean(yes), true) << yes;
  }
  for (const char* no : {"false", "No", "F", "n", "0"}) EXPECT_EQ(parse_boolean(no), false) << no;
  for (const char* bad : {"", "maybe", "2", "truee", "1.0"}) {
    EXPECT_EQ(parse_boolean(bad), std::nullopt) << bad;
  }
}

TEST(Cells, MissingMarks) {
  for (const char* mark :
       {"", "NA", "n/a", "NaN", "null", "None", "-", "?", "inf", "-inf", "\\N", " NA "}) {
    EXPECT_TRUE(is_missing_mark(mark)) << mark;
  }
  for (const char* value : {"0", "nano", "none of these", "--5"}) {
    EXPECT_FALSE(is_missing_mark(value)) << value;
  }
}

std::vector<std::string> members(std::string_view cell, std::string_view separator) {
  std::vector<std::string> out;
  for_each_member(cell, separator, [&](std::string_view member) { out.emplace_back(member); });
  return out;
}

TEST(Cells, MembersAreTrimmedAndNeverEmpty) {
  using Members = std::vector<std::string>;
  EXPECT_EQ(members("a|b|c", "|"), (Members{"a", "b", "c"}));
  EXPECT_EQ(members(" a | |b c||", "|"), (Members{"a", "b c"}));
  EXPECT_EQ(members("a, b", ", "), (Members{"a", "b"}));
  EXPECT_EQ(members("a|b", ""), (Members{"a|b"}));
  EXPECT_EQ(members("", "|"), Members{});
  EXPECT_EQ(members("[1, 2, 3]", ","), (Members{"1", "2", "3"}));
  EXPECT_EQ(members("[]", ","), Members{});
  EXPECT_EQ(members("[a]|[b]", "|"), (Members{"[a]", "[b]"}));
  EXPECT_EQ(members("[", "|"), (Members{"["}));
}

}  // namespace
}  // namespace kith
