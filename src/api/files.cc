// SPDX-License-Identifier: Apache-2.0
#include "kith/files.h"

#include <filesystem>
#include <span>

#include "core/error.h"
#include "io/text_source.h"
#include "kith/text.h"

namespace kith {

namespace fs = std::filesystem;

namespace {

void check_writable(const std::string& path) {
  if (path.empty()) throw fault(ErrorKind::kUsage, "the name of the output is empty");
  const fs::path folder = fs::path(path).parent_path();
  std::error_code none;
  if (!folder.empty() && !fs::is_directory(folder, none)) {
    throw fault(ErrorKind::kIo, "{}: there is no folder {}; make it first: mkdir -p {}", path,
                folder.string(), shell_quoted(folder.string()));
  }
  // A pipe is used up by opening it, so only places for plain files are tried.
  if (fs::exists(path, none) && !fs::is_regular_file(path, none) && !fs::is_directory(path, none)) {
    return;
  }
  const AtomicFile probe(path);  // never committed, so nothing remains
}

// Error(kUsage) if writing `output` would replace the file that is read.
void check_distinct(const std::string& input, const std::string& output) {
  std::error_code none;
  if (input != "-" && output != "-" && fs::equivalent(input, output, none) &&
      fs::is_regular_file(output, none)) {
    throw fault(ErrorKind::kUsage, "{} is both read and written; choose another --output", output);
  }
}

}  // namespace

struct OutputFile::Impl {
  explicit Impl(const std::string& path) : file(path) {}
  AtomicFile file;
};

OutputFile::OutputFile(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
OutputFile::~OutputFile() = default;
void OutputFile::write(std::string_view text) { impl_->file.write(text); }
void OutputFile::commit() { impl_->file.commit(); }

void check_output(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) check_distinct(input, output);
  check_writable(output);
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> out;
  std::string line;
  const auto add = [&] {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) out.push_back(line);
    line.clear();
  };
  const auto source = open_text(path);
  for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
    for (const char c : piece) {
      if (c == '\n') {
        add();
      } else {
        line += c;
      }
    }
  }
  add();
  return out;
}

}  // namespace kith
