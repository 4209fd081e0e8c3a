// SPDX-License-Identifier: Apache-2.0
#include "kith/vectors.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "api/test_models.h"
#include "io/test_fasttext.h"

namespace kith::test {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFormats{VectorFormat::kWord2vecBin, VectorFormat::kWord2vecText,
                              VectorFormat::kGlove,       VectorFormat::kNpy,
                              VectorFormat::kCsv,         VectorFormat::kSafetensors};

// All that is exported, as text with every digit.
std::string exported(const Model& model, Side side = Side::kInput) {
  const TestFolder folder;
  const std::string path = folder.path() + "/out.csv";
  export_vectors(model, path, VectorFormat::kCsv, two_threads(), side);
  return bytes_of(path);
}

TEST(Vectors, EveryFormatGivesBackWhatWasExported) {
  const TestFolder folder;
  for (const Model* model : {&words(), &places(), &ratings()}) {
    const std::string truth = exported(*model);
    for (const VectorFormat format : kFormats) {
      const std::string file = folder.path() + "/out", back = folder.path() + "/back.kith";
      const ExportReport written = export_vectors(*model, file, format, two_threads());
      const ImportReport report = import_vectors(file, back, two_threads());
      EXPECT_EQ(written.rows, report.rows);
      EXPECT_EQ(written.dim, report.dim);
      EXPECT_EQ(written.bytes, fs::file_size(file));
      EXPECT_EQ(report.bytes, fs::file_size(back));
      EXPECT_EQ(report.format, detail::show(format));
      EXPECT_EQ(report.duplicates, 0u);
      EXPECT_EQ(report.invalid_utf8, 0u);
      const Model imported = open(back);
      EXPECT_EQ(exported(imported), truth) << model->kind() << " " << report.format;
      EXPECT_EQ(imported.metadata().at("imported.format"), report.format);
    }
  }
}

TEST(Vectors, NamesOfTablesAndRatingsCarryTheirColumn) {
  const TestFolder folder;
  const std::string file = folder.path() + "/out.txt", back = folder.path() + "/back.kith";
  export_vectors(places(), file, VectorFormat::kGlove, two_threads());
  import_vectors(file, back, two_threads());
  EXPECT_NEAR(similarity(open(back), "city=Rome", "country=Italy"),
              similarity(open(back), "country=Italy", "city=Rome"), 0);
  EXPECT_NEAR(similarity(open(back), "city=Rome", "city=Milan"),
              similarity(places(), "city=Rome", "city=Milan"), 1e-6);
  export_vectors(ratings(), file, VectorFormat::kGlove, two_threads());
  const ImportReport report = import_vectors(file, back, two_threads());
  EXPECT_EQ(report.rows, PlantedRatings{}.users + PlantedRatings{}.items);
  EXPECT_EQ(report.dim, 2u);
  EXPECT_NEAR(similarity(open(back), "user=u1", "user=u2"),
              similarity(ratings(), "user=u1", "user=u2"), 1e-6);
}

// Both columns hold towns; their vectors are written once.
TEST(Vectors, ColumnsThatShareTheirValuesAreWrittenOnce) {
  const std::string schema = shared_folder().write("towns.json",
                                                   R"({"columns": [
            {"name": "city", "type": "category", "vocabulary": "town"},
            {"name": "twin", "type": "category", "vocabulary": "town"}]})");
  const Model& model = shared_model(
      "towns",
      request("feat2vec", places_file(), "", quick_places() + Settings{text("schema", schema)}));
  const std::string all = exported(model);
  expect_part("city=Rome", all);
  expect_no_part("twin=Rome", all);
  expect_part("twin=Rome", exported(places()));
}

TEST(Vectors, WordsHaveTwoSides) {
  EXPECT_NE(exported(words(), Side::kInput), exported(words(), Side::kOutput));
  EXPECT_NE(exported(words(), Side::kInput), exported(words(), Side::kSum));
  const TestFolder folder;
  const std::string file = folder.path() + "/out.csv", back = folder.path() + "/back.kith";
  export_vectors(words(), file, VectorFormat::kCsv, two_threads(), Side::kSum);
  import_vectors(file, back, two_threads());
  EXPECT_NEAR(similarity(open(back), "ship", "oven"),
              similarity(words(), "ship", "oven", Side::kSum), 1e-6);
  usage_error([] { exported(royals(), Side::kOutput); });
}

