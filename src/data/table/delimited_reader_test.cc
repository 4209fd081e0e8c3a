// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "data/table/test_tables.h"

namespace kith {
namespace {

using namespace std::string_literals;
using Names = std::vector<std::string>;
using Rows = std::vector<Row>;

Rows rows(const std::string& text, const TableOptions& options = {}) {
  return rows_of(*table_of(text, options));
}

TEST(DelimitedReader, PlainTable) {
  const auto reader = table_of("name,year\nAlien,1979\nBrazil,1985\n");
  EXPECT_EQ(reader->columns(), (Names{"name", "year"}));
  std::vector<Cell> cells;
  ASSERT_TRUE(reader->next(cells));
  EXPECT_EQ(cells, (std::vector<Cell>{"Alien", "1979"}));
  EXPECT_EQ(reader->where(), "t:2");
  ASSERT_TRUE(reader->next(cells));
  EXPECT_EQ(cells, (std::vector<Cell>{"Brazil", "1985"}));
  EXPECT_EQ(reader->where(), "t:3");
  EXPECT_FALSE(reader->next(cells));
  EXPECT_FALSE(reader->next(cells));
  EXPECT_EQ(reader->bytes(), 33u);
  EXPECT_EQ(reader->share(), 1);
}

TEST(DelimitedReader, LineEndsMarksAndTheLastLine) {
  const Rows expected{{"1", "2"}, {"3", "4"}};
  for (const char* text :
       {"a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n", "\xEF\xBB\xBF\x61,b\n1,2\n3,4\n",
        "a,b\n1,2\n3,4\n\n\n", "a,b\n\n1,2\n\r\n3,4\r", "\n\na,b\n1,2\n3,4\n",
        " a , b\n1,2\n\"3\",\"4\"", "\"a\",b\n1,\"2\"\r\n\"3\",\"4\"\r\n"}) {
    const auto reader = table_of(text);
    EXPECT_EQ(reader->columns(), (Names{"a", "b"})) << text;
    EXPECT_EQ(rows_of(*reader), expected) << text;
  }
}

TEST(DelimitedReader, EmptyCellsAreMissing) {
  EXPECT_EQ(
      rows("a,b,c\n,,\n\"\",x,\"\"\n,,1\n"),
      (Rows{{kMissing, kMissing, kMissing}, {kMissing, "x", kMissing}, {kMissing, kMissing, "1"}}));
}

TEST(DelimitedReader, Quotes) {
  EXPECT_EQ(rows("a,b\n\"x,y\",\"say \"\"hi\"\"\"\n\"two\nlines\",\"\"\"\"\n"),
            (Rows{{"x,y", "say \"hi\""}, {"two\nlines", "\""}}));
  EXPECT_EQ(rows("a,b\n5\" disk,x\"y\"\n"), (Rows{{"5\" disk", "x\"y\""}}));
}

TEST(DelimitedReader, LinesAreCountedInsideQuotes) {
  const auto reader = table_of("a,b\n\"1\n2\n3\",x\ny,z\n");
  std::vector<Cell> cells;
  reader->next(cells);
  EXPECT_EQ(reader->where(), "t:2");
  reader->next(cells);
  EXPECT_EQ(reader->where(), "t:5");
}

TEST(DelimitedReader, InTablesWithTabsAQuoteMayBeJustAQuote) {
  EXPECT_EQ(rows("a\tb\n\"Alien\" 3\tx\n\"q\tr\"\ty\n", {.format = TableFormat::kTsv}),
            (Rows{{"\"Alien\" 3", "x"}, {"q\tr", "y"}}));
  EXPECT_EQ(rows("a\tb\n\"x\t1\n\"y\t2\n", {.format = TableFormat::kTsv}),
            (Rows{{"\"x", "1"}, {"\"y", "2"}}))
      << "the quote of the next row closes nothing";
}

TEST(DelimitedReader, TwoColons) {
  const std::string text =
      "1::Alien: the film::x\n2::\"Cats\" and: dogs::\"a::b\"\n3::::y\r\n4:::::\n";
  const Rows expected{{"1", "Alien: the film", "x"},
                      {"2", "\"Cats\" and: dogs", "a::b"},
                      {"3", kMissing, "y"},
                      {"4", kMissing, ":"}};
  for (const size_t piece : {1, 2, 3, 7, 1000}) {
    EXPECT_EQ(rows_of(*table_of(text, {.header = false}, piece)), expected) << piece;
    EXPECT_EQ(rows_of(*table_of(text, {.delimiter = "::", .header = false}, piece)), expected);
  }
  expect_part("the delimiter is \"::\"", refusal("a::b\n1::2\n3\n", {.delimiter = "::"}));
  expect_part("or ::", message_of(ErrorKind::kUsage, [] { table_of("a", {.delimiter = ":,"}); }));
}

TEST(DelimitedReader, WhetherThereIsAHeaderCanBeAsked) {
  TableOptions options;
  options.is_header = [](auto cells) { return cells[1] == "say \"x\""; };
  EXPECT_EQ(table_of("a,\"say \"\"x\"\"\"\n1,2\n", options)->columns(), (Names{"a", "say \"x\""}));
  EXPECT_EQ(table_of("1,2\n", options)->columns(), (Names{"c1", "c2"}));
  EXPECT_EQ(rows("1,2\n3,4\n", options), (Rows{{"1", "2"}, {"3", "4"}}));
}

TEST(DelimitedReader, OneColumn) {
  EXPECT_EQ(rows("word\na, b\nc\n\nd, e, f\n\n"), (Rows{{"a, b"}, {"c"}, {kMissing}, {"d, e, f"}}));
  EXPECT_EQ(rows("word\n\"\"\nx"), (Rows{{kMissing}, {"x"}}));
}

TEST(DelimitedReader, NoHeader) {
  const auto reader = table_of("1,2\n3,4\n", {.header = false});
  EXPECT_EQ(reader->columns(), (Names{"c1", "c2"}));
  EXPECT_EQ(rows_of(*reader), (Rows{{"1", "2"}, {"3", "4"}}));
}

TEST(DelimitedReader, AHeaderAloneIsATableWithoutRows) { EXPECT_EQ(rows("a,b\n"), Rows{}); }

TEST(DelimitedReader, TheDelimiterIsFound) {
  EXPECT_EQ(find_delimiter("a,b\n1,2\n", true), ',');
  EXPECT_EQ(find_delimiter("a\tb, c\n1\t2\n", true), '\t');
  EXPECT_EQ(find_delimiter("a;b\n1,5;2,5\n3;4\n", true), ';');
  EXPECT_EQ(find_delimiter("a|b\nx, y|z\n", true), '|');
  EXPECT_EQ(find_delimiter("a,b\n\"x;y;z\",\"1\n2\"\n\"p;q;r\",3\n", true), ',');
  EXPECT_EQ(find_delimiter("a,b\nx|y|z,1\nx|z,2\n", true), ',');
  EXPECT_EQ(find_delimiter("title\nHello, world\nYes, no, and maybe\nplain\n", true), '\n');
  EXPECT_EQ(find_delimiter("word\n", true), '\n');
  EXPECT_EQ(find_delimiter("", true), '\n');
  EXPECT_EQ(find_delimiter("a,b\n1,2\n3", false), ',') << "the last line is cut";
  EXPECT_EQ(find_delimiter("1::a: b::x|y\n2::c, d::x|z\n", true), Delimiter(':', true));
  EXPECT_EQ(find_delimiter("a:b\n1:2\n", true), '\n');
  EXPECT_EQ(find_delimiter("ip,n\n::1,2\n::2,3\n", true), ',');
  EXPECT_EQ(find_delimiter("1 2 3\n4 5 6\n", true), '\n');
  EXPECT_EQ(find_delimiter("1 2 3\n4 5 6\n", true, true), ' ');
  EXPECT_EQ(find_delimiter("a b,c d e\n1,2\n", true, true), ',');
  EXPECT_EQ(rows("a:b\n1:2\n", {.delimiter = ":"}), (Rows{{"1", "2"}}));
  EXPECT_EQ(rows("a\tb\n1\t2,3\n", {.delimiter = "\\t"}), (Rows{{"1", "2,3"}}));
  EXPECT_EQ(rows("a;b\n1;2,3\n", {.format = TableFormat::kCsv}), (Rows{{"1", "2,3"}}));
}

TEST(DelimitedReader, BadDelimiters) {
  for (const char* bad : {"ab", "\"", "\n", "\xC3\xA9"}) {
    expect_part("delimiter must be one ASCII character",
                message_of(ErrorKind::kUsage, [&] { table_of("a,b\n", {.delimiter = bad}); }));
  }
}

TEST(DelimitedReader, RaggedRows) {
  expect_part(
      "t:3: found 3 cells where the header has 2 (the delimiter is \",\"); correct the line",
      refusal("a,b\n1,2\n1,2,3\n4,5\n6,7\n"));
  expect_part("t:2: found 1 cell where the first row has 2",
              refusal("1,2\n3\n4,5\n6,7\n", {.header = false}));
  expect_part("(the delimiter is a tab)", refusal("a\tb\n1\n", {.format = TableFormat::kTsv}));
}

TEST(DelimitedReader, NamesOfColumns) {
  expect_part("t:1: columns 1 and 3 are both called a; give each column a name",
              refusal("a,b,a\n1,2,3\n"));
  expect_part("t:1: column 2 of 3 has no name; give each column a name of its own, or --no-header",
              refusal("a,,c\n1,2,3\n"));
  expect_part("column 1 of 2 has no name", refusal("\"\",c\n1,2\n"));
}

TEST(DelimitedReader, EmptyFiles) {
  for (const char* text : {"", "\n\n", "\xEF\xBB\xBF", "\r\n"}) {
    expect_part("t: there is no row; give a table with a first row", refusal(text));
  }
  expect_part("give a table with at least one row", refusal("", {.header = false}));
}

TEST(DelimitedReader, QuotesThatNeverClose) {
  expect_part("t:3: a quote that opens here is never closed", refusal("a,b\n1,2\n3,\"4\n5,6\n"));
  expect_part("t:3: a quote that opens here", refusal("a,b\n\"x\ny\",\"z\n"));
  expect_part("t:2: a quote that opens here", refusal("a,b\n1,\"x\"\"\n"));
  expect_part("t:2: text follows a closed quote: b,2; double the quotes",
              refusal("a,b\n\"a\"b,2\n"));
}

TEST(DelimitedReader, EncodingsAreNamed) {
  expect_part("t: this is UTF-32 text", refusal("\xFF\xFE\0\0a\0\0\0"s));
  expect_part("likely UTF-16: say so with --encoding utf-16", refusal("a\0,\0b\0\n\0"s));
  expect_part("t:2: NUL byte; text has none", refusal("a,b\n1,\0\n"s));
  expect_part("t:3: NUL byte", refusal("a,b\n1,\"\n\0\"\n"s));
  expect_part("carriage return alone; convert them with: tr", refusal("a,b\r1,2\r3,4"));
}

TEST(DelimitedReader, WhatIsNotUtf8IsRepairedAndTold) {
  const auto reader = table_of("na\xEFve,b\n1,2\ncaf\xE9,\xC3\xA9\n\xFF\xFF,\"x\"\"\xE9\"\n");
  EXPECT_EQ(reader->columns()[0], "na\uFFFDve");
  EXPECT_EQ(rows_of(*reader),
            (Rows{{"1", "2"}, {"caf\uFFFD", "\u00E9"}, {"\uFFFD\uFFFD", "x\"\uFFFD"}}));
  const auto notes = reader->tally()->finish();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].level, Note::Level::kNote);
  EXPECT_EQ(notes[0].text,
            "3 rows with bytes that are not UTF-8, which became U+FFFD; the first is t:1; if this "
            "is not UTF-8, give its encoding, such as --encoding latin-1");
}

