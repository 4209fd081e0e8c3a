// SPDX-License-Identifier: Apache-2.0
#include "data/labelled/labelled.h"

#include <gtest/gtest.h>

#include "data/labelled/labelled_reader.h"
#include "data/labelled/text_words.h"
#include "data/test_files.h"

namespace kith {
namespace {

class LabelledTest : public testing::Test {
 protected:
  Labelled read(const std::string& name, std::string_view bytes,
                std::optional<double> holdout = {}) {
    return LabelledReader({columns, options}, table, {}).read({folder.write(name, bytes)}, holdout);
  }
  std::string refused(ErrorKind kind, const std::string& name, std::string_view bytes,
                      std::optional<double> holdout = {}) {
    return message_of(kind, [&] { read(name, bytes, holdout); });
  }
  // A text as it was understood: "A,B: words of it".
  static std::string shown(const Labelled& data, const Documents& d, size_t i) {
    std::string out;
    for (const uint32_t l : d.labels_of(i)) {
      out += (out.empty() ? "" : ",") + std::string(data.labels()[l]);
    }
    out += ":";
    for (const uint32_t w : d.words_of(i)) {
      out += " " + (w == kUnknownWord ? "?" : std::string(data.vocabulary().words[w]));
    }
    return out;
  }
  static std::vector<std::string> all(const Labelled& data, const Documents& d) {
    std::vector<std::string> out;
    for (size_t i = 0; i < d.size(); ++i) out.push_back(shown(data, d, i));
    return out;
  }
  static bool noted(const Labelled& data, std::string_view part) {
    for (const Note& n : data.profile().notes) {
      if (n.text.find(part) != std::string::npos) return true;
    }
    return false;
  }
  using Texts = std::vector<std::string>;

