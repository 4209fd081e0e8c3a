// SPDX-License-Identifier: Apache-2.0
#include "kith/results.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "api/test_models.h"
#include "io/vector_files.h"

namespace kith::test {
namespace {

namespace fs = std::filesystem;

// Two rows of every kind of cell.
void write_rows(const std::string& path) {
  ResultFile file(path);
  file.columns({{"film"}, {"times"}, {"score", true}, {"odd", true}});
  file.row("a", std::vector<ResultCell>{"Alien, \"the\" first", uint64_t{1234567}, 0.5, -2.25});
  file.row("a", std::vector<ResultCell>{"a\tb", ResultCell(), 1e-9, 3.0});
  file.commit();
}

TEST(ResultFile, TheExtensionIsTheFormat) {
  const TestFolder folder;
  write_rows(folder.path() + "/out.csv");
  EXPECT_EQ(
      bytes_of(folder.path() + "/out.csv"),
      "film,times,score,odd\n\"Alien, \"\"the\"\" first\",1234567,0.5,-2.25\na\tb,,1e-09,3\n");
  write_rows(folder.path() + "/out.tsv");
  EXPECT_EQ(bytes_of(folder.path() + "/out.tsv"),
            "film\ttimes\tscore\todd\nAlien, \"the\" first\t1234567\t0.5\t-2.25\n"
            "\"a\tb\"\t\t1e-09\t3\n");
  write_rows(folder.path() + "/out.npy");
  ReadReport report{};
  const NamedVectors read = read_vectors(folder.path() + "/out.npy", &report);
  EXPECT_EQ(report.format, VectorFormat::kNpy);
  ASSERT_EQ(read.matrix.cols(), 2u);  // the answers alone
  EXPECT_EQ(read.matrix.row(0)[1], -2.25f);
  EXPECT_EQ(read.matrix.row(1)[0], 1e-9f);
  EXPECT_EQ(read.names[0], "a");
  EXPECT_EQ(read.names[1], "a (2)");
  ResultFile lines(folder.path() + "/out.jsonl");
  ASSERT_TRUE(lines.takes_json());
  lines.json_line("{\"row\":1}\n");
  lines.commit();
  EXPECT_EQ(bytes_of(folder.path() + "/out.jsonl"), "{\"row\":1}\n");
}

TEST(ResultFile, AnUnknownExtensionIsRefusedWithThoseThatAreKnown) {
  const TestFolder folder;
  for (const char* const name : {"out", "out.xlsx", "out.csv.gz", "out.kith", "out.CSV2"}) {
    const std::string path = folder.path() + "/" + name;
    expect_part("name it .csv, .tsv, .jsonl, .npy", usage_error([&] { ResultFile{path}; }));
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_TRUE(ResultFile("/dev/null", true).takes_json());
  EXPECT_FALSE(ResultFile("/dev/null", false).takes_json());
  EXPECT_FALSE(ResultFile(folder.path() + "/out.csv", true).takes_json());
}

TEST(ResultFile, TextIsNoAnswerForNumPy) {
  const TestFolder folder;
  const std::string path = folder.path() + "/out.npy";
  ResultFile file(path);
  file.columns({{"director", true}});
  expect_part("holds numbers, and director is text",
              usage_error([&] { file.row("1", std::vector<ResultCell>{"Ann"}); }));
}

TEST(ResultTables, PredictionsStandBehindTheRow) {
  const TestFolder folder;
  const std::string source = folder.write("rows.csv", "name,city\nx,Rome\ny,Lima\n");
  const std::string path = folder.path() + "/out.tsv";
  ResultFile file(path);
  predict_rows(places(), {source}, {.target = "country", .top = 2}, {}, two_threads(),
               [&](const PredictedRow& row) { add_prediction(file, row); });
  file.commit();
  const std::string text = bytes_of(path);
  expect_part("row\tname\tcity\tprediction\tprobability\tprediction_2\tprobability_2\n1\tx\tRome\t",
              text);
  expect_part("\n2\ty\tLima\tPeru\t", text);
}

TEST(ResultTables, AColumnCalledRowStays) {
  const TestFolder folder;
  const std::string source = folder.write("rows.csv", "city,row\nRome,r7\n");
  const std::string path = folder.path() + "/out.csv";
  ResultFile file(path);
  predict_rows(places(), {source}, {.target = "country"}, {}, two_threads(),
               [&](const PredictedRow& row) { add_prediction(file, row); });
  file.commit();
  expect_part("city,row,prediction,probability\nRome,r7,Italy,", bytes_of(path));
}

TEST(ResultTables, NumbersOfTheModelAreToldFromText) {
  const TestFolder folder;
  const std::string source = folder.write("rows.csv", "name,city,year\n7,Rome,1900\n");
  size_t rows = 0;
  predict_rows(places(), {source}, {.target = "country"}, {}, two_threads(),
               [&](const PredictedRow& row) {
                 EXPECT_EQ(row.row, ++rows);
                 EXPECT_EQ(std::vector(row.numbers.begin(), row.numbers.end()),
                           (std::vector<uint8_t>{0, 0, 1}));
               });
  EXPECT_EQ(rows, 1u);
}

TEST(ResultTables, ScoresHaveTheRowAndWhatItIsCalled) {
  const TestFolder folder;
  const std::string source = folder.write(
      "rows.csv", "name,city,country\na,Rome,Italy\nb,Lima,Peru\nc,Nice,Peru\nd,Puno,Peru\n");
  const auto found = score_rows(places(), {source}, {.name = "name"}, {}, two_threads());
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].name, "c");
  EXPECT_EQ(found[0].row, 3u);
  EXPECT_TRUE(found[0].named);
  EXPECT_FALSE(score_rows(places(), {source}, {}, {}, two_threads())[0].named);
  const std::string path = folder.path() + "/out.csv";
  ResultFile file(path);
  for (const ScoredRow& row : found) add_score(file, row);
  file.commit();
  expect_part("row,id,score,odd,because\n3,c,", bytes_of(path));
  expect_part("city x country", bytes_of(path));
}

}  // namespace
}  // namespace kith::test
