// SPDX-License-Identifier: Apache-2.0
#include "data/bags/bags.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "core/test_errors.h"
#include "data/bags/bag_table.h"
#include "data/bags/raw_bags.h"
#include "data/bags/stop_words.h"
#include "data/test_files.h"
#include "kith/settings.h"

namespace kith::test {
namespace {

Setting text(std::string name, std::string value) { return {std::move(name), std::move(value)}; }

std::unique_ptr<Dataset> read(const std::string& path, std::vector<Setting> settings = {},
                              std::any base = {}, Wishes wishes = {}) {
  const auto reader = Bags::data_kind().reader();
  apply_settings(settings, reader->settings());
  ReadRequest request;
  request.sources = {path};
  request.base = std::move(base);
  request.wishes = wishes;
  return reader->read(request);
}
const Bags& as(const std::unique_ptr<Dataset>& data) { return dynamic_cast<const Bags&>(*data); }

// All words with their counts, a line for each document.
std::string shown(const Bags& data, const Sparse& counts) {
  std::string out;
  for (uint32_t d = 0; d < counts.rows(); ++d) {
    const Sparse::Row row = counts.row(d);
    for (size_t i = 0; i < row.size(); ++i) {
      out += fmt::format("{}:{:g} ", data.words()[row.columns[i]], row.values[i]);
    }
    out += "| ";
  }
  return out;
}
std::string shown(const std::unique_ptr<Dataset>& data) {
  return shown(as(data), as(data).train());
}

const std::vector<Setting> kAll{{"min-df", int64_t{1}}, {"max-df", 1.0}};

TEST(Bags, LinesAreDocumentsAndTheirOrderIsLost) {
  const TestFolder folder;
  const auto data = read(folder.write("a.txt", "b A b\n\nc a, c: a a\n"), kAll);
  EXPECT_EQ(shown(data), "a:1 b:2 | | a:3 c:2 | ");  // lower case; the most frequent word first
  EXPECT_EQ(as(data).names()[2], "3");
  EXPECT_EQ(as(data).tokens(), 8u);
  EXPECT_EQ(as(data).counts().empty, 1u);
  EXPECT_EQ(as(data).word_counts()[0], 4u);
  const auto spaces = read(folder.path() + "/a.txt",
                           {{"min-df", int64_t{1}}, {"max-df", 1.0}, text("tokens", "spaces")});
  EXPECT_EQ(shown(spaces), "b:2 A:1 | | a:2 a,:1 c:1 c::1 | ");
}

TEST(Bags, RowsOfATableWithTheirNames) {
  const TestFolder folder;
  const std::string path = folder.write("a.csv", "id,body,title\nx,a b,t\ny,,\nz,b,u\n");
  std::vector<Setting> settings = kAll;
  settings.push_back(text("column", "title,body"));
  settings.push_back(text("id", "id"));
  const auto data = read(path, settings);
  EXPECT_EQ(shown(data), "b:1 a:1 t:1 | | b:1 u:1 | ");
  EXPECT_EQ(as(data).names()[0], "x");
  const std::string json = folder.write("a.jsonl", "{\"t\":\"p q\"}\n{\"t\":\"q q\"}\n");
  settings = kAll;
  settings.push_back(text("column", "t"));
  EXPECT_EQ(shown(read(json, settings)), "q:1 p:1 | q:2 | ");
}

TEST(Bags, FilesOfCounts) {
  const TestFolder folder;
  const std::string lda = folder.write("a.ldac", "2 7:1 0:3\n0\n1 2:5\n");
  EXPECT_EQ(bag_file_at(lda), BagFile::kLdaC);
  const auto data = read(lda);
  EXPECT_EQ(shown(data), "0:3 7:1 | | 2:5 | ");  // in the order of the numbers
  EXPECT_EQ(as(data).words().size(), 3u);        // those that are there
  EXPECT_EQ(as(data).counts().empty, 1u);
  const std::string vocab = folder.write("v", "n0\nn1\nn2\nn3\nn4\nn5\nn6\nn7\n");
  EXPECT_EQ(shown(read(lda, {text("vocab", vocab)})), "n0:3 n7:1 | | n2:5 | ");
  // Documents in any order; what stands twice counts twice.
  const std::string docword = folder.write("docword.txt", "3\n8\n4\n3 3 5\n1 8 1\n1 1 1\n1 1 2\n");
  EXPECT_EQ(bag_file_at(docword), BagFile::kDocword);
  EXPECT_EQ(shown(read(docword, {text("vocab", vocab)})), "n0:3 n7:1 | | n2:5 | ");
  // What is no such file.
  for (const char* const other : {"a b c\n", "1 2 3\n4 5 6\n", "user,item\n1,2\n", "+1 3:1\n",
                                  "1 3:0.5 7:1\n", "3\n4\n5\n", "1\n2\n3\n", ""}) {
    EXPECT_EQ(bag_file_at(folder.write("x", other)), BagFile::kNone) << other;
  }
}

TEST(Bags, AsATable) {
  const TestFolder folder;
  const std::string lda = folder.write("a.ldac", "2 7:1 0:3\n0\n1 2:5\n");
  const auto rows = bag_table({lda}, "", {});
  std::string all;
  for (std::vector<Cell> cells; rows->next(cells);) {
    for (const Cell& c : cells) all += std::string(*c) + " ";
  }
  EXPECT_EQ(all, "1 0 3 1 7 1 3 2 5 ");
}

TEST(Bags, WhatEachFilterTook) {
  const TestFolder folder;
  // "the" in all documents, "a" in 3 of 4, "b" in 2, "c" and "d" in 1.
  const std::string path = folder.write("a.txt", "the a b\nthe a b\nthe a c c c\nthe d\n");
  const auto filtered = [&](std::vector<Setting> settings) {
    const auto data = read(path, std::move(settings));
    std::string out;
    for (const auto& f : as(data).counts().filtered) {
      out += fmt::format("{} took {} and {}; ", f.by, f.types, f.tokens);
    }
    for (size_t w = 0; w < as(data).words().size(); ++w) {
      out += fmt::format("{} ", as(data).words()[w]);
    }
    return out;
  };
  EXPECT_EQ(filtered(kAll), "the a c b d ");
  EXPECT_EQ(filtered({{"min-df", int64_t{2}}, {"max-df", 1.0}}),
            "--min-df 2 took 2 and 4; the a b ");
  EXPECT_EQ(filtered({{"min-df", int64_t{1}}, {"max-df", 0.75}}),
            "--max-df 0.75 took 1 and 4; a c b d ");
  EXPECT_EQ(filtered({{"min-df", int64_t{1}}, {"max-df", 1.0}, {"max-vocab", int64_t{2}}}),
            "--max-vocab 2 took 3 and 6; the a ");
  EXPECT_EQ(filtered({{"min-df", int64_t{1}}, {"max-df", 1.0}, text("stop-words", "english")}),
            "--stop-words english took 2 and 7; c b d ");
  const std::string list = folder.write("stop", "b\n  c \n\n");
  EXPECT_EQ(filtered({{"min-df", int64_t{1}}, {"max-df", 1.0}, text("stop-words", list)}),
            fmt::format("--stop-words {} took 2 and 5; the a d ", list));
  // Of texts by themselves; of counts nothing is taken.
  EXPECT_NE(message_of(ErrorKind::kInput, [&] { read(path); }).find("--min-df 5 took"),
            std::string::npos);
  EXPECT_TRUE(as(read(folder.write("a.ldac", "2 7:1 0:3\n1 2:5\n"))).counts().filtered.empty());
  const Profile profile = read(path, {{"min-df", int64_t{2}}, {"max-df", 1.0}})->profile();
  ASSERT_FALSE(profile.lines.empty());
  EXPECT_EQ(profile.lines[0].second, "2 distinct words, 30.8 % of the text: --min-df 2");
}

TEST(Bags, WholeDocumentsAreHeldOut) {
  const TestFolder folder;
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += i % 10 == 0 ? "\n" : fmt::format("a b w{}\n", i % 7);
  const std::string path = folder.write("a.txt", lines);
  std::vector<Setting> settings = kAll;
  settings.push_back({"holdout", 0.2});
  const auto data = read(path, settings);
  const Bags& d = as(data);
  EXPECT_NEAR(static_cast<double>(d.held_out_documents()), 180, 40);  // of 900 that have words
  ASSERT_EQ(d.train().rows(), 1000u);
  ASSERT_EQ(d.held_out().rows(), 1000u);
  uint64_t both = 0, none = 0, held = 0;
  for (uint32_t i = 0; i < 1000; ++i) {
    const bool learned = d.train().row(i).size() > 0, kept = d.held_out().row(i).size() > 0;
    both += learned && kept;
    none += !learned && !kept;
    held += kept;
  }
  EXPECT_EQ(both, 0u);
  EXPECT_EQ(none, 100u);
  EXPECT_EQ(held, d.held_out_documents());
  EXPECT_EQ(d.tokens() + d.held_out_tokens(), 2700u);
  EXPECT_EQ(data->fingerprint(), read(path, settings)->fingerprint());
  EXPECT_NE(data->fingerprint(), read(path, kAll)->fingerprint());
  // As many as the model wants, if nothing is said.
  EXPECT_GT(as(read(path, kAll, {}, {.holdout = 0.2})).held_out_documents(), 0u);
  settings.back() = {"holdout", 0.0};
  EXPECT_EQ(as(read(path, settings, {}, {.holdout = 0.2})).held_out_documents(), 0u);
}

TEST(Bags, NewDocumentsForAModel) {
  const TestFolder folder;
  Names words;
  for (const char* w : {"c", "a", "zz"}) words.add(w);
  const auto of_text = read(folder.write("a.txt", "a b a\nq\nc\n"), {}, KnownBags{words, {}});
  EXPECT_EQ(shown(of_text), "a:2 | | c:1 | ");
  EXPECT_EQ(as(of_text).words().size(), 3u);
  EXPECT_EQ(as(of_text).counts().tokens, 5u);
  EXPECT_EQ(as(of_text).counts().kept, 3u);
  const std::string vocab = folder.write("v", "a\nb\nc\n");
  const auto of_counts = read(folder.write("a.ldac", "2 0:2 1:4\n1 2:1\n"), {text("vocab", vocab)},
                              KnownBags{words, {}});
  EXPECT_EQ(shown(of_counts), "a:2 | c:1 | ");
}

TEST(Bags, StopWordsAreSortedAndLowerCase) {
  const auto words = english_stop_words();
  EXPECT_TRUE(std::ranges::is_sorted(words));
  EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
}

TEST(Bags, WhatIsRefused) {
  const TestFolder folder;
  const auto says = [&](std::string_view part, const std::string& content,
                        const std::vector<Setting>& settings = {},
                        ErrorKind kind = ErrorKind::kInput) {
    const std::string found = message_of(kind, [&] { read(folder.write("a", content), settings); });
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  // Twenty good lines, so that the file is taken for what it is.
  std::string lda, docword = "40\n9\n21\n";
  for (int i = 0; i < 20; ++i) lda += "1 2:5\n";
  for (int i = 1; i <= 20; ++i) docword += fmt::format("{} 3 1\n", i);
  says("a:21: the line says 3 words and has 2", lda + "3 1:1 2:1\n");
  says("a:21: the line says 1 words and has 2", lda + "1 1:1 2:1\n");
  says("a:21: the count of word 2 is 0; counts are whole numbers from 1", lda + "1 2:0\n");
  says("a:21: the count of word 2 is -4; counts are", lda + "1 2:-4\n");
  says("a:21: the count of word 2 is 1.5; counts are", lda + "1 2:1.5\n");
  says("a:21: the count of word 2 is 99999999, and the most is", lda + "1 2:99999999\n");
  says("a:21: 2x is no word:count", lda + "1 2x\n");
  says("a:21: x is no number of words", lda + "x 2:1\n");
  says("a:21: an empty line", lda + "\n");
  says("a:21: there is no word 4000000000; numbers of words go from 0 to",
       lda + "1 4000000000:1\n");
  const std::string vocab = folder.write("v", "n0\nn1\nn2\n");
  says("a:21: there is no word 3; those of --vocab go from 0 to 2", lda + "1 3:1\n",
       {text("vocab", vocab)});
  says("a:24: there is no document 41; they go from 1 to 40", docword + "41 1 1\n");
  says("a:24: there is no word 10; they go from 1 to 9", docword + "40 10 1\n");
  says("a:24: there is no word 0", docword + "40 0 1\n");
  says("a:24: the count of word 2 is 0", docword + "40 2 0\n");
  says("a:24: a line is: document word count", docword + "40 2\n");
  says("a:24: a line is: document word count", docword + "40 2 1 1\n");
  says("the file ends after 20 entries of 21", docword);
  says("900000000 documents of 1 entries are too many", "900000000\n3\n1\n1 1 1\n");
  says("v2:2: n0 stands twice", lda, {text("vocab", folder.write("v2", "n0\nn0\n"))});
  says("v3:2: an empty line", lda, {text("vocab", folder.write("v3", "n0\n\nn1\n"))});
  // Filters.
  says("0 of 3 distinct words remain, and training needs 2; --min-df 4 took 3", "a b c\na b c\n",
       {{"min-df", int64_t{4}}, {"max-df", 1.0}});
  says("1 of 3 distinct words remain, and training needs 2; --stop-words english took 2",
       "the cat is\n", {text("stop-words", "english"), {"min-df", int64_t{1}}, {"max-df", 1.0}});
  says("--max-df 0.5 took 2", "a b\na b\n", {{"min-df", int64_t{1}}});
  says("1 distinct word in 1 document, and training needs 2", "a a\n", kAll);
  says("no words in 2 documents", " \n\n");
  // Flags that are for something else.
  says("--column is for tables", lda, {text("column", "x")}, ErrorKind::kUsage);
  says("--id is for tables", lda, {text("id", "x")}, ErrorKind::kUsage);
  says("--vocab is for files of counts", "a b\n", {text("vocab", vocab)}, ErrorKind::kUsage);
  says("--id is for tables", "a b\n", {text("id", "x")}, ErrorKind::kUsage);
  message_of(ErrorKind::kIo, [&] { read(folder.path() + "/none"); });
  message_of(ErrorKind::kIo, [&] {
    read(folder.write("b", "a b\n"), {text("stop-words", folder.path() + "/none")});
  });
}

}  // namespace
}  // namespace kith::test
