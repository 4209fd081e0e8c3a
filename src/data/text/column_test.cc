// SPDX-License-Identifier: Apache-2.0
// Columns of tables as text, by the settings that a user gives.
#include <gtest/gtest.h>

#include <algorithm>

#include "data/table/test_tables.h"
#include "data/text/column_source.h"
#include "kith/settings.h"

namespace kith {
namespace {

Setting said(std::string name, Value value) { return {std::move(name), std::move(value)}; }

class ColumnText : public testing::Test {
 protected:
  std::unique_ptr<Dataset> read(const std::vector<std::string>& sources,
                                std::vector<Setting> settings) const {
    const auto reader = Corpus::data_kind().reader();
    settings.push_back(said("min-count", int64_t{1}));
    apply_settings(settings, reader->settings());
    ReadRequest request;
    request.sources = sources;
    request.scratch = folder_.path();
    return reader->read(request);
  }
  Lines lines(const std::string& source, const std::vector<Setting>& settings) const {
    const auto data = read({source}, settings);
    const auto& corpus = dynamic_cast<const Corpus&>(*data);
    return sentences_of(stream_of(corpus), corpus.vocabulary());
  }
  std::string refused(const std::string& source, const std::vector<Setting>& settings,
                      ErrorKind kind = ErrorKind::kUsage) const {
    return message_of(kind, [&] { read({source}, settings); });
  }
  TestFolder folder_;
};

const Setting kPlot = said("column", std::string("plot"));
const Lines kPlots{{"a", "crew", "far", "out"}, {"a", "man,", "alone"}};

TEST_F(ColumnText, IsTheSameFromEveryFormat) {
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"f.csv", "id,plot\n1,a crew far out\n2,\"a man, alone\"\n"},
           {"f.tsv", "plot\tid\na crew far out\t1\na man, alone\t2\n"},
           {"f.jsonl", "{\"id\": 1, \"plot\": \"a crew far out\"}\n{\"plot\": \"a man, alone\"}\n"},
           {"f.json",
            "[{\"plot\": [\"a\", \"crew\", \"far\", \"out\"]}, "
            "{\"plot\": [\"a\", \"man,\", \"alone\"]}]"}}) {
    EXPECT_EQ(lines(folder_.write(name, text), {kPlot}), kPlots) << name;
  }
}

TEST_F(ColumnText, ACellIsALineWhateverItHolds) {
  const auto path =
      folder_.write("f.csv", "id,plot\n1,\"a crew\nfar\r\nout\"\n2,\n3,\"a man, alone\"\n");
  EXPECT_EQ(lines(path, {kPlot}), kPlots);
}

TEST_F(ColumnText, SeveralColumnsAreLinesOfTheirOwn) {
  const auto path = folder_.write("f.csv", "id,title,plot\n1,Alien,a crew\n2,,a man\n");
  EXPECT_EQ(lines(path, {said("column", std::string("title, plot"))}),
            (Lines{{"Alien"}, {"a", "crew"}, {"a", "man"}}));
  const auto comma = folder_.write("g.csv", "id,\"title,plot\"\n1,a crew\n");
  EXPECT_EQ(lines(comma, {said("column", std::string("title,plot"))}), (Lines{{"a", "crew"}}));
}

TEST_F(ColumnText, SeveralFilesAreOneText) {
  const auto data = read(
      {folder_.write("f.csv", "id,plot\n1,a crew\n"), folder_.write("g.csv", "plot,id\na man,2\n")},
      {kPlot});
  const auto& corpus = dynamic_cast<const Corpus&>(*data);
  EXPECT_EQ(sentences_of(stream_of(corpus), corpus.vocabulary()),
            (Lines{{"a", "crew"}, {"a", "man"}}));
}

// More than fits in a piece, and what is told on the way.
TEST_F(ColumnText, LongTablesAreReadInPieces) {
  std::string table = "id,plot\n", text;
  for (int i = 0; i < 50'000; ++i) {
    table += fmt::format("{},w{} w{}\n", i, i % 7, i % 11);
    text += fmt::format("w{} w{}\n", i % 7, i % 11);
  }
  const auto reader = Corpus::data_kind().reader();
  const std::vector<Setting> settings{kPlot};
  apply_settings(settings, reader->settings());
  ReadRequest request;
  request.sources = {folder_.write("f.csv", table)};
  request.scratch = folder_.path();
  std::vector<double> shares;
  request.on_read = [&](uint64_t, double share) { shares.push_back(share); };
  EXPECT_EQ(reader->read(request)->fingerprint(),
            read({folder_.write("f.txt", text)}, {})->fingerprint());
  EXPECT_EQ(shares.size(), 5u);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
}

