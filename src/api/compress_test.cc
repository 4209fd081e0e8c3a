// SPDX-License-Identifier: Apache-2.0
#include "kith/compress.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "api/test_models.h"
#include "kith/near.h"
#include "kith/predict.h"
#include "kith/vectors.h"

namespace kith::test {
namespace {

const CompressOptions kUsual;

// 3,000 names with random vectors of length 6.
std::string many_vectors(const TestFolder& folder) {
  std::string text;
  Rng rng(1, 0);
  for (int i = 0; i < 3000; ++i) {
    text += fmt::format("w{}", i);
    for (int k = 0; k < 6; ++k) text += fmt::format(" {}", rng.uniform() - 0.4f);
    text += "\n";
  }
  const std::string path = folder.path() + "/many.kith";
  import_vectors(folder.write("many.txt", text), path, Context(1));
  return path;
}

double similarity_of(const Model& model) { return similarity(model, "w1", "w2"); }

TEST(Compress, ASmallFileThatAnswersNearlyTheSame) {
  const TestFolder folder;
  const std::string path = many_vectors(folder), small = folder.path() + "/small.kith";
  double before = 0;
  for (const int width : {1, 2, 3}) {
    for (const bool norms : {false, true}) {
      const Compressed told =
          compress(path, small, {.width = width, .norms = norms}, Context(1 + norms));
      ASSERT_EQ(told.tables.size(), 1u);
      const Compressed::Table& table = told.tables[0];
      EXPECT_TRUE(table.coded && table.name == "input" && table.rows == 3000 && table.dim == 6);
      EXPECT_LT(table.error, 0.04) << width << norms;
      EXPECT_GT(table.error, norms ? 0 : before) << width;
      if (!norms) before = table.error;
      EXPECT_EQ(told.bytes, std::filesystem::file_size(small));
      EXPECT_LT(told.bytes, told.bytes_before);
      EXPECT_NEAR(similarity_of(open(small)), similarity_of(open(path)), 0.2);
    }
  }
}

// Read and written again it is a plain file, of the vectors that it has now.
TEST(Compress, WhatIsSavedAgainIsPlain) {
  const TestFolder folder;
  const std::string small = folder.path() + "/small.kith", plain = folder.path() + "/plain.kith";
  compress(many_vectors(folder), small, kUsual, Context(1));
  const Model model = open(small);
  EXPECT_TRUE(model.metadata().contains("compressed"));
  model.save(plain);
  EXPECT_FALSE(open(plain).metadata().contains("compressed"));
  EXPECT_EQ(similarity_of(open(plain)), similarity_of(model));
  EXPECT_GT(std::filesystem::file_size(plain), std::filesystem::file_size(small));
}

// Tables of a few rows would grow, and stay.
TEST(Compress, FewVectorsStayAsTheyAre) {
  const TestFolder folder;
  const std::string small = folder.path() + "/small.kith";
  const Compressed told = compress(topics().path(), small, kUsual, Context(1));
  ASSERT_EQ(told.tables.size(), 2u);
  EXPECT_FALSE(told.tables[1].coded);
  EXPECT_EQ(told.tables[1].error, 0);
  const auto before = predict(topics(), {"the"}, {}), after = predict(open(small), {"the"}, {});
  ASSERT_EQ(before.candidates.size(), after.candidates.size());
  EXPECT_NEAR(before.candidates[0].score, after.candidates[0].score, 0.1);
}

TEST(Compress, WhatCannotBe) {
  const TestFolder folder;
  const std::string small = folder.path() + "/small.kith";
  const auto refused = [&](const std::string& model) {
    return message_of(ErrorKind::kUsage, [&] { compress(model, small, kUsual, Context(1)); });
  };
  expect_part("compress is for models of words", refused(sure().path()));
  compress(topics().path(), small, kUsual, Context(1));
  const std::string twice = folder.path() + "/twice.kith";
  expect_part("compressed already",
              message_of(ErrorKind::kUsage, [&] { compress(small, twice, kUsual, Context(1)); }));
  EXPECT_FALSE(std::filesystem::exists(twice));
}

}  // namespace
}  // namespace kith::test
