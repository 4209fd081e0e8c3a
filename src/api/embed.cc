// SPDX-License-Identifier: Apache-2.0
#include "kith/embed.h"

#include <algorithm>
#include <cmath>

#include "api/opened.h"
#include "api/rows.h"
#include "core/error.h"
#include "io/vector_files.h"
#include "kith/files.h"

namespace kith {
namespace {

constexpr std::string_view kQuestion = "embed";
constexpr size_t kPage = 1 << 16;  // rows

// The vector of a row is the sum of its groups' vectors.
void add_groups(const SeenRow& row, std::span<float> out) {
  for (size_t g = 0; g < row.present.size(); ++g) {
    if (!row.present[g]) continue;
    for (size_t k = 0; k < out.size(); ++k) out[k] += row.vectors.row(g)[k];
  }
}

// Two films of one title are two rows.
void add_name(Names& names, const std::string& label) {
  const size_t row = names.size();
  if (names.add(label) == row) return;
  for (size_t copy = 2; names.add(fmt::format("{} ({})", label, copy)) != row;) ++copy;
}

// Rows whose number is known at the end.
class Pages {
 public:
  explicit Pages(size_t cols) : cols_(cols) {}
  std::span<float> add() {
    if (rows_ % kPage == 0) pages_.emplace_back(kPage, cols_);
    return pages_.back().row(rows_++ % kPage);
  }
  // As one matrix; what was copied is given up on the way.
  Matrix join() {
    Matrix out(rows_, cols_);
    for (size_t r = 0; r < rows_; ++r) {
      std::ranges::copy(pages_[r / kPage].row(r % kPage), out.row(r).begin());
      if (r % kPage + 1 == kPage) pages_[r / kPage] = Matrix();
    }
    return out;
  }

 private:
  size_t cols_, rows_ = 0;
  std::vector<Matrix> pages_;
};

size_t dim_of(const RowAsker& rows) {
  if (const size_t dim = rows.model().row_dim(); dim > 0) return dim;
  throw fault(ErrorKind::kInput,
              "the model has biases and no vectors (dim = 0), so a row has none either");
}

}  // namespace

std::vector<float> embed(const Model& model, const std::vector<std::string>& terms) {
  RowAsker rows(model.impl(), kQuestion);
  std::vector<float> out(dim_of(rows));
  add_groups(rows.see(rows.cells(terms)), out);
  return out;
}

Embedded embed_rows(const Model& model, const std::vector<std::string>& sources,
                    const std::string& output, const EmbedOptions& options,
                    std::span<const Setting> reading, const Context& context, Observer* observer) {
  RowAsker asker(model.impl(), kQuestion);
  if (options.to == VectorFormat::kNpy && output == "-") {
    throw fault(ErrorKind::kUsage,
                "npy takes two files, the matrix and its names; name one with -o");
  }
  std::vector<std::string> inputs = sources;
  inputs.push_back(model.path());
  check_output(output, inputs);
  GroupedRows rows(asker.encoding(), sources, reading, context, observer);
  std::optional<size_t> name;
  if (!options.name.empty()) name = rows.column(options.name);
  NamedVectors out;
  Pages pages(dim_of(asker));
  while (rows.next()) {
    const Cell label = name ? rows.raw()[*name] : std::nullopt;
    add_name(out.names, label && !label->empty() ? std::string(*label)
                                                 : fmt::format("{}", out.names.size() + 1));
    const std::span<float> vector = pages.add();
    add_groups(asker.see(rows.cells()), vector);
    if (!std::ranges::all_of(vector, [](float x) { return std::isfinite(x); })) {
      throw fault(ErrorKind::kInput,
                  "{}: its numbers are so large that its vector is not finite; check the row",
                  rows.where());
    }
  }
  out.matrix = pages.join();
  const Embedded done{out.names.size(), out.matrix.cols()};
  if (output.ends_with(".kith")) {
    save_model(*model_of(std::move(out)), "vectors", output, false, {});
  } else {
    const MatrixVectors vectors(out.matrix);
    write_vectors(output, options.to, out.names, WatchedVectors(vectors, context));
  }
  return done;
}

}  // namespace kith