TEST_F(ColumnText, ObeysTheSettingsOfATable) {
  EXPECT_EQ(lines(folder_.write("f", "id+plot\n1+a crew\n"),
                  {kPlot, said("delimiter", std::string("+"))}),
            (Lines{{"a", "crew"}}));
  EXPECT_EQ(lines(folder_.write("f", "1,a crew\n"),
                  {said("column", std::string("c2")), said("header", false)}),
            (Lines{{"a", "crew"}}));
  EXPECT_EQ(lines(folder_.write("f", "id,plot\n1,caf\xE9 au lait\n"),
                  {kPlot, said("encoding", std::string("latin-1"))}),
            (Lines{{"caf\xC3\xA9", "au", "lait"}}));
  const auto bad = folder_.write("f", "id,plot\n1,a crew\n2,b,c\n3,a man\n4,a ship\n");
  expect_part(":3: ", refused(bad, {kPlot}, ErrorKind::kInput));
  const auto skip = said("bad-rows", std::string("skip"));
  const auto data = read({bad}, {kPlot, skip});
  ASSERT_EQ(data->profile().notes.size(), 1u);
  expect_part("1 row could not be read and was skipped", data->profile().notes[0].text);
  expect_part("more than half are too many to skip",
              refused(folder_.write("f", "id,plot\n1\n2\n"),
                      {kPlot, skip, said("delimiter", std::string(","))}, ErrorKind::kInput));
}

TEST_F(ColumnText, WhatIsWrongIsSaid) {
  const auto path = folder_.write("f.csv", "id,title,plot\n1,Alien,a crew\n");
  EXPECT_EQ(refused(path, {said("column", std::string("plto"))}),
            path +
                ": there is no column plto for --column; there are id, title, plot; did you "
                "mean plot?");
  expect_part("there is no column without a name",
              refused(path, {said("column", std::string("plot,"))}));
  const auto plain = folder_.write("f.txt", "just words\nand more\n");
  expect_part("for plain text leave --column out", refused(plain, {kPlot}));
  expect_part("--delimiter is for tables", refused(path, {said("delimiter", std::string(";"))}));
  expect_part("--query is for tables", refused(path, {said("query", std::string("films"))}));
  expect_part("--invalid-utf8 is for files of text",
              refused(path, {kPlot, said("invalid-utf8", std::string("drop"))}));
  expect_part("--paragraphs is for files of text",
              refused(path, {kPlot, said("paragraphs", true)}));
  const auto nul = folder_.write("f.jsonl", "{\"plot\": \"a\\u0000b\"}\n");
  expect_part("NUL byte in column plot", refused(nul, {kPlot}, ErrorKind::kInput));
  expect_part("a database and has no lines of text; name the column that is the text",
              refused("postgresql://me:secret@host/films", {}));
  EXPECT_EQ(refused("postgresql://me:secret@host/films", {}).find("secret"), std::string::npos);
}

TEST_F(ColumnText, HintsAreOfTheTextAndNotOfTheTable) {
  const auto path = folder_.write("f.csv", "id,plot\n1,\"The Man, alone\"\n2,The Crew far\n");
  const auto lines = read({path}, {})->profile().notes;
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].level, Note::Level::kHint);
  expect_part("--column plot takes one column", lines[0].text);
  const auto column = read({path}, {kPlot})->profile().notes;
  ASSERT_EQ(column.size(), 1u);
  expect_part("--tokens words", column[0].text);
  EXPECT_TRUE(read({path}, {kPlot, said("tokens", std::string("words"))})->profile().notes.empty());
  const auto chinese = folder_.write("c.txt", "我们今天去公园散步，天气很好。\n我们今天去公园\n");
  const auto notes = read({chinese}, {said("tokens", std::string("words"))})->profile().notes;
  ASSERT_EQ(notes.size(), 1u);
  expect_part("Chinese", notes[0].text);
}

}  // namespace
}  // namespace kith
