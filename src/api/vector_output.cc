// SPDX-License-Identifier: Apache-2.0
#include "api/vector_output.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "api/results.h"
#include "core/error.h"
#include "kith/fields.h"
#include "kith/files.h"
#include "kith/results.h"
#include "kith/text.h"
#include "models/model.h"

namespace kith {
namespace {

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

}  // namespace

VectorOutput::VectorOutput(std::string output, std::optional<VectorFormat> to,
                           const std::vector<std::string>& inputs)
    : output_(std::move(output)), format_(format_of(output_, to)) {
  if (format_ == VectorFormat::kNpy && output_ == "-") {
    throw fault(ErrorKind::kUsage,
                "npy takes two files, the matrix and its names; name one with -o");
  }
  check_output(output_, inputs);
}

std::span<float> VectorOutput::add(std::string_view name, size_t cols) {
  add_distinct(names_, name.empty() ? fmt::format("{}", names_.size() + 1) : std::string(name));
  if (rows_ % kPage == 0) pages_.emplace_back(kPage, cols);
  return pages_.back().row(rows_++ % kPage);
}

Matrix VectorOutput::join(size_t cols) {
  Matrix out(rows_, cols);
  for (size_t r = 0; r < rows_; ++r) {
    std::ranges::copy(pages_[r / kPage].row(r % kPage), out.row(r).begin());
    if (r % kPage + 1 == kPage) pages_[r / kPage] = Matrix();
  }
  pages_.clear();
  return out;
}

void VectorOutput::write(Names names, const Vectors& vectors, const Context& context) {
  if (ending_of(output_) != Ending::kKith && format_) {
    return write_vectors(output_, *format_, names, WatchedVectors(vectors, context));
  }
  names_ = std::move(names);
  const WatchedVectors watched(vectors, context);
  Matrix all(vectors.rows(), vectors.cols());
  constexpr size_t kRows = 1024;
  for (size_t r = 0; r < all.rows(); r += kRows) {
    const size_t n = std::min(kRows, all.rows() - r);
    watched.read(r, n, Rows{all.view().row(r), all.stride()});
  }
  write(std::move(all), context);
}

void VectorOutput::write(Matrix matrix, const Context& context) {
  NamedVectors out;
  out.names = std::move(names_);
  out.matrix = std::move(matrix);
  if (ending_of(output_) == Ending::kKith) {
    save_model(*model_of(std::move(out)), "vectors", output_, false, {});
  } else if (format_) {
    const MatrixVectors vectors(out.matrix);
    write_vectors(output_, *format_, out.names, WatchedVectors(vectors, context));
  } else {
    write_rows(output_, out, context);
  }
}

}  // namespace kith
