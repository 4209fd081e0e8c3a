// SPDX-License-Identifier: Apache-2.0
#pragma once
// For the tests of models: models in files, bits, errors.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/test_errors.h"
#include "models/model.h"

namespace kith::test {

struct ScratchFile {
  std::string path = fmt::format(
      "{}/kith_model_{}_{}", std::filesystem::temp_directory_path().string(), getpid(), ++count());
  ~ScratchFile() { std::filesystem::remove(path); }
  static int& count() {
    static int n = 0;
    return n;
  }
};

// A model that went through a file: finished, or in the middle of a run.
template <class M>
M through_file(const M& model, std::string_view kind, bool checkpoint = false) {
  const ScratchFile file;
  save_model(model, kind, file.path, checkpoint, {});
  if (!checkpoint) {
    const auto loaded = load_model(Archive::open(file.path));
    return std::move(dynamic_cast<M&>(*loaded));
  }
  M out;
  restore_checkpoint(out, kind, Archive::open(file.path));
  return out;
}

// A run that is stopped at its nth safe point, and goes on from the file.
template <class M, class Config, class Data>
M interrupted(const Config& config, const Data& data, std::string_view kind, int stop,
              bool deterministic, int threads = 1) {
  M first;
  first.config() = config;
  Job job;
  job.deterministic = deterministic;
  int points = 0;
  job.on_progress = [&](const Progress&) {
    if (++points == stop) job.cancel();
  };
  first.train(data, job);
  EXPECT_FALSE(first.finished());
  M second = through_file(first, kind, true);
  Job rest(threads);
  rest.deterministic = deterministic;
  second.train(data, rest);
  return second;
}

// Save, load, save: the same bytes.
inline void expect_same_file(const ModelBase& model, std::string_view kind) {
  const ScratchFile a, b;
  save_model(model, kind, a.path, false, {});
  save_model(*load_model(Archive::open(a.path)), kind, b.path, false, {});
  const MappedFile x(a.path), y(b.path);
  EXPECT_TRUE(std::ranges::equal(x.bytes(), y.bytes()));
}

// A file with all parts of a model, to be damaged before it is read. They are views of the model's.
inline ArchiveWriter file_of(ModelBase& model, std::string_view kind, bool checkpoint = false) {
  ArchiveWriter out;
  out.metadata = {{"format", "2"}, {"version", "test"}, {"model", std::string(kind)}};
  if (checkpoint) out.metadata["checkpoint"] = "true";
  Saver saver(out, checkpoint);
  visit_all(model, saver);
  return out;
}

inline std::unique_ptr<ModelBase> loaded(const ArchiveWriter& out,
                                         Loader::Mode mode = Loader::Mode::kOwn) {
  const ScratchFile file;
  out.save(file.path);
  return load_model(Archive::open(file.path), mode);
}

inline bool same_bits(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (size_t r = 0; r < a.rows(); ++r) {
    if (std::memcmp(a.row(r).data(), b.row(r).data(), a.row(r).size_bytes()) != 0) return false;
  }
  return true;
}

}  // namespace kith::test
