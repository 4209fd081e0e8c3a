// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the readers of vector files share: the stream cut into lines or blocks, numbers, names that
// are repaired, and a matrix that grows with what was really read. Private to src/io.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix.h"
#include "io/file.h"
#include "io/utf8.h"
#include "io/vector_files.h"

namespace kith {

// Longer vectors are taken for damage. With it, no claim in a header costs more than 4 MiB.
inline constexpr uint64_t kMaxDim = uint64_t{1} << 20;
inline constexpr size_t kMaxLine = size_t{64} << 20;

// A stream read by lines or by blocks, with a look ahead.
class VectorInput {
 public:
  explicit VectorInput(const std::string& path) : VectorInput(path, open_source(path)) {}
  VectorInput(const std::string& path, std::unique_ptr<ByteSource> source)
      : path_(path), where_(path == "-" ? "standard input" : path), source_(std::move(source)) {}

  // At least `least` bytes if there are so many; they stay to be read.
  std::string_view peek(size_t least);
  // The next line without its \n; false at the end. Valid until the next call of any of these.
  bool line(std::string_view& out);
  // The next n bytes, or fewer at the end.
  std::string_view take(size_t n);

  const std::string& path() const { return path_; }
  const std::string& where() const { return where_; }
  uint64_t line_number() const { return line_number_; }  // of the last line read, from 1

 private:
  bool fill();  // more bytes behind those not yet read; false at the end

  std::string path_, where_;
  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  size_t at_ = 0;  // the first byte of the buffer not yet read
  uint64_t line_number_ = 0;
};

// A decimal number with nothing around it; too large becomes infinity, too small zero.
std::optional<float> parse_float(std::string_view text);

// Collects named rows. Memory follows what was added, never what a header claims.
class VectorBuilder {
 public:
  explicit VectorBuilder(size_t dim);
  size_t dim() const { return dim_; }
  uint64_t added() const { return added_; }
  // `place` ("FILE:LINE") begins the message if a value is not finite.
  void add(std::string_view name, std::span<const float> values, std::string_view place);
  // Empties the builder. Throws if nothing was added.
  NamedVectors finish(ReadReport& report, std::string_view where);

 private:
  size_t dim_, rows_per_chunk_;
  uint64_t added_ = 0;
  Names names_;
  std::vector<Matrix> chunks_;
  uint64_t duplicates_ = 0, invalid_utf8_ = 0;
  std::string repaired_;
};

}  // namespace kith