TEST(Vectors, ANameThatTheFormatCannotHoldWritesNothing) {
  const TestFolder folder;
  const std::string file = folder.path() + "/out";
  for (const VectorFormat format : {VectorFormat::kWord2vecBin, VectorFormat::kWord2vecText}) {
    expect_part("the name \"New York\" has white space",
                input_error([&] { export_vectors(royals(), file, format, two_threads()); }));
    EXPECT_FALSE(fs::exists(file));
  }
  export_vectors(royals(), file, VectorFormat::kGlove, two_threads());
  EXPECT_EQ(import_vectors(file, folder.path() + "/back.kith", two_threads()).rows, 10u);
}

TEST(Vectors, OutputsThatWouldLoseSomethingAreRefused) {
  const TestFolder folder;
  const std::string path = folder.path() + "/model.kith";
  royals().save(path);
  const Model model = open(path);
  EXPECT_EQ(usage_error([&] { export_vectors(model, path, VectorFormat::kCsv, two_threads()); }),
            path + " is both read and written; choose another --output");
  usage_error([&] {
    export_vectors(model, folder.path() + "/./model.kith", VectorFormat::kCsv, two_threads());
  });
  EXPECT_EQ(bytes_of(path), bytes_of(royals().path()));
  EXPECT_EQ(usage_error([&] { export_vectors(model, "-", VectorFormat::kNpy, two_threads()); }),
            "npy takes two files, the matrix and its names; name one with -o");
  expect_part("make it first: mkdir -p", io_error([&] {
                export_vectors(model, folder.path() + "/none/out.csv", VectorFormat::kCsv,
                               two_threads());
              }));
  usage_error([&] { export_vectors(model, "", VectorFormat::kCsv, two_threads()); });

  const std::string file = folder.write("royals.txt", kRoyals);
  usage_error([&] { import_vectors(file, file, two_threads()); });
  EXPECT_EQ(bytes_of(file), kRoyals);
  io_error([&] {
    import_vectors(folder.path() + "/none.txt", folder.path() + "/a.kith", two_threads());
  });
}

TEST(Vectors, ImportTellsWhatItFoundAndRepaired) {
  const TestFolder folder;
  const std::string back = folder.path() + "/back.kith";
  const ImportReport report = import_vectors(
      folder.write("a.txt", "a 1 2 3\nb 4 5 6\na 7 8 9\nc\xff 1 1 1\n"), back, two_threads());
  EXPECT_EQ(report.format, "glove");
  EXPECT_EQ(report.rows, 3u);
  EXPECT_EQ(report.dim, 3u);
  EXPECT_EQ(report.duplicates, 1u);
  EXPECT_EQ(report.invalid_utf8, 1u);
  input_error(
      [&] { import_vectors(folder.write("b.txt", "a 1 2 3\nb 4 5\n"), back, two_threads()); });
  EXPECT_EQ(open(back).facts().front().value, "3");  // what stood there stays
}

TEST(Vectors, AnImportOfWordsOfFastTextTellsWhatItsLossMeans) {
  using Loss = FastTextHeader::Loss;
  const TestFolder folder;
  const std::string bin = folder.path() + "/m.bin", out = folder.path() + "/m.kith";
  for (const auto& [loss, part] :
       {std::pair<Loss, std::string_view>{Loss::kNs, ""},
        {Loss::kHs, "m.bin: learned with hierarchical softmax (-loss hs), so its output rows are"},
        {Loss::kSoftmax, "m.bin: learned with -loss softmax; kith train --from goes on by"},
        {Loss::kOva, "m.bin: learned with -loss ova; kith train --from goes on by"}}) {
    write_fasttext_bin(bin, testing::sample(testing::Kind::kSkipGram, loss));
    Events heard;
    import_vectors(bin, out, two_threads(), &heard);
    EXPECT_EQ(heard.notes.size(), part.empty() ? 0u : 1u);
    EXPECT_TRUE(part.empty() || heard.noted(part)) << part;
    if (loss == Loss::kHs) usage_error([&] { exported(open(out), Side::kOutput); });
  }
}

TEST(Vectors, StopWhenTheyAreCancelledAndNothingIsWritten) {
  const TestFolder folder;
  const std::string out = folder.path() + "/out.csv", back = folder.path() + "/back.kith";
  Context context(1);
  context.cancel();
  for (const Model* model : {&royals(), &places()}) {
    message_of(ErrorKind::kCancelled,
               [&] { export_vectors(*model, out, VectorFormat::kCsv, context); });
  }
  message_of(ErrorKind::kCancelled, [&] { import_vectors(royals_file(), back, context); });
  EXPECT_FALSE(fs::exists(out));
  EXPECT_FALSE(fs::exists(back));
}

}  // namespace
}  // namespace kith::test