TEST(DelimitedReader, EncodingsAreRead) {
  const TableOptions latin{.encoding = TextEncoding::kLatin1};
  const auto reader = table_of("na\xEFve,b\ncaf\xE9,2\n", latin);
  EXPECT_EQ(reader->columns()[0], "na\u00EFve");
  EXPECT_EQ(rows_of(*reader), (Rows{{"caf\u00E9", "2"}}));
  EXPECT_TRUE(reader->tally()->finish().empty());
  for (const size_t piece : {1, 3, 1000}) {
    EXPECT_EQ(rows_of(*table_of("\xFF\xFE"
                                "a\0,\0b\0\n\0"
                                "1\0,\0\xE9\0"s,
                                {}, piece)),
              (Rows{{"1", "\u00E9"}}));
  }
  EXPECT_EQ(rows_of(*table_of("a\0,\0b\0\n\0"
                              "1\0,\0"
                              "2\0"s,
                              {.encoding = TextEncoding::kUtf16})),
            (Rows{{"1", "2"}}));
}

const TableOptions kSkip{.format = TableFormat::kCsv, .delimiter = ",", .bad_rows = BadRows::kSkip};

// What is said of the rows that were skipped.
std::string told_of(TableReader& reader) {
  const auto notes = reader.tally()->finish();
  EXPECT_EQ(notes.size(), 1u);
  if (notes.empty()) return "";
  EXPECT_EQ(notes[0].level, Note::Level::kWarning);
  return notes[0].text;
}

