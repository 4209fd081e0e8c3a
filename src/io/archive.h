// SPDX-License-Identifier: Apache-2.0
#pragma once
// The model file: safetensors, readable by the safetensors library of any language.
//
//   u64 little endian: bytes of the header | header (JSON) | tensors, without holes
//
// `__metadata__` (text to text) says what the file is. Its entry "checksum" is the XXH3-64 of the
// whole file as 16 hexadecimal digits, taken while these digits are zeros; a file without it, or
// with another one, is refused. Data start at a multiple of 64 bytes (the header is padded with
// spaces).

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix.h"
#include "core/names.h"
#include "io/file.h"

namespace kith {

enum class DType { kF32, kF64, kU8, kI32, kU32, kI64, kU64 };
size_t bytes_of(DType type);
std::string_view name_of(DType type);  // as safetensors spells it: "F32", ...

// A tensor to be written or read. Rows may be apart in memory (`row_stride` > `row_bytes`), so that
// a padded Matrix is written without a copy; a tensor from a file is always dense.
struct Tensor {
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;
  const char* data = nullptr;
  size_t rows = 1, row_bytes = 0, row_stride = 0;
};

Tensor tensor_of(const Matrix& m);
template <class T>
Tensor tensor_of(std::span<const T> values);  // float, double, uint32_t, int64_t, uint64_t, char

// What goes into a model file: views, so the parts must outlive it.
struct ArchiveWriter {
  std::map<std::string, std::string> metadata;
  std::map<std::string, Tensor> tensors;
  // Stores names as NAME.bytes (U8) and NAME.offsets (U64).
  void add_names(const std::string& name, const Names& names);
  void save(const std::string& path) const;  // through AtomicFile
};

// An open model file. Everything is checked when it is opened: sizes against what is left before
// anything is multiplied or allocated, then the checksum.
class Archive {
 public:
  // `checksum` false reads any safetensors file (for import); otherwise ours is required.
  static Archive open(const std::string& path, bool checksum = true);
  static Archive from_bytes(std::span<const char> bytes, std::string where, bool checksum = true);

  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  std::string metadata_at(const std::string& key) const;  // Error(kInput) if absent
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  const std::string& where() const { return where_; }
  bool has(const std::string& name) const { return tensors_.contains(name); }
  size_t bytes_of(const std::string& name) const;  // 0 if there is none
  // Of its first byte in the file. The tensor must be there.
  uint64_t offset_of(const std::string& name) const;

  // Copies out; Error(kInput) naming the tensor if it is absent, of another type or shape.
  Matrix matrix(const std::string& name) const;  // F32, two dimensions
  template <class T>
  std::vector<T> values(const std::string& name) const;  // one dimension
  Names names(const std::string& name) const;
  // The same in place: the file stays mapped as long as they live.
  Matrix borrowed_matrix(const std::string& name) const;
  Names borrowed_names(const std::string& name) const;

 private:
  const Tensor& at(const std::string& name, DType type, size_t dimensions) const;
  const Tensor& matrix_at(const std::string& name) const;
  std::shared_ptr<const MappedFile> file_;
  std::string where_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, Tensor> tensors_;
  const char* start_ = nullptr;  // of the file
};

}  // namespace kith
