// SPDX-License-Identifier: Apache-2.0
#include "io/vector_files.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "io/archive.h"
#include "io/archive_header.h"
#include "io/fasttext_bin.h"
#include "io/vector_formats.h"

namespace kith {
namespace {

// Enough for the first two lines of any sensible text.
constexpr size_t kWindow = size_t{4} << 20;

constexpr std::string_view kOffsets = ".offsets";
constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

// Files that people bring and that are something else, with what to do.
struct Other {
  std::string_view magic, advice;
};
constexpr Other kOthers[] = {
    {"\x80\x02", "a Python pickle, which can run code; save the vectors as word2vec or npy"},
    {"\x80\x03", "a Python pickle, which can run code; save the vectors as word2vec or npy"},
    {"\x80\x04", "a Python pickle, which can run code; save the vectors as word2vec or npy"},
    {"\x80\x05", "a Python pickle, which can run code; save the vectors as word2vec or npy"},
    {"\xff\xfe", "text in UTF-16; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)"},
    {"\xfe\xff", "text in UTF-16; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)"},
};

void refuse_known_others(std::string_view start, const std::string& where) {
  for (const Other& other : kOthers) {
    if (start.starts_with(other.magic)) {
      throw fault(ErrorKind::kInput, "{}: this is {}", where, other.advice);
    }
  }
}

VectorFormat recognise(VectorInput& input) {
  std::string_view start = input.peek(kWindow);
  if (start.empty()) throw fault(ErrorKind::kInput, "{}: the file is empty", input.where());
  refuse_known_others(start, input.where());
  if (is_fasttext_bin(start)) return VectorFormat::kFastTextBin;
  if (start.starts_with(kNpyMagic)) return VectorFormat::kNpy;
  if (is_safetensors(start)) return VectorFormat::kSafetensors;
  if (start.starts_with("\xef\xbb\xbf")) {  // a byte order mark
    input.take(3);
    start.remove_prefix(3);
  }
  if (parse_word2vec_header(start.substr(0, start.find('\n')))) {
    return is_word2vec_binary(start) ? VectorFormat::kWord2vecBin : VectorFormat::kWord2vecText;
  }
  return is_csv(start) ? VectorFormat::kCsv : VectorFormat::kGlove;
}

// The name of the only matrix of floats.
std::string matrix_name(const Archive& archive) {
  std::string found;
  for (const auto& [name, t] : archive.tensors()) {
    if (t.dtype != DType::kF32 || t.shape.size() != 2) continue;
    if (!found.empty()) {
      throw fault(ErrorKind::kInput,
                  "{}: there are several matrices ({}, {}), so which one holds the vectors is not "
                  "clear; keep one of them",
                  archive.where(), shown(found), shown(name));
    }
    found = name;
  }
  if (found.empty()) {
    throw fault(ErrorKind::kInput, "{}: there is no tensor of type F32 with two dimensions",
                archive.where());
  }
  return found;
}

// The names of the rows under whatever title, or nothing if the file has no names at all.
std::optional<Names> row_names(const Archive& archive, size_t rows) {
  std::vector<std::string> fitting, others;
  for (const auto& [name, t] : archive.tensors()) {
    if (!name.ends_with(kOffsets)) continue;
    const std::string title = name.substr(0, name.size() - kOffsets.size());
    if (!archive.has(title + ".bytes")) continue;
    (t.shape.size() == 1 && t.shape[0] == rows + 1 ? fitting : others).push_back(title);
  }
  if (fitting.size() == 1) return archive.names(fitting[0]);
  if (fitting.empty() && others.empty()) return std::nullopt;
  throw fault(ErrorKind::kInput,
              "{}: {} lists of names fit the {} rows of the matrix, so their names are not clear",
              archive.where(), fitting.empty() ? "no" : "several", rows);
}

// Copies the vectors out through the same checks as every other format.
NamedVectors vectors_of(const Archive& archive, ReadReport& report) {
  const Matrix matrix = archive.matrix(matrix_name(archive));
  if (matrix.cols() > kMaxDim) {
    throw fault(ErrorKind::kInput, "{}: vectors of {} values; {} is the most", archive.where(),
                matrix.cols(), kMaxDim);
  }
  const std::optional<Names> names = row_names(archive, matrix.rows());
  VectorBuilder builder(matrix.cols());
  for (size_t r = 0; r < matrix.rows(); ++r) {
    const std::string place = fmt::format("{}: row {}", archive.where(), r + 1);
    builder.add(names ? std::string((*names)[r]) : std::to_string(r), matrix.row(r), place);
  }
  NamedVectors out = builder.finish(report, archive.where());
  const auto counts = archive.tensors().find("counts");
  if (counts != archive.tensors().end() && counts->second.dtype == DType::kU64 &&
      counts->second.shape == std::vector<uint64_t>{out.names.size()}) {
    out.counts = archive.values<uint64_t>("counts");
  }
  return out;
}

void check_writable(VectorFormat format, std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    throw fault(ErrorKind::kInput,
                "the name \"{}\" {}; export as csv or safetensors, which take any name",
                shown(name), why);
  };
  const bool spaced = name.find_first_of(kWhiteSpace) != std::string_view::npos;
  switch (format) {
    case VectorFormat::kWord2vecBin:
    case VectorFormat::kWord2vecText:
      if (spaced) refuse("has white space, which the word2vec formats cannot hold");
      break;
    case VectorFormat::kFastTextBin:
      if (spaced) refuse("has white space, which fastText's format cannot hold");
      break;
    case VectorFormat::kGlove:
      if (name.find_first_of("\t\n\v\f\r") != std::string_view::npos || name.starts_with(' ') ||
          name.ends_with(' ')) {
        refuse("has white space that GloVe's format cannot hold");
      }
      // A reader could not tell where such a name ends.
      if (spaced && parse_float(name.substr(name.rfind(' ') + 1))) {
        refuse("ends with a number, which GloVe's format cannot hold");
      }
      break;
    case VectorFormat::kNpy:
      if (name.find_first_of("\r\n") != std::string_view::npos) {
        refuse("has a line break, which the list of names beside npy cannot hold");
      }
      return;
    default:
      return;
  }
  if (name.empty()) refuse("is empty, which text formats cannot hold");
}

void check_vectors(VectorFormat format, const Names& names, const Vectors& vectors) {
  if (names.size() != vectors.rows()) {
    throw fault(ErrorKind::kUsage, "{} names for {} vectors", names.size(), vectors.rows());
  }
  for_each_row(vectors, [&](size_t r, std::span<const float> row) {
    check_writable(format, names[r]);
    if (!std::ranges::all_of(row, [](float x) { return std::isfinite(x); })) {
      throw fault(ErrorKind::kInput,
                  "the vector of \"{}\" has values that are not finite, so it is not written",
                  shown(names[r]));
    }
  });
}

}  // namespace