TEST(DelimitedReader, RowsThatCannotBeReadAreSkippedIfThatIsAsked) {
  const std::string good = "1,2\n";
  for (const auto& [bad, why] : std::vector<std::pair<std::string, std::string>>{
           {"3\n", "found 1 cell where the header has 2"},
           {"3,4,5\n", "found 3 cells where the header has 2"},
           {"\"two\nlines\",4,5\n", "found 3 cells where the header has 2"},
           {"\"a\"b,4\n", "text follows a closed quote: b,4"},
           {"3,\"4\n", "a quote that opens here is never closed"},
           {"3,\"4\"\"\n", "a quote that opens here is never closed"},
           {"3,\0\n"s, "NUL byte"}}) {
    for (const size_t piece : {size_t{1}, size_t{2}, size_t{1000}}) {
      const auto reader = table_of("a,b\n" + good + bad + good + good, kSkip, piece);
      std::vector<Cell> cells;
      ASSERT_TRUE(reader->next(cells));
      ASSERT_TRUE(reader->next(cells)) << bad;
      const auto lines = std::count(bad.begin(), bad.end(), '\n');
      EXPECT_EQ(reader->where(), fmt::format("t:{}", 3 + lines)) << "lines are counted on";
      EXPECT_EQ(reader->row(), 3u) << "so are rows";
      EXPECT_EQ(rows_of(*reader), (Rows{{"1", "2"}})) << bad;
      expect_part("1 row could not be read and was skipped; the first: t:3: " + why,
                  told_of(*reader));
    }
    expect_part(why, refusal("a,b\n" + good + bad + good));
  }
  // A last line without its end.
  EXPECT_EQ(rows_of(*table_of("a,b\n1,2\n3,\"4", kSkip)), (Rows{{"1", "2"}}));
}

