// SPDX-License-Identifier: Apache-2.0
#include "kith/files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "api/test_models.h"
#include "io/test_files.h"

namespace kith::test {
namespace {

namespace fs = std::filesystem;

TEST(OutputFile, ReplacesAFileWholeOrNotAtAll) {
  const TestFolder folder;
  const std::string path = folder.write("a.txt", "before");
  {
    OutputFile file(path);
    file.write("half");
  }
  EXPECT_EQ(bytes_of(path), "before");
  OutputFile file(path);
  file.write("all ");
  file.write("of it");
  EXPECT_EQ(bytes_of(path), "before");
  file.commit();
  EXPECT_EQ(bytes_of(path), "all of it");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  io_error([&] { OutputFile(folder.path() + "/none/a.txt"); });
  io_error([&] { OutputFile(folder.path()); });
}

TEST(OutputFile, KeepsThePermissionsOfTheFileThere) {
  const TestFolder folder;
  const std::string path = folder.write("a.txt", "before");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  OutputFile file(path);
  file.commit();
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(CheckOutput, SaysBeforeTheWorkWhatWouldFailAfterIt) {
  const TestFolder folder;
  const std::string a = folder.write("a.txt", "a"), b = folder.path() + "/b.txt";
  check_output(b, {a});
  check_output(a, {});
  check_output("-", {a, "-"});
  EXPECT_FALSE(fs::exists(b));
  EXPECT_EQ(usage_error([&] {
              check_output(a, {b, a});
            }),
            a + " is both read and written; choose another --output");
  fs::create_symlink(a, folder.path() + "/link");
  usage_error([&] { check_output(folder.path() + "/link", {a}); });
  EXPECT_EQ(usage_error([&] { check_output("", {}); }), "the name of the output is empty");
  expect_part("make it first: mkdir -p",
              io_error([&] { check_output(folder.path() + "/none/a.txt", {}); }));
  io_error([&] { check_output(folder.path(), {}); });
}

TEST(ReadLines, WithoutTheirEndsAndWithoutEmptyOnes) {
  const TestFolder folder;
  const Strings expected{"one", "two words", "three"};
  EXPECT_EQ(read_lines(folder.write("a", "one\r\n\ntwo words\n\r\nthree")), expected);
  EXPECT_EQ(read_lines(folder.write("b", testing::gzip("one\ntwo words\nthree\n"))), expected);
  EXPECT_TRUE(read_lines(folder.write("c", "\n\n")).empty());
  io_error([&] { read_lines(folder.path() + "/none"); });
}

}  // namespace
}  // namespace kith::test
