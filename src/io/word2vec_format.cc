// SPDX-License-Identifier: Apache-2.0
// The binary format of word2vec: "ROWS DIM\n", then per row its name, a space, DIM little-endian
// floats and, from most writers, a newline.

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/error.h"
#include "io/vector_formats.h"

namespace kith {
namespace {

constexpr size_t kMaxName = size_t{1} << 16;

// What text has nowhere: control characters, or bytes that are not UTF-8.
bool has_binary(std::string_view bytes) {
  const auto control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && (c < '\t' || c > '\r');
  };
  std::string repaired;
  // The window may end inside a character, so its last bytes do not count.
  const std::string_view whole = bytes.substr(0, bytes.size() < 4 ? 0 : bytes.size() - 3);
  return std::any_of(bytes.begin(), bytes.end(), control) || repair_utf8(whole, repaired);
}

// Takes the name and the space behind it. Newlines in front belong to the row before.
std::string take_name(VectorInput& input, uint64_t row) {
  std::string_view ahead = input.peek(1);
  while (!ahead.empty() && (ahead[0] == '\n' || ahead[0] == '\r')) {
    input.take(1);
    ahead = input.peek(1);
  }
  size_t space = ahead.find(' ');
  if (space == std::string_view::npos) space = (ahead = input.peek(kMaxName)).find(' ');
  if (space == std::string_view::npos || space > kMaxName) {
    throw fault(ErrorKind::kInput,
                "{}: vector {}: no name with a space behind it; the file is cut off or damaged",
                input.where(), row + 1);
  }
  std::string name(ahead.substr(0, space));
  input.take(space + 1);
  if (name.empty()) {
    throw fault(ErrorKind::kInput, "{}: vector {} has an empty name; the file is damaged",
                input.where(), row + 1);
  }
  return name;
}

}  // namespace

std::optional<Word2vecHeader> parse_word2vec_header(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  const char* const end = line.data() + line.size();
  Word2vecHeader header{};
  const auto rows = std::from_chars(line.data(), end, header.rows);
  if (rows.ec != std::errc() || rows.ptr == end || (*rows.ptr != ' ' && *rows.ptr != '\t')) {
    return std::nullopt;
  }
  const char* next = rows.ptr;
  while (next != end && (*next == ' ' || *next == '\t')) ++next;
  const auto dim = std::from_chars(next, end, header.dim);
  if (dim.ec != std::errc() || dim.ptr != end) return std::nullopt;
  return header;
}

Word2vecHeader take_word2vec_header(VectorInput& input) {
  std::string_view line;
  input.line(line);
  const auto header = parse_word2vec_header(line);
  if (!header || header->dim == 0 || header->dim > kMaxDim) {
    throw fault(ErrorKind::kInput,
                "{}: the first line must say how many vectors there are and their length from 1 to "
                "{}; found {}",
                input.where(), kMaxDim, shown(line));
  }
  return *header;
}

bool is_word2vec_binary(std::string_view start) {
  const size_t line = start.find('\n');
  if (line == std::string_view::npos) return false;
  const std::string_view body = start.substr(line + 1);
  const std::string_view second = body.substr(0, body.find('\n'));
  // A whole line of text decides; else a single byte that text cannot have.
  const auto header = parse_word2vec_header(start.substr(0, line));
  if (header && split_text_line(second).numbers == header->dim) return false;
  return has_binary(body.substr(0, size_t{1} << 16));
}

NamedVectors read_word2vec_bin(VectorInput& input, ReadReport& report) {
  const Word2vecHeader header = take_word2vec_header(input);
  VectorBuilder builder(header.dim);
  std::vector<float> values(header.dim);
  const size_t bytes = header.dim * sizeof(float);
  for (uint64_t row = 0; row < header.rows; ++row) {
    if (input.peek(2).size() < 2) {
      throw fault(ErrorKind::kInput,
                  "{}: the header claims {} vectors but the file ends after {}; it is cut off",
                  input.where(), header.rows, row);
    }
    const std::string name = take_name(input, row);
    const std::string_view data = input.take(bytes);
    if (data.size() < bytes) {
      throw fault(ErrorKind::kInput,
                  "{}: the file ends inside vector {} of {} ({} of {} bytes); it is cut off",
                  input.where(), row + 1, header.rows, data.size(), bytes);
    }
    std::memcpy(values.data(), data.data(), bytes);
    builder.add(name, values, fmt::format("{}: vector {}", input.where(), row + 1));
  }
  const std::string_view rest = input.peek(2);
  if (!rest.empty() && rest != "\n") {
    throw fault(ErrorKind::kInput,
                "{}: bytes follow the {} vectors that the header claims; the file is damaged",
                input.where(), header.rows);
  }
  return builder.finish(report, input.where());
}

void write_word2vec_bin(const std::string& path, const Names& names, const Vectors& vectors) {
  AtomicFile file(path);
  file.write(fmt::format("{} {}\n", vectors.rows(), vectors.cols()));
  for_each_row(vectors, [&](size_t r, std::span<const float> row) {
    file.write(names[r]);
    file.write(" ");
    file.write(std::span(reinterpret_cast<const char*>(row.data()), row.size_bytes()));
    file.write("\n");
  });
  file.commit();
}

}  // namespace kith
