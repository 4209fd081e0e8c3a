// SPDX-License-Identifier: Apache-2.0
#include "data/table/schema_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "data/table/test_tables.h"

namespace kith {
namespace {

namespace fs = std::filesystem;

class SchemaFile : public ::testing::Test {
 protected:
  static Schema of_type(ColumnType type) { return {{{.name = "x", .type = type}}}; }
  std::optional<Note> write(ColumnType type) { return write_schema(path_, false, of_type(type)); }
  // As a person does.
  void edit() {
    Schema schema = read_schema(path_);
    std::string text = text_of(path_);
    const std::string type(detail::show(schema.columns[0].type));
    text.replace(text.find(type), type.size(), "ignore");
    folder_.write("m.schema.json", text);
  }
  static std::string text_of(const std::string& path) {
    std::string out;
    const auto source = open_source(path);
    for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
      out.append(piece.data(), piece.size());
    }
    return out;
  }

  TestFolder folder_;
  std::string path_ = folder_.path() + "/m.schema.json";
};

TEST_F(SchemaFile, WhatNobodyHasEditedIsReplaced) {
  expect_part("were written to " + path_, write(ColumnType::kNumber)->text);
  EXPECT_FALSE(write(ColumnType::kNumber)) << "the same";
  const auto note = write(ColumnType::kText);
  ASSERT_TRUE(note);
  EXPECT_EQ(note->text.find("before"), std::string::npos) << note->text;
  EXPECT_EQ(read_schema(path_).columns[0].type, ColumnType::kText);
  EXPECT_FALSE(fs::exists(path_ + ".1"));
}

TEST_F(SchemaFile, WhatSomebodyHasEditedIsPutAside) {
  write(ColumnType::kNumber);
  edit();
  const std::string edited = text_of(path_);
  expect_part("to use it, give --schema " + path_ + ".1", write(ColumnType::kText)->text);
  EXPECT_EQ(text_of(path_ + ".1"), edited);
  EXPECT_EQ(read_schema(path_ + ".1").columns[0].type, ColumnType::kIgnore);
  folder_.write("m.schema.json", "no schema");
  expect_part(path_ + ".2", write(ColumnType::kText)->text);
}

TEST_F(SchemaFile, OneThatIsGivenIsLeftAlone) {
  folder_.write("m.schema.json", to_json(of_type(ColumnType::kNumber)));
  const std::string before = text_of(path_);
  EXPECT_FALSE(write_schema(path_, true, of_type(ColumnType::kText)));
  EXPECT_EQ(text_of(path_), before);
}

TEST_F(SchemaFile, WhatAnotherModelLeftGoes) {
  EXPECT_FALSE(retire_schema(path_)) << "there is none";
  write(ColumnType::kNumber);
  EXPECT_FALSE(retire_schema(path_));
  EXPECT_FALSE(fs::exists(path_));
  write(ColumnType::kNumber);
  edit();
  expect_part("it is " + path_ + ".1 now", retire_schema(path_)->text);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_TRUE(fs::exists(path_ + ".1"));
}

}  // namespace
}  // namespace kith
