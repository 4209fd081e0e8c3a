// SPDX-License-Identifier: Apache-2.0
#include "kith/text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kith/error.h"

namespace kith {
namespace {

TEST(Text, NumbersAsPeopleReadThem) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(in_bytes(999), "999 bytes");
  EXPECT_EQ(in_bytes(1200), "1.2 kB");
  EXPECT_EQ(in_bytes(2.5e12), "2.5 TB");
  EXPECT_EQ(in_time(4.21), "4.2 s");
  EXPECT_EQ(in_time(187), "3:07");
  EXPECT_EQ(in_time(7387), "2:03:07");
  EXPECT_EQ(in_time(-1), "?");
  EXPECT_EQ(rate_of(2.314e6), "2.31 M");
  EXPECT_EQ(count_of(1, "word"), "1 word");
  EXPECT_EQ(count_of(2000, "word"), "2,000 words");
}

TEST(Text, PercentNeverComesAsAPowerOfTen) {
  EXPECT_EQ(in_percent(1), "100 %");
  EXPECT_EQ(in_percent(0.5), "50 %");
  EXPECT_EQ(in_percent(0.05), "5 %");
  EXPECT_EQ(in_percent(0.0123), "1.2 %");
  EXPECT_EQ(in_percent(0.000574), "0.057 %");
  EXPECT_EQ(in_percent(0), "0 %");
}

TEST(Text, JsonTextsAreEscapedAndValid) {
  using namespace std::string_literals;
  EXPECT_EQ(json_text(""), R"("")");
  EXPECT_EQ(json_text("a \"b\" \\ /"), R"("a \"b\" \\ /")");
  EXPECT_EQ(json_text("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(json_text("\0\x1f\x7f"s), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(json_text("caf\xC3\xA9 \xF0\x9F\x98\x80"), "\"caf\xC3\xA9 \xF0\x9F\x98\x80\"");
  // A lone byte, a surrogate (three bad bytes), a character cut off.
  EXPECT_EQ(json_text("\xFF\""), "\"\xEF\xBF\xBD\\\"\"");
  EXPECT_EQ(json_text("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(json_text("\xE2\x82"), "\"\xEF\xBF\xBD\"");
}

TEST(Text, JsonNumbersAreReadAsTheSame) {
  EXPECT_EQ(json_number(1), "1.0");
  EXPECT_EQ(json_number(-0.0), "-0.0");
  EXPECT_EQ(json_number(0.1), "0.1");
  EXPECT_EQ(json_number(0.1f), "0.10000000149011612");
  EXPECT_EQ(json_number(1e20), "1e+20");
  EXPECT_EQ(json_number(5e-324), "5e-324");
  EXPECT_EQ(json_number(-1.7976931348623157e308), "-1.7976931348623157e+308");
  EXPECT_EQ(json_number(NAN), "null");
  EXPECT_EQ(json_number(-INFINITY), "null");
}

TEST(Text, QuotesWhatMustBeQuoted) {
  EXPECT_EQ(shell_quoted("a/b.txt"), "a/b.txt");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
  EXPECT_EQ(csv_cell(" x"), "\" x\"");
}

TEST(Text, SizesInBytes) {
  EXPECT_EQ(parse_size("max-memory", "2G"), 2147483648u);
  EXPECT_EQ(parse_size("max-memory", "1.5 KiB"), 1536u);
  EXPECT_EQ(parse_size("max-memory", "500"), 500u);
  for (const char* bad : {"", "x", "2X", "-1", "0", "1e30", "nan", "2GG"}) {
    EXPECT_THROW(parse_size("max-memory", bad), Error) << bad;
  }
}

TEST(Text, AMessageSaysWhereItIsAbout) {
  const auto place = [](std::string_view message) {
    const Place found = place_in(message);
    return found.file + "|" + std::to_string(found.line);
  };
  EXPECT_EQ(place("films.csv:3: found 1 cell"), "films.csv|3");
  EXPECT_EQ(place("my films.csv:12: found: 1 cell"), "my films.csv|12");
  EXPECT_EQ(place("standard input:7: not UTF-8"), "standard input|7");
  EXPECT_EQ(place("films.kith: the file is damaged: its checksum"), "films.kith|0");
  EXPECT_EQ(place("no/folder: there is none"), "no/folder|0");
  EXPECT_EQ(place("command line: dim must be between 1 and 4096"), "|0");
  EXPECT_EQ(place("unknown flag --dims; did you mean --dim?"), "|0");
  EXPECT_EQ(place(": 3"), "|0");
  EXPECT_EQ(place("12: 3"), "|0");
}

}  // namespace
}  // namespace kith
