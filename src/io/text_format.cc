// SPDX-License-Identifier: Apache-2.0
// Vectors as lines of text: word2vec (and fastText's .vec) with a header line, GloVe without.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "io/vector_formats.h"

namespace kith {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Cuts the last field off `text` and returns it; both are trimmed.
std::string_view cut_last_field(std::string_view& text) {
  size_t begin = text.size();
  while (begin > 0 && !is_space(text[begin - 1])) --begin;
  const std::string_view field = text.substr(begin);
  text = trim(text.substr(0, begin));
  return field;
}

// Fills `values` from the last fields of a line and returns the name before them.
std::string_view parse_line(std::string_view line, std::span<float> values,
                            std::string_view place) {
  std::string_view rest = trim(line);
  for (size_t i = values.size(); i-- > 0;) {
    const std::string_view field = cut_last_field(rest);
    const std::optional<float> value = parse_float(field);
    if (rest.empty()) {
      throw fault(ErrorKind::kInput,
                  "{}: expected a word and {} numbers, found {} fields; correct or remove the line",
                  place, values.size(), values.size() - i);
    }
    if (!value) {
      throw fault(
          ErrorKind::kInput,
          "{}: expected a word and {} numbers, but {} is not a number; correct or remove the line",
          place, values.size(), shown(field));
    }
    values[i] = *value;
  }
  return rest;
}

// Reads lines until the end. A name with spaces is taken only where `spaces` allows it, and never
// when a number ends it: then the line has too many values.
void read_lines(VectorInput& input, VectorBuilder& builder, bool spaces) {
  std::vector<float> values(builder.dim());
  std::string_view line;
  while (input.line(line)) {
    if (trim(line).empty()) continue;
    const std::string place = fmt::format("{}:{}", input.where(), input.line_number());
    const std::string_view name = parse_line(line, values, place);
    if (std::any_of(name.begin(), name.end(), is_space)) {
      std::string_view before = name;
      if (!spaces || parse_float(cut_last_field(before))) {
        throw fault(ErrorKind::kInput,
                    "{}: more than a word and {} numbers (the word would be {}); correct or remove "
                    "the line",
                    place, builder.dim(), shown(name));
      }
    }
    builder.add(name, values, place);
  }
}

void write_rows(AtomicFile& file, const Names& names, const Vectors& vectors) {
  fmt::memory_buffer line;
  for_each_row(vectors, [&](size_t r, std::span<const float> row) {
    line.clear();
    line.append(names[r]);
    // Nine significant digits bring every float back.
    for (const float x : row) fmt::format_to(std::back_inserter(line), " {:.9g}", x);
    line.push_back('\n');
    file.write(std::string_view(line.data(), line.size()));
  });
}

}  // namespace

TextLine split_text_line(std::string_view line) {
  std::string_view rest = trim(line);
  TextLine out{rest, 0};
  while (!rest.empty()) {
    const std::string_view field = cut_last_field(rest);
    if (rest.empty() || !parse_float(field)) break;
    ++out.numbers;
    out.name = rest;
  }
  return out;
}

NamedVectors read_word2vec_text(VectorInput& input, ReadReport& report) {
  const Word2vecHeader header = take_word2vec_header(input);
  VectorBuilder builder(header.dim);
  read_lines(input, builder, false);
  if (builder.added() != header.rows) {
    throw fault(ErrorKind::kInput,
                "{}: the first line claims {} vectors but {} follow; the file is cut off, or its "
                "first line must be corrected",
                input.where(), header.rows, builder.added());
  }
  return builder.finish(report, input.where());
}

NamedVectors read_glove(VectorInput& input, ReadReport& report) {
  // The first line with anything on it tells the length of the vectors.
  std::string first;
  while (trim(first).empty()) {
    std::string_view line;
    if (!input.line(line)) {
      throw fault(ErrorKind::kInput, "{}: there is no vector in the file", input.where());
    }
    first = line;
  }
  const std::string place = fmt::format("{}:{}", input.where(), input.line_number());
  const size_t dim = split_text_line(first).numbers;
  if (dim == 0 || dim > kMaxDim) {
    throw fault(ErrorKind::kInput,
                "{}: expected a word and its numbers, found {}; this is not a file of vectors",
                place, shown(first));
  }
  VectorBuilder builder(dim);
  std::vector<float> values(dim);
  const std::string_view name = parse_line(first, values, place);
  builder.add(name, values, place);
  read_lines(input, builder, true);
  return builder.finish(report, input.where());
}

void write_word2vec_text(const std::string& path, const Names& names, const Vectors& vectors) {
  AtomicFile file(path);
  file.write(fmt::format("{} {}\n", vectors.rows(), vectors.cols()));
  write_rows(file, names, vectors);
  file.commit();
}

void write_glove(const std::string& path, const Names& names, const Vectors& vectors) {
  AtomicFile file(path);
  write_rows(file, names, vectors);
  file.commit();
}

}  // namespace kith
