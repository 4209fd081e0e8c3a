// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy (versions 1 to 3) with the names of the rows in a text file beside it.

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "io/npy_header.h"
#include "io/text_source.h"
#include "io/vector_formats.h"

namespace kith {
namespace {

NpyHeader take_header(VectorInput& input) {
  const std::string prefix(input.take(8));
  const unsigned version = prefix.size() == 8 ? static_cast<unsigned char>(prefix[6]) : 0;
  const size_t width = version == 1 ? 2 : 4;
  uint32_t length = 0;
  const std::string_view bytes = input.take(width);
  if (version < 1 || version > 3 || bytes.size() < width) {
    throw fault(ErrorKind::kInput,
                "{}: the file is cut off or of another version of the NumPy format than 1 to 3",
                input.where());
  }
  std::memcpy(&length, bytes.data(), width);
  if (length > kMaxNpyHeader || input.peek(length).size() < length) {
    throw fault(ErrorKind::kInput,
                "{}: the NumPy header claims {} bytes, which is more than the file has, or more "
                "than 1 MiB; the file is cut off or damaged",
                input.where(), length);
  }
  return read_npy_header(input.take(length), input.where());
}

// Refuses what cannot be read as rows of numbers, with the way to make it so.
void check_header(const NpyHeader& header, const std::string& where) {
  if (header.descr != "<f4" && header.descr != "<f8") {
    throw fault(ErrorKind::kInput,
                "{}: the matrix has the type {} but <f4 or <f8 is needed; convert it with "
                "a.astype(numpy.float32)",
                where, shown(header.descr));
  }
  if (header.fortran_order) {
    throw fault(ErrorKind::kInput,
                "{}: the matrix is stored by columns; convert it with numpy.ascontiguousarray(a)",
                where);
  }
  if (header.shape.size() != 2 || header.shape[1] == 0 || header.shape[1] > kMaxDim) {
    throw fault(ErrorKind::kInput,
                "{}: the array has the shape ({}) but rows and 1 to {} columns are needed", where,
                fmt::join(header.shape, ", "), kMaxDim);
  }
}

// The names of the rows, one a line, if that file is there; else the rows are called 0, 1, ...
class NameLines {
 public:
  explicit NameLines(const std::string& matrix_path) {
    const std::string path = matrix_path + ".names.txt";
    std::error_code ignored;
    if (matrix_path != "-" && std::filesystem::exists(path, ignored)) {
      input_.emplace(path, open_text(path));
    }
  }
  std::string next(uint64_t row, uint64_t rows) {
    if (!input_) return std::to_string(row);
    std::string_view line;
    if (!input_->line(line)) {
      throw fault(ErrorKind::kInput, "{}: {} names for the {} rows of the matrix beside it",
                  input_->where(), row, rows);
    }
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return std::string(line);
  }
  void expect_end(uint64_t rows) {
    std::string_view line;
    if (input_ && input_->line(line)) {
      throw fault(ErrorKind::kInput, "{}:{}: more names than the {} rows of the matrix beside it",
                  input_->where(), input_->line_number(), rows);
    }
  }

 private:
  std::optional<VectorInput> input_;
};

template <class T>
void take_row(std::string_view bytes, std::vector<float>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    T x;
    std::memcpy(&x, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<float>(x);
  }
}

}  // namespace

NamedVectors read_npy(VectorInput& input, ReadReport& report) {
  const NpyHeader header = take_header(input);
  check_header(header, input.where());
  const uint64_t rows = header.shape[0];
  const size_t dim = header.shape[1];
  const size_t row_bytes = dim * (header.descr == "<f4" ? 4 : 8);
  NameLines names(input.path());
  VectorBuilder builder(dim);
  std::vector<float> values(dim);
  for (uint64_t row = 0; row < rows; ++row) {
    const std::string_view bytes = input.take(row_bytes);
    if (bytes.size() < row_bytes) {
      throw fault(ErrorKind::kInput,
                  "{}: the header claims {} rows of {} bytes but the file ends in row {}; it is "
                  "cut off",
                  input.where(), rows, row_bytes, row + 1);
    }
    header.descr == "<f4" ? take_row<float>(bytes, values) : take_row<double>(bytes, values);
    builder.add(names.next(row, rows), values, fmt::format("{}: row {}", input.where(), row + 1));
  }
  if (!input.peek(1).empty()) {
    throw fault(ErrorKind::kInput, "{}: bytes follow the {} rows that the header claims",
                input.where(), rows);
  }
  names.expect_end(rows);
  return builder.finish(report, input.where());
}

void write_npy(const std::string& path, const Names& names, const Vectors& vectors) {
  if (path == "-") {
    throw fault(ErrorKind::kUsage,
                "npy makes two files, the matrix and its names, so it needs a file name");
  }
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", vectors.rows(),
                  vectors.cols());
  // The data begin at a multiple of 64 bytes, behind 10 bytes of prefix and a newline.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  const auto length = static_cast<uint16_t>(header.size());
  AtomicFile file(path), list(path + ".names.txt");
  file.write(kNpyMagic);
  file.write(std::string_view("\x01\x00", 2));
  file.write(std::span(reinterpret_cast<const char*>(&length), 2));
  file.write(header);
  for_each_row(vectors, [&](size_t r, std::span<const float> row) {
    file.write(std::span(reinterpret_cast<const char*>(row.data()), row.size_bytes()));
    list.write(names[r]);
    list.write("\n");
  });
  // Whatever can fail has been tried before the first of the two is replaced.
  list.prepare();
  file.prepare();
  list.commit();
  file.commit();
}

}  // namespace kith