TEST(DelimitedReader, WhatMayBeSkippedHasLimits) {
  const auto skipping = [](const std::string& text) {
    return message_of(ErrorKind::kInput, [&] {
      const auto reader = table_of(text, kSkip);
      rows_of(*reader);
      reader->tally()->finish();
    });
  };
  // Half is not more than half.
  const auto half = table_of("a,b\n1,2\n3\n", kSkip);
  EXPECT_EQ(rows_of(*half), (Rows{{"1", "2"}}));
  expect_part("1 row could not be read", told_of(*half));
  expect_part(
      "2 of 3 rows could not be read, and more than half are too many to skip; the first: "
      "t:3: found 1 cell",
      skipping("a,b\n1,2\n3\n4\n"));
  expect_part("t:1: text follows a closed quote", skipping("\"a\"x,b\n1,2\n"));  // the header
  expect_part("longer than 64 MiB", skipping("a\n" + std::string(kMaxRowBytes + (2 << 20), 'x')));
  // A file of nothing else is not read to its end.
  std::string many = "a,b\n";
  for (int i = 0; i < 3000; ++i) many += "3\n";
  expect_part("1,000 of 1,000 rows could not be read", skipping(many));
}

// A quote that is not closed hides all that follows: 64 MiB are looked through, not the file.
TEST(DelimitedReader, AfterAQuoteInALargeFileItGoesOn) {
  std::string text = "a,b\n1,\"2\n";
  while (text.size() < kMaxRowBytes + (3 << 20)) text += "some text that fills the file,4\n";
  const auto reader = table_of(text, kSkip);
  std::vector<Cell> cells;
  ASSERT_TRUE(reader->next(cells));
  EXPECT_EQ(reader->where(), "t:3");
}

