// SPDX-License-Identifier: Apache-2.0
#include "kith/embed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "api/opened.h"
#include "api/results.h"
#include "api/rows.h"
#include "core/error.h"
#include "io/vector_files.h"
#include "kith/files.h"
#include "kith/results.h"
#include "kith/text.h"

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

// What the name of a file says of its format.
enum class Ending { kNone, kKith, kNpy, kCsv, kSafetensors, kTsv, kJsonl };
constexpr std::array<std::string_view, 6> kEndings{".kith",        ".npy", ".csv",
                                                   ".safetensors", ".tsv", ".jsonl"};
Ending ending_of(const std::string& output) {
  const std::string end = std::filesystem::path(output).extension().string();
  const auto at = std::ranges::find(kEndings, end);
  return at == kEndings.end() ? Ending::kNone : static_cast<Ending>(at - kEndings.begin() + 1);
}

// The format of vectors that the name says, or the caller; nothing for what is no such format.
// Error(kUsage) if they disagree, or if neither says one.
std::optional<VectorFormat> format_of(const std::string& output,
                                      const std::optional<VectorFormat>& to) {
  const Ending ending = ending_of(output);
  std::optional<VectorFormat> said;
  if (ending == Ending::kNpy) said = VectorFormat::kNpy;
  if (ending == Ending::kCsv) said = VectorFormat::kCsv;
  if (ending == Ending::kSafetensors) said = VectorFormat::kSafetensors;
  if (to && ending != Ending::kNone && said != to) {
    throw fault(ErrorKind::kUsage,
                "{}: the name belongs to another format than --to {}; choose another name, or "
                "leave out --to",
                output, detail::show(*to));
  }
  if (ending != Ending::kNone) return said;
  if (!to && output != "-") throw unknown_extension(output, kEndings);
  return to.value_or(VectorFormat::kCsv);
}

// As rows of text: the numbers in as many digits as it takes to read the same ones again.
void write_rows(const std::string& output, const NamedVectors& vectors, const Context& context) {
  ResultFile file(output);
  std::vector<ResultColumn> columns{{"name"}};
  for (size_t k = 0; k < vectors.matrix.cols(); ++k) columns.push_back({fmt::format("v{}", k + 1)});
  if (!file.takes_json()) file.columns(std::move(columns));
  std::vector<std::string> digits(vectors.matrix.cols());
  for (size_t r = 0; r < vectors.names.size(); ++r) {
    context.check();
    const std::span<const float> row = vectors.matrix.row(r);
    std::ranges::transform(row, digits.begin(), [](float x) { return fmt::format("{:.9g}", x); });
    if (file.takes_json()) {
      file.json_line(fmt::format("{{\"row\":{},\"id\":{},\"vector\":[{}]}}\n", r + 1,
                                 json_text(vectors.names[r]), fmt::join(digits, ",")));
      continue;
    }
    std::vector<ResultCell> cells{vectors.names[r]};
    cells.insert(cells.end(), digits.begin(), digits.end());
    file.row(vectors.names[r], cells);
  }
  file.commit();
}

size_t dim_of(const RowAsker& rows) {
  if (const size_t dim = rows.model().row_dim(); dim > 0) return dim;
  throw fault(ErrorKind::kInput,
              "the model has biases but no vectors (dim = 0), so a row has none either");
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
  const std::optional<VectorFormat> format = format_of(output, options.to);
  if (format == VectorFormat::kNpy && output == "-") {
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
    add_distinct(out.names, label && !label->empty() ? std::string(*label)
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
  if (ending_of(output) == Ending::kKith) {
    save_model(*model_of(std::move(out)), "vectors", output, false, {});
  } else if (format) {
    const MatrixVectors vectors(out.matrix);
    write_vectors(output, *format, out.names, WatchedVectors(vectors, context));
  } else {
    write_rows(output, out, context);
  }
  return done;
}

}  // namespace kith