bool is_safetensors(std::string_view start) {
  uint64_t length = 0;
  if (start.size() < 9) return false;
  std::memcpy(&length, start.data(), 8);
  return length <= kMaxHeader && start[8] == '{';
}

NamedVectors read_safetensors(VectorInput& input, ReadReport& report) {
  const auto open = [&](bool checksum, std::string_view bytes) {
    return bytes.empty() ? Archive::open(input.path(), checksum)
                         : Archive::from_bytes(bytes, input.where(), checksum);
  };
  // A plain file is mapped; what comes compressed or through a pipe is unpacked first.
  std::string_view bytes;
  std::error_code ignored;
  const bool regular =
      input.path() != "-" && std::filesystem::is_regular_file(input.path(), ignored);
  const auto plain = [&] {
    const MappedFile file(input.path());
    return is_safetensors({file.bytes().data(), file.bytes().size()});
  };
  if (!regular || !plain()) bytes = input.peek(SIZE_MAX);
  Archive archive = open(false, bytes);
  // Ours carry a checksum; a foreign file has none.
  if (archive.metadata().contains("checksum")) archive = open(true, bytes);
  return vectors_of(archive, report);
}

void write_safetensors(const std::string& path, const Names& names, const Vectors& vectors) {
  ArchiveWriter writer;
  writer.metadata["kind"] = "vectors";
  const Matrix matrix = read_all(vectors);
  writer.tensors["vectors"] = tensor_of(matrix);
  writer.add_names("names", names);
  writer.save(path);
}

namespace {

NamedVectors read_plain(VectorInput& input, ReadReport& out) {
  switch (out.format) {
    case VectorFormat::kWord2vecBin:
      return read_word2vec_bin(input, out);
    case VectorFormat::kWord2vecText:
      return read_word2vec_text(input, out);
    case VectorFormat::kGlove:
      return read_glove(input, out);
    case VectorFormat::kNpy:
      return read_npy(input, out);
    case VectorFormat::kCsv:
      return read_csv(input, out);
    case VectorFormat::kFastTextBin:
      throw fault(ErrorKind::kInput, "{}: a model of fastText, not a table of vectors",
                  input.where());
    case VectorFormat::kSafetensors:
      break;
  }
  return read_safetensors(input, out);
}

void write_as_fasttext(const std::string& path, const Names& names, const Vectors& vectors) {
  FastTextHeader header;
  header.dim = static_cast<int32_t>(vectors.cols());
  header.words = names;
  header.counts.assign(names.size(), 1);
  header.tokens = static_cast<int64_t>(names.size());
  header.min_count = 1;
  const Matrix zeros(names.size(), vectors.cols());
  write_fasttext_bin(path, header, vectors, MatrixVectors(zeros));
}

}  // namespace

NamedVectors read_vectors(const std::string& path, ReadReport* report) {
  VectorInput input(path);
  ReadReport own{};
  ReadReport& out = report ? *report : own;
  out = {.format = recognise(input)};
  return read_plain(input, out);
}

std::variant<NamedVectors, FastTextFile> read_vectors_or_fasttext(const std::string& path,
                                                                  ReadReport& report) {
  VectorInput input(path);
  report = {.format = recognise(input)};
  if (report.format == VectorFormat::kFastTextBin) return read_fasttext_bin(input, report);
  return read_plain(input, report);
}

void write_vectors(const std::string& path, VectorFormat format, const Names& names,
                   const Vectors& vectors) {
  check_vectors(format, names, vectors);
  switch (format) {
    case VectorFormat::kWord2vecBin:
      return write_word2vec_bin(path, names, vectors);
    case VectorFormat::kWord2vecText:
      return write_word2vec_text(path, names, vectors);
    case VectorFormat::kGlove:
      return write_glove(path, names, vectors);
    case VectorFormat::kFastTextBin:
      return write_as_fasttext(path, names, vectors);
    case VectorFormat::kNpy:
      return write_npy(path, names, vectors);
    case VectorFormat::kCsv:
      return write_csv(path, names, vectors);
    case VectorFormat::kSafetensors:
      return write_safetensors(path, names, vectors);
  }
}

}  // namespace kith
