// SPDX-License-Identifier: Apache-2.0
#include "io/number_files.h"

#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/archive.h"
#include "io/npy_header.h"
#include "io/utf8.h"
#include "io/vector_formats.h"

namespace kith {
namespace {

constexpr std::array<std::pair<std::string_view, NumberType>, 13> kNpyTypes{{
    {"f2", NumberType::kF16},
    {"f4", NumberType::kF32},
    {"f8", NumberType::kF64},
    {"i1", NumberType::kI8},
    {"i2", NumberType::kI16},
    {"i4", NumberType::kI32},
    {"i8", NumberType::kI64},
    {"u1", NumberType::kU8},
    {"u2", NumberType::kU16},
    {"u4", NumberType::kU32},
    {"u8", NumberType::kU64},
    {"b1", NumberType::kU8},
    {"?", NumberType::kU8},
}};

// Rows and columns that fit into 64 bits together, whatever the file claims.
void check_shape(const NumberLayout& layout, const std::string& where) {
  if (layout.rows == 0 || layout.cols == 0) {
    throw fault(ErrorKind::kInput, "{}: there are no numbers in it: {} rows of {}", where,
                layout.rows, layout.cols);
  }
  if (layout.cols > kMaxColumnsOfNumbers) {
    throw fault(ErrorKind::kInput, "{}: rows of {} numbers; {} is the most", where, layout.cols,
                kMaxColumnsOfNumbers);
  }
  if (layout.rows > std::numeric_limits<int64_t>::max() / 8 / layout.cols) {
    throw fault(ErrorKind::kInput, "{}: it claims {} rows of {} numbers, more than a file can hold",
                where, layout.rows, layout.cols);
  }
}

NumberLayout npy_layout(std::string_view start, const std::string& where) {
  const unsigned version = start.size() > 8 ? static_cast<unsigned char>(start[6]) : 0;
  const size_t width = version == 1 ? 2 : 4;
  uint32_t length = 0;
  if (version < 1 || version > 3 || start.size() < 8 + width) {
    throw fault(ErrorKind::kInput,
                "{}: the file is cut off or of another version of the NumPy format than 1 to 3",
                where);
  }
  std::memcpy(&length, start.data() + 8, width);
  if (length > kMaxNpyHeader || start.size() - 8 - width < length) {
    throw fault(ErrorKind::kInput,
                "{}: the NumPy header claims {} bytes, which is more than the file has, or more "
                "than 1 MiB; the file is cut off or damaged",
                where, length);
  }
  const NpyHeader header = read_npy_header(start.substr(8 + width, length), where);
  NumberLayout out{.by_columns = header.fortran_order, .offset = 8 + width + length};
  const std::string_view descr = header.descr;
  bool known = false;
  if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
    for (const auto& [name, type] : kNpyTypes) {
      if (descr.substr(1) != name) continue;
      out.type = type;
      known = true;
    }
  }
  if (!known) {
    throw fault(ErrorKind::kInput,
                "{}: the matrix has the type {}, which is not one of numbers (f2, f4, f8, i1 to "
                "i8, u1 to u8); convert it with a.astype(numpy.float32)",
                where, shown(header.descr));
  }
  out.big_endian = descr[0] == '>';
  if (header.shape.size() != 2) {
    throw fault(ErrorKind::kInput,
                "{}: the array has {} dimension{} (shape {}), and rows and columns are needed; "
                "save it with {}",
                where, header.shape.size(), header.shape.size() == 1 ? "" : "s",
                fmt::join(header.shape, " x "),
                header.shape.size() == 1 ? "a.reshape(-1, 1) if each number is a row"
                                         : "a.reshape(len(a), -1)");
  }
  out.rows = header.shape[0];
  out.cols = header.shape[1];
  return out;
}

uint32_t big_endian(std::string_view bytes) {
  uint32_t out = 0;
  for (const char c : bytes.substr(0, 4)) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

// http://yann.lecun.com/exdb/mnist: 0, 0, type, dimensions; each dimension as 4 bytes.
NumberLayout idx_layout(std::string_view start, const std::string& where) {
  NumberLayout out{.big_endian = true};
  switch (start[2]) {
    case 0x08:
      out.type = NumberType::kU8;
      break;
    case 0x09:
      out.type = NumberType::kI8;
      break;
    case 0x0b:
      out.type = NumberType::kI16;
      break;
    case 0x0c:
      out.type = NumberType::kI32;
      break;
    case 0x0d:
      out.type = NumberType::kF32;
      break;
    default:
      out.type = NumberType::kF64;
  }
  const auto dimensions = static_cast<size_t>(start[3]);
  if (dimensions < 2) {
    throw fault(ErrorKind::kInput,
                "{}: this idx file has one dimension, as labels have; give the file of the images",
                where);
  }
  out.offset = 4 + 4 * dimensions;
  if (start.size() < out.offset) {
    throw fault(ErrorKind::kInput, "{}: the idx header is cut off", where);
  }
  out.rows = big_endian(start.substr(4));
  out.cols = 1;
  for (size_t d = 1; d < dimensions; ++d) {
    const uint64_t size = big_endian(start.substr(4 + 4 * d));
    out.cols = size > kMaxColumnsOfNumbers ? size : out.cols * size;  // refused, or below 2^48
    if (out.cols > kMaxColumnsOfNumbers) break;
  }
  return out;
}

std::optional<NumberType> number_type(DType type) {
  switch (type) {
    case DType::kF32:
      return NumberType::kF32;
    case DType::kF64:
      return NumberType::kF64;
    case DType::kU8:
      return NumberType::kU8;
    case DType::kI32:
      return NumberType::kI32;
    case DType::kU32:
      return NumberType::kU32;
    case DType::kI64:
      return NumberType::kI64;
    case DType::kU64:
      return NumberType::kU64;
  }
  return std::nullopt;
}

}  // namespace

size_t bytes_of(NumberType type) {
  switch (type) {
    case NumberType::kI8:
    case NumberType::kU8:
      return 1;
    case NumberType::kF16:
    case NumberType::kI16:
    case NumberType::kU16:
      return 2;
    case NumberType::kF32:
    case NumberType::kI32:
    case NumberType::kU32:
      return 4;
    default:
      return 8;
  }
}

bool is_npy(std::string_view start) { return start.starts_with(kNpyMagic); }

bool is_idx(std::string_view start) {
  if (start.size() < 8 || start[0] != 0 || start[1] != 0) return false;
  const char type = start[2], dimensions = start[3];
  return (type == 0x08 || type == 0x09 || (type >= 0x0b && type <= 0x0e)) && dimensions >= 1 &&
         dimensions <= 8;
}

std::optional<NumberLayout> number_layout(std::string_view start, const std::string& where) {
  std::optional<NumberLayout> out;
  if (is_npy(start)) {
    out = npy_layout(start, where);
  } else if (is_idx(start)) {
    out = idx_layout(start, where);
  }
  if (out) check_shape(*out, where);
  return out;
}

NumberLayout tensor_layout(const std::string& path, const std::string& tensor) {
  const Archive archive = Archive::open(path, false);
  std::string found, fitting;
  for (const auto& [name, t] : archive.tensors()) {
    if (t.shape.size() != 2) continue;
    fitting += (fitting.empty() ? "" : ", ") + shown(name);
    if (tensor == name || (tensor.empty() && found.empty())) found = name;
  }
  if (fitting.empty()) {
    throw fault(ErrorKind::kInput, "{}: there is no tensor with two dimensions in it", path);
  }
  if (found.empty()) {
    throw fault(ErrorKind::kInput, "{}: there is no matrix called {}; there is {}", path,
                shown(tensor), fitting);
  }
  if (tensor.empty() && fitting != shown(found)) {
    throw fault(ErrorKind::kInput,
                "{}: there are several matrices ({}); name one of them, such as --tensor {}", path,
                fitting, shown(found));
  }
  const Tensor& t = archive.tensors().at(found);
  NumberLayout out{.type = *number_type(t.dtype),
                   .rows = t.shape[0],
                   .cols = t.shape[1],
                   .offset = archive.offset_of(found)};
  check_shape(out, path);
  return out;
}

}  // namespace kith