TEST(DelimitedReader, ARowHasAnEnd) {
  expect_part("t:2: the row that begins here is longer than 64 MiB",
              refusal("a\n" + std::string(kMaxRowBytes + (2 << 20), 'x')));
}

std::string quoted(const std::string& cell, char delimiter, std::mt19937& random) {
  const bool needs = cell.find_first_of(std::string("\"\r\n") + delimiter) != std::string::npos;
  if (!needs && random() % 4 > 0) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? "\"\""s : std::string(1, c);
  return out + '"';
}

TEST(DelimitedReader, WhatIsWrittenIsReadInPiecesOfAnySize) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const char delimiter = ",;\t|"[random() % 4];
    const std::string line_end = random() % 2 ? "\n" : "\r\n";
    const size_t columns = 2 + random() % 4;
    std::string text;
    for (size_t c = 0; c < columns; ++c)
      text += (c ? std::string(1, delimiter) : ""s) + "k" + std::to_string(c);
    Rows expected;
    for (size_t r = 0; r < random() % 20; ++r) {
      text += line_end;
      Row& row = expected.emplace_back();
      for (size_t c = 0; c < columns; ++c) {
        std::string cell;
        for (size_t n = random() % 6; n > 0; --n) cell += "ab\"\n\r,;\t| "[random() % 10];
        if (random() % 4 == 0) cell += "\xC3\xA9";
        if (c > 0) text += delimiter;
        text += quoted(cell, delimiter, random);
        row.push_back(cell.empty() ? std::nullopt : std::optional(cell));
      }
    }
    if (random() % 2) text += line_end;
    const TableOptions options{.format = TableFormat::kCsv, .delimiter = std::string(1, delimiter)};
    for (const size_t piece : {size_t{1}, size_t{2}, 3 + random() % 20, text.size()}) {
      EXPECT_EQ(rows_of(*table_of(text, options, piece)), expected) << text << " in " << piece;
    }
  }
}

// Doubled quotes are taken out in place; what that leaves behind is not part of the table.
TEST(DelimitedReader, DoubledQuotesBeforeALetterOfTwoBytesAreNotDamage) {
  for (const bool header : {true, false}) {
    TableOptions options;
    options.header = header;
    const auto table = table_of(
        "\"a \"\"b\"\" Samoura\xc3\xaf.\",c\n\"a \"\"b\"\" Samoura\xc3\xaf.\",z\n", options);
    rows_of(*table);
    EXPECT_TRUE(table->tally()->finish().empty()) << header;
  }
}

}  // namespace
}  // namespace kith
