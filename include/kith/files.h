// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files as front ends need them: written whole or not at all, and lists of lines.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// A file whose name always shows a whole one: what stood there stays until commit(), and stays for
// good without it. A file that is replaced keeps its permissions. "-" is standard output, which is
// written to as it comes. Error(kIo).
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  void write(std::string_view text);
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Better before the work than after it: Error unless a file can be written there, and Error(kUsage)
// if it is one of those that are read.
void check_output(const std::string& output, const std::vector<std::string>& inputs);

// The lines of a file (plain, gzip or zstd; "-" is standard input), without their ends and without
// empty ones.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace KITH_VISIBLE
