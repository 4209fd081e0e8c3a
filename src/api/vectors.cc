// SPDX-License-Identifier: Apache-2.0
#include "kith/vectors.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "api/opened.h"
#include "api/rows.h"
#include "core/error.h"
#include "core/waiting.h"
#include "io/vector_files.h"
#include "kith/fields.h"
#include "kith/files.h"

namespace kith {
namespace {

// The vectors of several groups under each other, their names with the column in front. Columns
// that share their values' vectors are written once.
class JoinedVectors final : public Vectors {
 public:
  explicit JoinedVectors(std::vector<VectorGroup> groups) {
    std::set<std::string> families;
    for (VectorGroup& g : groups) {
      if (!families.insert(g.family).second) continue;
      starts_.push_back(rows_);
      rows_ += g.vectors->rows();
      groups_.push_back(std::move(g));
    }
  }
  size_t rows() const override { return rows_; }
  size_t cols() const override { return groups_.front().vectors->cols(); }
  void read(size_t first, size_t count, Rows out) const override {
    for (size_t g = 0; g < groups_.size(); ++g) {
      const size_t from = std::max(first, starts_[g]);
      const size_t to = std::min(first + count, starts_[g] + groups_[g].vectors->rows());
      if (from >= to) continue;
      groups_[g].vectors->read(from - starts_[g], to - from, {out.row(from - first), out.stride});
    }
  }
  Names names() const {
    Names out;
    out.reserve(rows_);
    for (const VectorGroup& g : groups_) {
      for (size_t i = 0; i < g.names->size(); ++i) {
        out.add(fmt::format("{}={}", g.column, (*g.names)[i]));
      }
    }
    return out;
  }

 private:
  std::vector<VectorGroup> groups_;
  std::vector<size_t> starts_;
  size_t rows_ = 0;
};

uint64_t bytes_of(const std::string& path) {
  std::error_code none;
  const bool file = std::filesystem::is_regular_file(path, none);
  return file ? std::filesystem::file_size(path, none) : 0;
}

// Words that fastText learned with another loss than negative sampling go on with that one.
void tell_loss(const FastTextFile& file, const std::string& path, Observer* observer) {
  using Loss = FastTextHeader::Loss;
  if (file.loss == Loss::kNs) return;
  if (file.loss == Loss::kHs) {
    note(observer, Note::Level::kNote,
         fmt::format("{}: learned with hierarchical softmax (-loss hs), so its output rows are "
                     "nodes of a tree and no words: --vectors output and sum are refused, and "
                     "kith train --from learns new ones, by negative sampling",
                     path));
    return;
  }
  note(observer, Note::Level::kNote,
       fmt::format("{}: learned with -loss {}; kith train --from goes on by negative sampling",
                   path, file.loss == Loss::kSoftmax ? "softmax" : "ova"));
}

}  // namespace

ExportReport export_vectors(const Model& model, const std::string& output, VectorFormat format,
                            const Context& context, std::optional<Side> side) {
  if (format == VectorFormat::kNpy && output == "-") {
    throw fault(ErrorKind::kUsage,
                "npy takes two files, the matrix and its names; name one with -o");
  }
  check_output(output, {model.path()});
  // All of a model of words, unless some of its vectors are asked for.
  if (format == VectorFormat::kFastTextBin && !side && model.impl().can<WritesFastText>()) {
    model.impl().ask<WritesFastText>("export").write_fasttext(output, context);
    const VectorGroup words = model.impl().ask<HasVectors>("export").vectors_of({}).front();
    return {words.vectors->rows(), words.vectors->cols(), bytes_of(output)};
  }
  std::vector<VectorGroup> groups = model.impl().ask<HasVectors>("export").vectors_of(side);
  const auto empty = [](const VectorGroup& g) {
    return g.vectors->rows() == 0 || g.vectors->cols() == 0;
  };
  if (std::ranges::all_of(groups, empty)) {
    throw fault(ErrorKind::kInput, "{}: this model has no named vectors to export", model.path());
  }
  if (groups.size() == 1 && groups[0].column.empty()) {
    const Vectors& vectors = *groups[0].vectors;
    write_vectors(output, format, *groups[0].names, WatchedVectors(vectors, context));
    return {vectors.rows(), vectors.cols(), bytes_of(output)};
  }
  const JoinedVectors joined(std::move(groups));
  write_vectors(output, format, joined.names(), WatchedVectors(joined, context));
  return {joined.rows(), joined.cols(), bytes_of(output)};
}

ImportReport import_vectors(const std::string& path, const std::string& output,
                            const Context& context, Observer* observer) {
  check_output(output, {path});
  ReadReport report{};
  const Waiting waiting(context);
  auto read = read_vectors_or_fasttext(path, report);
  ImportReport out{.format = detail::show(report.format),
                   .duplicates = report.duplicates,
                   .invalid_utf8 = report.invalid_utf8};
  std::unique_ptr<ModelBase> model;
  std::string_view kind = "vectors";
  if (auto* vectors = std::get_if<NamedVectors>(&read)) {
    out.rows = vectors->matrix.rows();
    out.dim = vectors->matrix.cols();
    model = model_of(std::move(*vectors));
  } else {
    auto& file = std::get<FastTextFile>(read);
    out.rows = file.words.size();
    out.dim = static_cast<uint64_t>(file.dim);
    const bool labelled = file.kind == FastTextHeader::Kind::kSupervised;
    kind = labelled ? "classifier" : "fasttext";
    if (!labelled) tell_loss(file, path, observer);
    model = labelled ? classifier_of(std::move(file), path) : model_of(std::move(file));
  }
  save_model(*model, kind, output, false, {{"imported.format", out.format}});
  out.bytes = bytes_of(output);
  return out;
}

}  // namespace kith
