// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "core/error.h"
#include "kith/version.h"
#include "models/capabilities.h"
#include "models/model.h"
#include "models/test_model.h"
#include "models/word2vec/model.h"
#include "train/test_corpus.h"

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

const HasVectors& vectors_in(const ModelBase& model) {
  return require<HasVectors>(model, {"near", "a.kith", "vectors"});
}

// The part of that name, as the model has it.
class Counts final : public TensorVisitor {
 public:
  void matrix(const std::string&, Matrix&, size_t, size_t, Use) override {}
  using TensorVisitor::values;
  void values(const std::string& name, std::vector<uint64_t>& v, size_t, Use) override {
    if (name == "counts") found = v;
  }
  std::vector<uint64_t> found;
};
std::vector<uint64_t> counts_in(ModelBase& model) {
  Counts counts;
  model.visit(counts);
  return counts.found;
}

void expect_three_words(ModelBase& model) {
  const NamedVectors truth = three_words();
  const auto groups = vectors_in(model).vectors(Side::kInput);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].column, "");
  const Names& names = *groups[0].names;
  ASSERT_EQ(names.size(), 3u);
  const Matrix m = read_all(*groups[0].vectors);
  ASSERT_EQ(m.rows(), 3u);
  ASSERT_EQ(m.cols(), 5u);
  for (size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(names[r], truth.names[r]);
    EXPECT_TRUE(std::ranges::equal(m.row(r), truth.matrix.row(r)));
  }
  EXPECT_EQ(counts_in(model), truth.counts);
}

std::unique_ptr<ModelBase> opened(const std::string& path) {
  return load_model(Archive::open(path));
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
                .find("there are word2vec, fasttext, doc2vec, feat2vec, "),
            std::string::npos);
}

TEST_F(RegistryTest, SavedVectorsComeBackAndTheMetadataWithThem) {
  save_model(*model_of(three_words()), "vectors", path("a.kith"), false, {{"source", "x.txt"}});
  expect_three_words(*opened(path("a.kith")));
  const Archive archive = Archive::open(path("a.kith"));
  EXPECT_EQ(archive.metadata_at("source"), "x.txt");
  EXPECT_EQ(archive.metadata_at("model"), "vectors");
  EXPECT_EQ(archive.metadata_at("version"), kVersion);
}

TEST_F(RegistryTest, SaveLoadSaveGivesTheSameBytes) {
  save_model(*model_of(three_words()), "vectors", path("a.kith"), false, {});
  save_model(*opened(path("a.kith")), "vectors", path("b.kith"), false, {});
  const MappedFile a(path("a.kith")), b(path("b.kith"));
  EXPECT_TRUE(std::ranges::equal(a.bytes(), b.bytes()));
}

TEST_F(RegistryTest, CountsMayBeUnknown) {
  NamedVectors table = three_words();
  table.counts.clear();
  save_model(*model_of(std::move(table)), "vectors", path("a.kith"), false, {});
  EXPECT_TRUE(counts_in(*opened(path("a.kith"))).empty());
}

