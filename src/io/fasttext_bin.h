// SPDX-License-Identifier: Apache-2.0
#pragma once
// Models of fastText, the files that it calls .bin and .ftz, as fastText 0.9.2 reads and writes
// them. What a model does with the numbers is not known here.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/matrix.h"
#include "core/names.h"
#include "core/vectors.h"
#include "io/vector_files.h"

namespace kith {

class VectorInput;

// All that such a file says besides its two tables. Behind each name: fastText's, if it differs.
struct FastTextHeader {
  enum class Loss : int32_t { kHs = 1, kNs = 2, kSoftmax = 3, kOva = 4 };
  enum class Kind : int32_t { kCbow = 1, kSkipGram = 2, kSupervised = 3 };

  int32_t dim = 100;
  int32_t window = 5;     // ws
  int32_t epochs = 5;     // epoch
  int32_t min_count = 5;  // minCount
  int32_t negatives = 5;  // neg
  int32_t word_ngrams = 1;
  Loss loss = Loss::kNs;
  Kind kind = Kind::kSkipGram;   // model
  int32_t buckets = 0;           // bucket: rows for n-grams of letters and of words
  int32_t min_n = 0, max_n = 0;  // letters of an n-gram; where max_n > 0 there are buckets
  int32_t lr_update_rate = 100;  // lrUpdateRate
  double sample = 1e-4;          // t
  int64_t tokens = 0;            // ntokens
  Names words;                   // in the order of the file, which is that of the rows
  std::vector<uint64_t> counts;  // a word
  Names labels;                  // with what the file has in front of them, such as __label__
  std::vector<uint64_t> label_counts;
  // Which buckets a file that was cut down has kept: (bucket, row behind those of the words). The
  // others have no row and count for nothing. None: all have theirs, in order.
  std::optional<std::vector<std::pair<int32_t, int32_t>>> pruned;

  // Of the two tables.
  uint64_t input_rows() const {
    return words.size() + (pruned ? pruned->size() : static_cast<uint64_t>(buckets));
  }
  uint64_t output_rows() const { return kind == Kind::kSupervised ? labels.size() : words.size(); }
};

struct FastTextFile : FastTextHeader {
  bool quantised = false;  // the input, and maybe the output, was stored in 8-bit codes
  Matrix input;            // input_rows() x dim: a row per word, then one per bucket
  Matrix output;           // output_rows() x dim: per word or label; with kHs per inner node
};

// Whether a file that begins so is one; whether it can be read is another question.
bool is_fasttext_bin(std::string_view first_bytes);

// Versions 11 and 12; plain, gzip, zstd, xz or bzip2. Product-quantised tables become plain rows.
// Memory never exceeds what the bytes of the file justify. Bad input is Error(kInput) with the file
// and what was found: one that is cut off or goes on behind its end, sizes that contradict each
// other, values that are not finite.
// A name that is not UTF-8 is repaired; its n-grams are then others than fastText's. A name that
// stands twice, perhaps since it was repaired, keeps its first row. The report counts both.
FastTextFile read_fasttext_bin(const std::string& path, ReadReport* report = nullptr);
// The same from a stream at its first byte. Private to src/io.
FastTextFile read_fasttext_bin(VectorInput& input, ReadReport& report);

// One of these, or what read_vectors() reads; recognised by the bytes.
std::variant<NamedVectors, FastTextFile> read_vectors_or_fasttext(const std::string& path,
                                                                  ReadReport& report);

// Writes version 12, not quantised, through AtomicFile. What fastText could not read again is
// Error(kInput), and then nothing is written: a name with a zero byte, a value that is not finite,
// buckets that were pruned (fastText has those in quantised files alone). Tables or counts that do
// not fit the names are Error(kUsage).
void write_fasttext_bin(const std::string& path, const FastTextHeader& header, const Vectors& input,
                        const Vectors& output);
inline void write_fasttext_bin(const std::string& path, const FastTextFile& file) {
  write_fasttext_bin(path, file, MatrixVectors(file.input), MatrixVectors(file.output));
}

// Where fastText looks for an n-gram, modulo the buckets: FNV-1a over bytes with their sign.
constexpr uint32_t fasttext_hash(std::string_view text) {
  uint32_t h = 2166136261u;
  for (const char c : text) {
    h = (h ^ static_cast<uint32_t>(static_cast<int8_t>(c))) * 16777619u;
  }
  return h;
}

}  // namespace kith
