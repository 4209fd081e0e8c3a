// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: files in a folder of their own that goes with the test.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/test_errors.h"
#include "data/text/corpus.h"

namespace kith {

class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kith-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
    return path;
  }

 private:
  std::string path_;
};

using Lines = std::vector<std::vector<std::string>>;

// What the C++ library takes for words; lines without any are left out.
inline Lines plain_lines(const std::string& text) {
  Lines out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::vector<std::string> found;
    for (std::string word; words >> word;) found.push_back(word);
    if (!found.empty()) out.push_back(found);
  }
  return out;
}

inline std::map<std::string, uint64_t> plain_counts(const Lines& lines) {
  std::map<std::string, uint64_t> out;
  for (const auto& line : lines) {
    for (const auto& word : line) ++out[word];
  }
  return out;
}

inline std::vector<WordId> stream_of(const Corpus& corpus) {
  std::vector<WordId> out(corpus.length());
  corpus.read(0, out);
  return out;
}

inline Lines sentences_of(std::span<const WordId> ids, const Vocabulary& vocabulary) {
  Lines out;
  std::vector<std::string> line;
  for (const WordId id : ids) {
    if (id != kSentenceEnd) {
      line.emplace_back(vocabulary.words[row_of(id)]);
      continue;
    }
    EXPECT_FALSE(line.empty()) << "a sentence end at the front, or two in a row";
    out.push_back(std::exchange(line, {}));
  }
  EXPECT_TRUE(line.empty()) << "no sentence end at the very end";
  return out;
}

}  // namespace kith
