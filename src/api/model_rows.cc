// SPDX-License-Identifier: Apache-2.0
#include "api/model_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/opened.h"
#include "core/error.h"
#include "io/utf8.h"

namespace kith {
namespace {

// The groups of a model one below the other.
class StackedVectors final : public Vectors {
 public:
  StackedVectors(Model model, std::vector<VectorGroup> groups)
      : model_(std::move(model)), groups_(std::move(groups)) {}
  size_t rows() const override {
    size_t out = 0;
    for (const VectorGroup& g : groups_) out += g.vectors->rows();
    return out;
  }
  size_t cols() const override { return groups_.front().vectors->cols(); }
  void read(size_t first, size_t count, Rows out) const override {
    size_t done = 0;
    for (const VectorGroup& g : groups_) {
      const size_t rows = g.vectors->rows();
      if (first >= rows) {
        first -= rows;
        continue;
      }
      const size_t n = std::min(count - done, rows - first);
      if (n == 0) return;
      g.vectors->read(first, n, Rows{out.row(done), out.stride});
      done += n;
      first = 0;
    }
  }

 private:
  Model model_;  // whose file they stand in
  std::vector<VectorGroup> groups_;
};

}  // namespace

ModelRows model_rows(const std::string& path, const std::string& column) {
  Model model = open(path);
  std::vector<VectorGroup> groups =
      model.impl().ask<HasVectors>("learning from rows of numbers").vectors_of(std::nullopt);
  std::vector<std::string> columns;
  for (const VectorGroup& g : groups) columns.push_back(g.column);
  if (!column.empty()) {
    std::erase_if(groups,
                  [&](const VectorGroup& g) { return g.column != column && g.role != column; });
    if (groups.empty()) {
      throw fault(ErrorKind::kUsage, "{}: --of: it has no vectors of {}; it has those of {}", path,
                  shown(column),
                  columns.size() == 1 && columns[0].empty()
                      ? "words, and needs no --of"
                      : fmt::format("{}", fmt::join(columns, ", ")));
    }
  }
  std::erase_if(groups, [](const VectorGroup& g) { return g.vectors->rows() == 0; });
  if (groups.empty() || groups.front().vectors->cols() == 0) {
    throw fault(ErrorKind::kInput, "{}: the model has no vectors to learn from", path);
  }
  ModelRows out;
  for (const VectorGroup& g : groups) {
    if (g.vectors->cols() != groups.front().vectors->cols()) {
      throw fault(ErrorKind::kUsage,
                  "{}: its vectors are of different lengths; choose those of one column with --of",
                  path);
    }
    out.bytes += g.vectors->rows() * g.vectors->cols() * sizeof(float);
    if (groups.size() == 1) {
      out.names = *g.names;
      break;
    }
    for (size_t i = 0; i < g.names->size(); ++i) {
      out.names.add(fmt::format("{}={}", g.column, (*g.names)[i]));
    }
  }
  out.vectors = std::make_shared<StackedVectors>(std::move(model), std::move(groups));
  return out;
}

}  // namespace kith
