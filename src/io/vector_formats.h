// SPDX-License-Identifier: Apache-2.0
#pragma once
// One reader and one writer per format, behind read_vectors() and write_vectors(). Private to
// src/io. Readers get the input at its first byte, the format already recognised.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/vector_files.h"
#include "io/vector_input.h"

namespace kith {

// "ROWS DIM", the first line of the word2vec formats; nothing if the line is something else.
struct Word2vecHeader {
  uint64_t rows, dim;
};
std::optional<Word2vecHeader> parse_word2vec_header(std::string_view line);
Word2vecHeader take_word2vec_header(VectorInput& input);  // Error if absurd
// Whether `start` (the first bytes, header line included) goes on in binary rather than in text.
bool is_word2vec_binary(std::string_view start);

NamedVectors read_word2vec_bin(VectorInput& input, ReadReport& report);
NamedVectors read_word2vec_text(VectorInput& input, ReadReport& report);
NamedVectors read_glove(VectorInput& input, ReadReport& report);

bool is_csv(std::string_view start);
NamedVectors read_csv(VectorInput& input, ReadReport& report);

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
NamedVectors read_npy(VectorInput& input, ReadReport& report);

bool is_safetensors(std::string_view start);
NamedVectors read_safetensors(VectorInput& input, ReadReport& report);

// Splits "NAME 1 2 3" at its last numbers. The name may contain spaces.
struct TextLine {
  std::string_view name;
  size_t numbers;  // how many numbers end the line, at least one field being the name
};
TextLine split_text_line(std::string_view line);

void write_word2vec_bin(const std::string& path, const Names& names, const Vectors& vectors);
void write_word2vec_text(const std::string& path, const Names& names, const Vectors& vectors);
void write_glove(const std::string& path, const Names& names, const Vectors& vectors);
void write_csv(const std::string& path, const Names& names, const Vectors& vectors);
void write_npy(const std::string& path, const Names& names, const Vectors& vectors);
void write_safetensors(const std::string& path, const Names& names, const Vectors& vectors);

}  // namespace kith
