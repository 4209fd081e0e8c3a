// SPDX-License-Identifier: Apache-2.0
#include "kith/embed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "api/test_models.h"
#include "io/vector_files.h"

namespace kith::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRows =
    "name,city,country,year\n"
    "a,Rome,Italy,1922\n"
    "b,Lima,Peru,1961\n"
    "a,Nice,France,\n"
    ",Puno,,1960\n";
const std::vector<Strings> kTerms{{"city=Rome", "country=Italy", "year=1922"},
                                  {"city=Lima", "country=Peru", "year=1961"},
                                  {"city=Nice", "country=France"},
                                  {"city=Puno", "year=1960"}};

std::vector<float> row_of(const NamedVectors& vectors, size_t r) {
  return {vectors.matrix.row(r).begin(), vectors.matrix.row(r).end()};
}
Strings names_in(const NamedVectors& vectors) {
  Strings out;
  for (size_t i = 0; i < vectors.names.size(); ++i) out.emplace_back(vectors.names[i]);
  return out;
}

TEST(Embed, ARowIsTheSumOfItsValues) {
  const auto rome = embed(places(), {"city=Rome"}), italy = embed(places(), {"country=Italy"});
  const auto both = embed(places(), {"country=Italy", "city=Rome"});
  ASSERT_EQ(both.size(), 12u);
  for (size_t k = 0; k < both.size(); ++k) EXPECT_NEAR(both[k], rome[k] + italy[k], 1e-5) << k;
  EXPECT_NE(rome, italy);
  EXPECT_EQ(embed(places(), {}), std::vector<float>(12, 0.0f));
}

TEST(Embed, SaysWhatItDoesNotKnow) {
  EXPECT_EQ(input_error([] { embed(places(), {"city=Rone"}); }),
            "city has no value Rone; similar: Rome");
  EXPECT_EQ(usage_error([] { embed(ratings(), {"ship"}); }),
            "embed is for models that complete rows of a table or have vectors of words; " +
                ratings().path() + " holds als, which does not");
}

TEST(EmbedRows, EachRowIsEmbeddedAsItsValuesAre) {
  const TestFolder folder;
  const std::string file = folder.write("rows.csv", kRows);
  for (const VectorFormat format :
       {VectorFormat::kNpy, VectorFormat::kCsv, VectorFormat::kGlove, VectorFormat::kSafetensors,
        VectorFormat::kWord2vecText, VectorFormat::kWord2vecBin}) {
    const std::string output = folder.path() + "/out";
    const Embedded done = embed_rows(places(), {file}, output, {.to = format}, {}, two_threads());
    EXPECT_EQ(done.rows, 4u);
    EXPECT_EQ(done.dim, 12u);
    ReadReport report{};
    const NamedVectors read = read_vectors(output, &report);
    EXPECT_EQ(report.format, format);
    EXPECT_EQ(names_in(read), (Strings{"1", "2", "3", "4"}));
    for (size_t r = 0; r < kTerms.size(); ++r) {
      EXPECT_EQ(row_of(read, r), embed(places(), kTerms[r])) << r;
    }
  }
}

TEST(EmbedRows, AColumnNamesThem) {
  const TestFolder folder;
  const std::string file = folder.write("rows.csv", kRows), output = folder.path() + "/out.csv";
  embed_rows(places(), {file}, output, {.to = VectorFormat::kCsv, .name = "name"}, {},
             two_threads());
  // The second a is another row, and a row without a name has its number.
  EXPECT_EQ(names_in(read_vectors(output)), (Strings{"a", "b", "a (2)", "4"}));
  expect_part("has no column nam; did you mean name?", usage_error([&] {
                embed_rows(places(), {file}, output, {.name = "nam"}, {}, two_threads());
              }));
}

