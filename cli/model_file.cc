// SPDX-License-Identifier: Apache-2.0
#include "model_file.h"

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/error.h"
#include "io/file.h"
#include "terminal.h"

namespace kith::cli {
namespace {

namespace fs = std::filesystem;

// Whether a file that is not ours could be someone's vectors: it begins like no safetensors file,
// or like one that never had our checksum.
bool looks_foreign(const std::string& path) {
  if (path.ends_with(".kith") || path.ends_with(".checkpoint")) return false;
  try {
    const auto source = open_source(path);
    const auto bytes = source->next();
    if (bytes.size() < 9 || bytes[8] != '{') return !bytes.empty();
    return !Archive::open(path, false).metadata().contains("checksum");
  } catch (const Error&) {
    return false;
  }
}

Archive open_archive(const std::string& path) {
  try {
    return Archive::open(path);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput || !looks_foreign(path)) throw;
    const std::string stem = fs::path(path).stem().string();
    throw Error(ErrorKind::kInput,
                "{}: not a Kith model; if it holds vectors of another tool, run: kith import {} "
                "-o {}",
                path, shell_quoted(path), shell_quoted(stem + ".kith"));
  }
}

}  // namespace

OpenModel open_model(const std::string& path) {
  const Archive archive = open_archive(path);
  std::unique_ptr<Model> model = load_model(archive);
  return {archive.metadata_at("model"), archive.metadata(), std::move(model)};
}

AskedModel::AskedModel(OpenModel opened, Side side)
    : model(std::move(opened.model)), space(model->names(), model->vectors(side)) {}

void check_writable(const std::string& path) {
  if (path.empty()) throw Error(ErrorKind::kUsage, "the name of the output is empty");
  const fs::path folder = fs::path(path).parent_path();
  std::error_code none;
  if (!folder.empty() && !fs::is_directory(folder, none)) {
    throw Error(ErrorKind::kIo, "{}: there is no folder {}; make it first: mkdir -p {}", path,
                folder.string(), shell_quoted(folder.string()));
  }
  // A pipe is used up by opening it, so only places for plain files are tried.
  if (fs::exists(path, none) && !fs::is_regular_file(path, none) && !fs::is_directory(path, none)) {
    return;
  }
  const AtomicFile probe(path);  // never committed, so nothing remains
}

void check_distinct(const std::string& input, const std::string& output) {
  std::error_code none;
  if (input != "-" && output != "-" && fs::equivalent(input, output, none) &&
      fs::is_regular_file(output, none)) {
    throw Error(ErrorKind::kUsage, "{} is both read and written; choose another --output", output);
  }
}

int thread_count(int threads) {
  if (threads > 0) return threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace kith::cli
