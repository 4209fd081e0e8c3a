// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "models/model.h"

namespace kith {
namespace {

// A folder of its own for each test, gone afterwards.
class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("kith-{}-{}", test->name(), ::getpid());
    std::filesystem::create_directories(folder_);
  }
  ~RegistryTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

NamedVectors three_words() {
  NamedVectors out;
  out.matrix = Matrix(3, 5);  // a length that is not a multiple of the padding
  for (size_t r = 0; r < 3; ++r) {
    out.names.add(std::string(r + 1, static_cast<char>('a' + r)));
    for (size_t c = 0; c < 5; ++c) out.matrix.row(r)[c] = static_cast<float>(10 * r + c) - 7.25f;
  }
  out.counts = {30, 20, 1};
  return out;
}

void expect_three_words(const Model& model) {
  const NamedVectors truth = three_words();
  ASSERT_EQ(model.names().size(), 3u);
  const Matrix m = model.vectors(Side::kInput);
  ASSERT_EQ(m.rows(), 3u);
  ASSERT_EQ(m.cols(), 5u);
  for (size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(model.names()[r], truth.names[r]);
    EXPECT_TRUE(std::ranges::equal(m.row(r), truth.matrix.row(r)));
  }
  EXPECT_TRUE(std::ranges::equal(model.counts(), truth.counts));
}

template <class Call>
std::string message_of(ErrorKind kind, const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST_F(RegistryTest, EveryModelIsFoundByItsName) {
  ASSERT_FALSE(models().empty());
  for (const ModelInfo& info : models()) {
    EXPECT_EQ(&model(info.name), &info);
    EXPECT_FALSE(info.summary.empty());
    EXPECT_NE(info.make(), nullptr);
  }
}

TEST_F(RegistryTest, AnUnknownModelIsAnErrorWithASuggestion) {
  EXPECT_NE(message_of(ErrorKind::kUsage, [] { model("word2vek"); }).find("mean word2vec?"),
            std::string::npos);
  EXPECT_NE(message_of(ErrorKind::kUsage, [] { model("zzzzzzzzzz"); })
                .find("there are word2vec, feat2vec, "),
            std::string::npos);
}

TEST_F(RegistryTest, SavedVectorsComeBackAndTheMetadataWithThem) {
  save_model(*model_of(three_words()), "vectors", path("a.kith"), false, {{"source", "x.txt"}});
  expect_three_words(*load_model(path("a.kith")));
  const Archive archive = Archive::open(path("a.kith"));
  EXPECT_EQ(archive.metadata_at("source"), "x.txt");
  EXPECT_EQ(archive.metadata_at("model"), "vectors");
  EXPECT_EQ(archive.metadata_at("version"), kVersion);
}

TEST_F(RegistryTest, SaveLoadSaveGivesTheSameBytes) {
  save_model(*model_of(three_words()), "vectors", path("a.kith"), false, {});
  save_model(*load_model(path("a.kith")), "vectors", path("b.kith"), false, {});
  const MappedFile a(path("a.kith")), b(path("b.kith"));
  EXPECT_TRUE(std::ranges::equal(a.bytes(), b.bytes()));
}

TEST_F(RegistryTest, CountsMayBeUnknown) {
  NamedVectors table = three_words();
  table.counts.clear();
  save_model(*model_of(std::move(table)), "vectors", path("a.kith"), false, {});
  EXPECT_TRUE(load_model(path("a.kith"))->counts().empty());
}

TEST_F(RegistryTest, ACheckpointIsNotAModelAndAModelIsNotACheckpoint) {
  const auto model = model_of(three_words());
  save_model(*model, "vectors", path("a.checkpoint"), true, {});
  save_model(*model, "vectors", path("a.kith"), false, {});
  EXPECT_NE(
      message_of(ErrorKind::kInput, [&] { load_model(path("a.checkpoint")); }).find("--resume"),
      std::string::npos);
  const auto other = kith::model("vectors").make();
  EXPECT_NE(
      message_of(ErrorKind::kInput,
                 [&] { restore_checkpoint(*other, "vectors", Archive::open(path("a.kith"))); })
          .find("finished"),
      std::string::npos);
  restore_checkpoint(*other, "vectors", Archive::open(path("a.checkpoint")));
  expect_three_words(*other);
}

TEST_F(RegistryTest, AnotherKindIsRefusedAndTheModelStaysAsItWas) {
  const auto model = model_of(three_words());
  save_model(*model, "word2vec", path("a.checkpoint"), true, {});
  EXPECT_NE(message_of(
                ErrorKind::kInput,
                [&] { restore_checkpoint(*model, "vectors", Archive::open(path("a.checkpoint"))); })
                .find("word2vec"),
            std::string::npos);
  save_model(*model, "crystal-ball", path("b.kith"), false, {});
  EXPECT_NE(message_of(ErrorKind::kInput, [&] { load_model(path("b.kith")); }).find("crystal-ball"),
            std::string::npos);

  // The right kind, but without its tensors.
  ArchiveWriter empty;
  empty.metadata = {{"format", "1"}, {"model", "vectors"}, {"checkpoint", "true"}};
  empty.save(path("c.checkpoint"));
  EXPECT_THROW(restore_checkpoint(*model, "vectors", Archive::open(path("c.checkpoint"))), Error);
  expect_three_words(*model);
}

TEST_F(RegistryTest, AFileThatIsNoModelIsRefused) {
  ArchiveWriter other;
  other.metadata = {{"made-by", "someone"}};
  other.save(path("a.safetensors"));
  EXPECT_NE(
      message_of(ErrorKind::kInput, [&] { load_model(path("a.safetensors")); }).find("kith import"),
      std::string::npos);
  other.metadata = {{"format", "7"}, {"model", "vectors"}};
  other.save(path("b.kith"));
  EXPECT_NE(message_of(ErrorKind::kInput, [&] { load_model(path("b.kith")); }).find("format 7"),
            std::string::npos);
}

TEST_F(RegistryTest, TablesOfDifferentLengthsAreRefused) {
  const NamedVectors table = three_words();
  ArchiveWriter out;
  out.metadata = {{"format", "1"}, {"model", "vectors"}};
  const Matrix two(2, 5);
  out.tensors["input"] = tensor_of(two);
  out.add_names("names", table.names);
  out.save(path("a.kith"));
  EXPECT_NE(message_of(ErrorKind::kInput, [&] { load_model(path("a.kith")); }).find("3 names"),
            std::string::npos);
}

TEST_F(RegistryTest, ImportedVectorsHaveOneSideAndAreNotTrained) {
  const auto model = model_of(three_words());
  EXPECT_THROW(model->vectors(Side::kOutput), Error);
  EXPECT_THROW(model->vectors(Side::kSum), Error);
  EXPECT_THROW(model->reopen(), Error);
  EXPECT_TRUE(model->finished());
}

}  // namespace
}  // namespace kith