TEST(EmbedRows, TheExtensionIsTheFormat) {
  const TestFolder folder;
  const std::string file = folder.write("rows.csv", kRows);
  const auto written = [&](const std::string& name, const EmbedOptions& options = {}) {
    embed_rows(places(), {file}, folder.path() + "/" + name, options, {}, two_threads());
    return folder.path() + "/" + name;
  };
  for (const auto& [name, format] :
       {std::pair("o.npy", VectorFormat::kNpy), std::pair("o.csv", VectorFormat::kCsv),
        std::pair("o.safetensors", VectorFormat::kSafetensors)}) {
    ReadReport report{};
    read_vectors(written(name), &report);
    EXPECT_EQ(report.format, format) << name;
  }
  const std::string csv = bytes_of(folder.path() + "/o.csv");
  std::string tabs = bytes_of(written("o.tsv"));
  std::ranges::replace(tabs, '\t', ',');
  EXPECT_EQ(tabs, csv);
  const std::string lines = bytes_of(written("o.jsonl", {.name = "name"}));
  expect_part("{\"row\":1,\"id\":\"a\",\"vector\":[", lines);
  expect_part("\n{\"row\":3,\"id\":\"a (2)\",\"vector\":[", lines);
  for (const char* const name : {"out", "o.txt", "o.npz"}) {
    expect_part("name it .kith, .npy, .csv, .safetensors, .tsv, .jsonl",
                usage_error([&] { written(name); }));
  }
  written("o.txt", {.to = VectorFormat::kGlove});
  for (const char* const name : {"no.csv", "no.tsv", "no.jsonl", "no.kith"}) {
    expect_part("the name belongs to another format than --to npy",
                usage_error([&] { written(name, {.to = VectorFormat::kNpy}); }));
    EXPECT_FALSE(fs::exists(folder.path() + "/" + name));
  }
}

TEST(EmbedRows, AModelOfThemCanBeAsked) {
  const TestFolder folder;
  std::string rows = "name,city,country\n";
  for (const Country& c : kCountries) {
    for (const std::string_view city : c.cities) rows += fmt::format("{0},{0},{1}\n", city, c.name);
  }
  const std::string output = folder.path() + "/rows.kith";
  const Embedded done = embed_rows(places(), {folder.write("rows.csv", rows)}, output,
                                   {.name = "name"}, {}, two_threads());
  EXPECT_EQ(done.rows, 12u);
  const Model model = open(output);
  EXPECT_EQ(model.kind(), "vectors");
  const auto answers = near(model, {"Rome"}, {.top = 2}, two_threads());
  for (const Neighbour& n : answers[0].neighbours) {
    EXPECT_TRUE(n.id == "Milan" || n.id == "Turin") << n.id;
  }
}

TEST(EmbedRows, SettingsOfReadingCountAndWhatCannotBeReadIsTold) {
  const TestFolder folder;
  const std::string file = folder.write("rows.csv", "city#year\nRome#soon\n");
  const std::string output = folder.path() + "/out.npy";
  Events events;
  embed_rows(places(), {file}, output, {}, Settings{text("delimiter", "#")}, two_threads(),
             &events);
  EXPECT_EQ(row_of(read_vectors(output), 0), embed(places(), {"city=Rome"}));
  EXPECT_TRUE(events.noted("\"soon\" is not a number and counts as missing"));
}

TEST(EmbedRows, OutputsThatWouldLoseSomethingAreRefused) {
  const TestFolder folder;
  const std::string file = folder.write("rows.csv", kRows);
  const std::string model = folder.path() + "/model.kith";
  places().save(model);
  const Model opened = open(model);
  const std::string read_and_written = " is both read and written; choose another --output";
  EXPECT_EQ(usage_error([&] { embed_rows(opened, {file}, model, {}, {}, two_threads()); }),
            model + read_and_written);
  EXPECT_EQ(usage_error([&] { embed_rows(opened, {file}, file, {}, {}, two_threads()); }),
            file + read_and_written);
  EXPECT_EQ(bytes_of(file), kRows);
  io_error(
      [&] { embed_rows(opened, {file}, folder.path() + "/none/out.npy", {}, {}, two_threads()); });
  EXPECT_EQ(usage_error([&] {
              embed_rows(opened, {file}, "-", {.to = VectorFormat::kNpy}, {}, two_threads());
            }),
            "npy takes two files, the matrix and its names; name one with -o");
  EXPECT_FALSE(fs::exists("-.names.txt"));
  usage_error(
      [&] { embed_rows(ratings(), {file}, folder.path() + "/out.npy", {}, {}, two_threads()); });
}

TEST(EmbedRows, StopsWhenItIsCancelledAndWritesNothing) {
  const TestFolder folder;
  const std::string output = folder.path() + "/out.csv";
  Context context(1);
  context.cancel();
  message_of(ErrorKind::kCancelled,
             [&] { embed_rows(places(), {places_file()}, output, {}, {}, context); });
  EXPECT_FALSE(fs::exists(output));
}

}  // namespace
}  // namespace kith::test
