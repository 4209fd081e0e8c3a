// SPDX-License-Identifier: Apache-2.0
#pragma once
// Vectors in the formats of other tools: word2vec text and binary, GloVe text, NumPy, CSV.

#include <cstdint>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "core/names.h"
#include "core/vectors.h"
#include "kith/vector_format.h"

namespace kith {

// Named vectors without their history.
struct NamedVectors {
  Names names;
  Matrix matrix;                 // names.size() rows
  std::vector<uint64_t> counts;  // per name, or empty when unknown
};

// Recognises the format from the bytes and reads it; plain, gzip or zstd. Memory never exceeds what
// the bytes of the file justify. Bad input is Error(kInput) with file, line and what was found:
// a wrong number of values, NaN or infinity, a header that claims more or less than there is.
// A word that stands twice keeps its first vector, a word that is not UTF-8 is repaired; the report
// counts both. A token may contain spaces in GloVe text (the last `dim` fields are the numbers)
// unless a number ends it. Rows without names (npy without FILE.names.txt, safetensors without a
// list of names) are called by their number from 0.
struct ReadReport {
  VectorFormat format;
  uint64_t duplicates = 0;    // dropped, the first was kept
  uint64_t invalid_utf8 = 0;  // names repaired with U+FFFD
};
NamedVectors read_vectors(const std::string& path, ReadReport* report = nullptr);

// Writes through AtomicFile. Text has 9 significant digits, so floats survive the round trip.
// kFastTextBin writes words without parts, and zeros for what training would go on from.
// kNpy writes FILE (the matrix, <f4, C order) and FILE + ".names.txt" (a name a line).
// A name that the format cannot hold (white space in word2vec text or binary, a line break in npy)
// is Error(kInput) that shows it, and so is a value that is not finite; then nothing is written.
void write_vectors(const std::string& path, VectorFormat format, const Names& names,
                   const Vectors& vectors);
inline void write_vectors(const std::string& path, VectorFormat format, const Names& names,
                          const Matrix& matrix) {
  write_vectors(path, format, names, MatrixVectors(matrix));
}

}  // namespace kith