  TestFolder folder;
  LabelColumns columns;
  LabelledOptions options;
  TableOptions table;
};

TEST_F(LabelledTest, LinesOfFastText) {
  const Labelled data = read("a.txt",
                             "__label__x one two\n"
                             "__label__y\t__label__x  two  three\r\n"
                             "in __label__y the __label__y middle");
  EXPECT_EQ(all(data, data.train()), (Texts{"x: one two", "y,x: two three", "y: in the middle"}));
  EXPECT_EQ(data.labels()[0], "x");  // as often as y, and before it
  EXPECT_EQ(data.label_counts(), (std::vector<uint64_t>{2, 2}));
  EXPECT_EQ(data.vocabulary().words[0], "two");
  EXPECT_EQ(data.counts().several, 1u);
}

TEST_F(LabelledTest, AnotherPrefix) {
  columns.label_prefix = "#";
  const Labelled data = read("a.txt", "#x one\n#y __label__z two\n");
  EXPECT_EQ(all(data, data.train()), (Texts{"x: one", "y: __label__z two"}));
}

TEST_F(LabelledTest, RowsOfATable) {
  columns = {.text = "title,body", .label = "topic", .row_weight = "w"};
  const Labelled data = read("a.csv",
                             "id,topic,body,title,w\n"
                             "1,x,\"The, end.\",A,1\n"
                             "2,x|y,\"two\nlines\",,2.5\n"
                             "3,,none,B,1\n"
                             "4,y,,,1\n");
  // A column of a table is prose: tokens are words.
  EXPECT_EQ(all(data, data.train()), (Texts{"x: a the end", "x,y: two lines"}));
  EXPECT_EQ(data.train().weight(0), 1);
  EXPECT_EQ(data.train().weight(1), 2.5f);
  EXPECT_TRUE(noted(data, "1 text without a label left out"));
  EXPECT_TRUE(noted(data, "1 text without a word that is kept left out"));
}

TEST_F(LabelledTest, ListsOfJson) {
  columns = {.text = "t", .label = "l"};
  const Labelled data = read("a.jsonl",
                             "{\"t\": \"one two\", \"l\": [\"a|b\", \"c\"]}\n"
                             "{\"t\": [\"three\", \"four\"], \"l\": \"d;e\"}\n");
  EXPECT_EQ(all(data, data.train()), (Texts{"a|b,c: one two", "d;e: three four"}));
  columns.label_separator = ";";
  EXPECT_EQ(read("a.jsonl", "{\"t\": \"u\", \"l\": \"d;e\"}\n").labels().size(), 2u);
}

TEST_F(LabelledTest, RareWordsAreUnknownAndSeparateTheirNeighbours) {
  options.min_count = 2;
  const Labelled data =
      read("a.txt", "__label__x a b rare odd a\n__label__y b a\n__label__y new\n");
  EXPECT_EQ(all(data, data.train()), (Texts{"x: a b ? a", "y: b a"}));
  EXPECT_EQ(data.counts().empty, 1u);
}

TEST_F(LabelledTest, SpellingsOfOneWordAreOne) {
  const std::string text = "__label__x na\xc3\xafve\n__label__y nai\xcc\x88ve\n";
  EXPECT_EQ(read("a.txt", text).vocabulary().words.size(), 1u);
  options.nfc = false;
  EXPECT_EQ(read("a.txt", text).vocabulary().words.size(), 2u);
}

TEST_F(LabelledTest, HoldsOutAShareButNoLabelAltogether) {
  std::string text = "__label__once upon a time\n";
  for (int i = 0; i < 400; ++i) {
    text += "__label__" + std::to_string(i % 2) + " w" + std::to_string(i) + "\n";
  }
  const Labelled data = read("a.txt", text, 0.25);
  EXPECT_NEAR(static_cast<double>(data.held_out().size()), 100, 30);  // three deviations
  EXPECT_EQ(data.train().size() + data.held_out().size(), 401u);
  for (const uint64_t n : data.label_counts()) EXPECT_GT(n, 0u);
  EXPECT_EQ(read("b.txt", text, 0.25).fingerprint(), data.fingerprint());
  EXPECT_NE(read("b.txt", text, 0.2).fingerprint(), data.fingerprint());
  EXPECT_EQ(read("a.txt", text).held_out().size(), 0u);
}

TEST_F(LabelledTest, AFileToBeScoredBy) {
  options.validation = folder.write("v.txt", "__label__y b unseen\n__label__z a\n");
  const Labelled data = read("a.txt", "__label__x a\n__label__y b\n");
  EXPECT_EQ(all(data, data.held_out()), (Texts{"y: b ?"}));
  EXPECT_EQ(data.train().size(), 2u);
  EXPECT_TRUE(noted(data, "1 text with a label that the training data lack"));
  EXPECT_EQ(refused(ErrorKind::kUsage, "a.txt", "__label__x a\n__label__y b\n", 0.1),
            "--validation is given, so --holdout must be left out, or 0");
}

TEST_F(LabelledTest, OnTopOfAModel) {
  const Labelled first = read("a.txt", "__label__x a\n__label__y b\n");
  const KnownLabels known{first.vocabulary().words, first.labels(), first.form()};
  const std::string path = folder.write("b.txt", "__label__z b c a\n__label__x c\nno label\n");
  const Labelled data = LabelledReader({columns, options}, table, {}).read_known({path}, known);
  EXPECT_EQ(all(data, data.train()), (Texts{"z: b ? a", "x: ?"}));
  EXPECT_EQ(data.labels().size(), 3u);
  EXPECT_EQ(data.labels()[2], "z");
}

// Trained on a table, it looks for the same columns in a table, and for lines in a text.
TEST_F(LabelledTest, TheColumnsOfTheModel) {
  const LabelColumns learned{.text = "body", .label = "topic", .label_separator = ";"};
  EXPECT_EQ(columns_for("new.csv", {}, learned).text, "body");
  EXPECT_EQ(columns_for("new.csv", {}, learned).label, "topic");
  EXPECT_EQ(columns_for("new.csv", {.text = "plot"}, learned).text, "plot");
  EXPECT_EQ(columns_for(folder.write("new.txt", "words"), {}, learned).text, "");
  EXPECT_EQ(columns_for("new.csv", {}, learned).label_separator, ";");
}

TEST_F(LabelledTest, WhatItLooksLike) {
  EXPECT_EQ(seen_as(folder.write("a.txt", "__label__x a\n")).kind, &Labelled::data_kind());
  EXPECT_NE(seen_as(folder.write("b.txt", "plain text\n")).kind, &Labelled::data_kind());
  EXPECT_NE(seen_as(folder.write("c.csv", "text,label\na,b\n")).kind, &Labelled::data_kind());
}

TEST_F(LabelledTest, BadInput) {
  const auto expect = [&](std::string_view part, const std::string& message) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  using enum ErrorKind;
  expect("a.txt: no line has a label; a label is a word such as __label__spam",
         refused(kInput, "a.txt", "one two\nthree\n"));
  expect("no line has a label", refused(kInput, "a.txt", ""));
  expect("all texts have the label x; there is nothing to tell apart",
         refused(kInput, "a.txt", "__label__x a\n__label__x b\n"));
  expect("none of 2 labelled texts has a word",
         refused(kInput, "a.txt", "__label__x\n__label__y \n"));
  expect("a.txt:2: __label__ without a name behind it",
         refused(kInput, "a.txt", "__label__x a\n__label__ b\n"));
  expect("a.txt:2: NUL byte",
         refused(kInput, "a.txt", std::string_view("__label__x a\n__label__y b\0c\n", 29)));
  options.invalid_utf8 = InvalidUtf8::kError;
  expect("not UTF-8", refused(kInput, "a.txt", "__label__x a\n__label__y \xff\n"));
  columns.label = "l";
  expect("--label is given, and --text is not", refused(kUsage, "a.csv", "t,l\na,b\n"));
  columns.text = "t";
  expect("--invalid-utf8 is for lines", refused(kUsage, "a.csv", "t,l\na,b\n"));
  options.invalid_utf8 = InvalidUtf8::kReplace;
  columns.text = "txt";
  expect("there is no column txt for --text; there are text, l; did you mean text?",
         refused(kUsage, "a.csv", "text,l\na,b\n"));
  columns.text = "t";
  expect("a.csv:3", refused(kInput, "a.csv", "t,l\na,b\na,b,c\nd,e\n"));  // a ragged row
  expect("the column l is empty", refused(kInput, "a.csv", "t,l\na,\n"));
  columns.row_weight = "w";
  expect("there is no column w for --row-weight", refused(kUsage, "a.csv", "t,l\na,b\n"));
  for (const char* weight : {"-1", "much", "nan", "1e7", ""}) {
    expect("a.csv:3: the weight must be a number from 0 to 1e+06, and w is",
           refused(kInput, "a.csv", fmt::format("t,l,w\na,b,1\na,c,{}\n", weight)));
  }
  columns.text = columns.label = "";
  expect("--row-weight is for tables", refused(kUsage, "a.txt", "__label__x a\n"));
  columns.row_weight = "";
  table.delimiter = ",";
  expect("--delimiter is for tables", refused(kUsage, "a.txt", "__label__x a\n"));
}

TEST_F(LabelledTest, WordsOfOneText) {
  Names words;
  for (const char* w : {"a", "b"}) words.add(w);
  TextWords text(options, "the text");
  std::vector<uint32_t> out;
  text.find("b c d a\nb c", words, out);
  EXPECT_EQ(out, (std::vector<uint32_t>{1, kUnknownWord, 0, 1, kUnknownWord}));
  text.find("", words, out);
  EXPECT_TRUE(out.empty());
}

}  // namespace
}  // namespace kith