TEST_F(RegistryTest, ACheckpointIsNotAModelAndAModelIsNotACheckpoint) {
  const auto model = model_of(three_words());
  save_model(*model, "vectors", path("a.checkpoint"), true, {});
  save_model(*model, "vectors", path("a.kith"), false, {});
  EXPECT_NE(message_of(ErrorKind::kInput, [&] { opened(path("a.checkpoint")); }).find("--resume"),
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
  EXPECT_NE(message_of(ErrorKind::kInput, [&] { opened(path("b.kith")); }).find("crystal-ball"),
            std::string::npos);

  // The right kind, but without its tensors.
  ArchiveWriter empty;
  empty.metadata = {{"format", "2"}, {"model", "vectors"}, {"checkpoint", "true"}};
  empty.save(path("c.checkpoint"));
  EXPECT_THROW(restore_checkpoint(*model, "vectors", Archive::open(path("c.checkpoint"))), Error);
  expect_three_words(*model);
}

TEST_F(RegistryTest, AFileThatIsNoModelIsRefused) {
  ArchiveWriter other;
  other.metadata = {{"made-by", "someone"}};
  other.save(path("a.safetensors"));
  EXPECT_NE(
      message_of(ErrorKind::kInput, [&] { opened(path("a.safetensors")); }).find("kith import"),
      std::string::npos);
  other.metadata = {{"format", "7"}, {"model", "vectors"}};
  other.save(path("b.kith"));
  EXPECT_NE(message_of(ErrorKind::kInput, [&] { opened(path("b.kith")); }).find("format 7"),
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
  EXPECT_NE(message_of(ErrorKind::kInput, [&] { opened(path("a.kith")); })
                .find("input has 2 x 5 numbers and not 3 x any"),
            std::string::npos);
}

TEST_F(RegistryTest, ImportedVectorsHaveOneSideAndAreNotTrained) {
  const auto model = model_of(three_words());
  EXPECT_THROW(vectors_in(*model).vectors(Side::kOutput), Error);
  EXPECT_THROW(vectors_in(*model).vectors(Side::kSum), Error);
  EXPECT_EQ(model->data(), nullptr);
  Corpus corpus = corpus_of("a b a b\n");
  Job job;
  message_of(ErrorKind::kUsage, [&] { model->fit(corpus, job, false); });
  message_of(ErrorKind::kUsage, [&] { model->memory_needed(corpus, job); });
  EXPECT_EQ(message_of(ErrorKind::kUsage,
                       [&] {
                         require<Continues>(*model, {"continuing", "a.kith", "vectors"});
                       }),
            "continuing is for models that can be trained further; a.kith holds vectors, which "
            "does not");
  EXPECT_TRUE(model->finished());
}

// A flag, a key in a file or a keyword says the same whatever the model and the data are.
TEST_F(RegistryTest, ASettingHasOneTypeEverywhere) {
  struct Place {
    FieldType type;
    std::string where;
  };
  std::map<std::string_view, Place> places;
  const auto look = [&](const Section& section, std::string_view where) {
    for (const FieldInfo& f : section.fields) {
      const auto [at, fresh] = places.try_emplace(f.name, f.type, std::string(where));
      EXPECT_EQ(at->second.type, f.type)
          << f.name << " of " << where << " and of " << at->second.where;
    }
  };
  for (const ModelInfo& info : models()) look(info.make()->settings(), info.name);
  for (const DataKind* kind : data_kinds()) {
    const auto reader = kind->reader();
    for (const Section& section : reader->settings()) look(section, kind->name);
    for (const Section& section : reader->reading()) look(section, kind->name);
  }
  EXPECT_TRUE(places.contains("dim") && places.contains("holdout"));
}

// Settings of version 0.1 as a user would type them now.
std::string now(std::string_view model, std::vector<Setting> old, std::string_view setting) {
  const auto made = kith::model(model).make();
  const Section section = made->settings();
  apply_settings(modernised(std::move(old), {&section, 1}), {&section, 1});
  return section.get(setting);
}

TEST_F(RegistryTest, SettingsOfTheFirstVersionAreTakenOver) {
  size_t renamed = 0, automatic = 0;
  for (const ModelInfo& info : models()) {
    const auto made = info.make();
    const Section section = made->settings();
    for (const FieldInfo& f : section.fields) {
      if (f.former_name.empty()) {
        EXPECT_FALSE(f.former_auto) << info.name << " " << f.name << ": it is only looked at there";
        continue;
      }
      const std::string old(f.former_name), name(f.name);
      const auto mapped = modernised({{old, std::string("x")}}, {&section, 1});
      EXPECT_EQ(mapped[0].name, name) << info.name;
      EXPECT_EQ(mapped[0].value, Value(std::string("x"))) << info.name;
      renamed += old != name;
      if (!f.former_auto) continue;
      ++automatic;
      EXPECT_TRUE(f.can_be_auto) << info.name << " " << f.name;
      EXPECT_EQ(now(info.name, {{old, *f.former_auto}}, name), "auto") << info.name;
      EXPECT_EQ(now(info.name, {{old, static_cast<int64_t>(*f.former_auto)}}, name), "auto");
      EXPECT_EQ(now(info.name, {{old, int64_t{1}}}, name), "1") << info.name << " " << f.name;
    }
  }
  EXPECT_GE(renamed, 2u);
  EXPECT_GE(automatic, 10u);
  const std::vector<Setting> words{{"lr", int64_t{0}}, {"adapt", 0.01}};
  EXPECT_EQ(now("word2vec", words, "lr"), "auto");
  EXPECT_EQ(now("word2vec", words, "adapt-rate"), "0.01");
  EXPECT_EQ(now("word2vec", {{"lr", 0.05}}, "lr"), "0.05");
  EXPECT_EQ(now("als", {{"penalty", int64_t{-1}}}, "penalty"), "auto");
  EXPECT_EQ(now("als", {{"penalty", int64_t{0}}}, "penalty"), "0") << "none is not auto";
  EXPECT_EQ(now("als", {{"unobserved", 0.5}}, "unobserved"), "0.5");
  EXPECT_EQ(now("nmf", {{"unobserved", std::string("zero")}}, "unrated"), "zero");
  EXPECT_EQ(now("nmf", {{"unobserved", std::string("auto")}}, "unrated"), "auto");
}

// In a file as well, and only in one of the format that the first version wrote.
TEST_F(RegistryTest, AFileOfTheFirstVersionIsReadWithItsSettings) {
  word2vec::Word2Vec model;
  model.config() = {.dim = 3, .epochs = 1};
  Job job;
  model.train(corpus_of("a b a b c a\n"), job);
  ArchiveWriter out = test::file_of(model, "word2vec");
  out.metadata["settings"] = "dim = 3\nlr = 0\nadapt = 0.25\n";
  message_of(ErrorKind::kInput, [&] { test::loaded(out); });  // adapt is no setting now
  out.metadata["format"] = "1";
  const auto old = test::loaded(out);
  const Section section = old->settings();
  EXPECT_EQ(section.get("lr"), "auto");
  EXPECT_EQ(section.get("adapt-rate"), "0.25");
}

// It would start its parameters anew in the middle of the run.
TEST_F(RegistryTest, ACheckpointOfTheFirstVersionIsRefused) {
  word2vec::Word2Vec model, fresh;
  Job job;
  job.cancel();
  model.train(corpus_of("a b a b c a\n"), job);
  ASSERT_FALSE(model.finished());
  for (const char* format : {"2", "1"}) {
    ArchiveWriter out = test::file_of(model, "word2vec", true);
    out.metadata["format"] = format;
    out.save(path(format));
  }
  restore_checkpoint(fresh, "word2vec", Archive::open(path("2")));
  EXPECT_NE(message_of(ErrorKind::kInput,
                       [&] { restore_checkpoint(fresh, "word2vec", Archive::open(path("1"))); })
                .find("start over without --resume"),
            std::string::npos);
}

}  // namespace
}  // namespace kith
