// SPDX-License-Identifier: Apache-2.0
#pragma once
// Models of fastText for the tests of this folder: one that fastText made, and ones made here.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "io/fasttext_bin.h"
#include "io/test_files.h"

namespace kith::testing {

using namespace std::string_view_literals;
using Kind = FastTextHeader::Kind;
using Loss = FastTextHeader::Loss;

// What `fasttext cbow -dim 2 -epoch 1 -minCount 1 -bucket 2 -minn 1 -maxn 2` of version 0.9.2 made
// of "a été a __label__x".
inline constexpr std::string_view kOfFastText =
    "\xba\x16\x4f\x2f\x0c\0\0\0\x02\0\0\0\x05\0\0\0"
    "\x01\0\0\0\x01\0\0\0\x05\0\0\0\x01\0\0\0"
    "\x02\0\0\0\x01\0\0\0\x02\0\0\0\x01\0\0\0"
    "\x02\0\0\0\x64\0\0\0\x2d\x43\x1c\xeb\xe2\x36\x1a\x3f"
    "\x04\0\0\0\x03\0\0\0\x01\0\0\0\x05\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"
    "a\0\x02\0\0\0\0\0\0\0\0"
    "\xc3\xa9t\xc3\xa9\0\x01\0\0\0\0\0\0\0\0"
    "</s>\0\x01\0\0\0\0\0\0\0\0"
    "__label__x\0\x01\0\0\0\0\0\0\0\x01"
    "\0\x05\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"
    "\xa0\x76\xd4\xbe\xa0\x76\xd4\xbe\x41\xed\xa8\xbe\xc3\xc7\x7a\xbe"
    "\x04\xb5\x23\xbe\x89\x44\x99\xbd\xa6\x07\x27\x3c\x73\x06\xc3\x3d"
    "\xf9\x95\x38\x3e\x5c\xd4\x87\x3e"
    "\0\x03\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv;
// Where things stand in it.
inline constexpr size_t kDim = 8, kKind = 36, kLoss = 32, kBuckets = 40, kMinN = 44, kEntries = 64,
                        kWords = 68, kTokens = 76, kPruned = 84, kNames = 92, kCount = 94,
                        kType = 102, kInputFlag = 152, kInputRows = 153, kInputCols = 161,
                        kInput = 169, kOutputFlag = 209, kOutputRows = 210;

template <class T>
inline std::string bytes_of_number(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}
template <class T>
inline std::string with(std::string_view bytes, size_t at, T value) {
  std::string out(bytes);
  return out.replace(at, sizeof(T), bytes_of_number(value));
}

inline FastTextFile read_bytes(std::string_view bytes, ReadReport* report = nullptr) {
  const TempFolder folder;
  return read_fasttext_bin(put(folder / "f.bin", bytes), report);
}

inline std::string written(const FastTextFile& file) {
  const TempFolder folder;
  write_fasttext_bin(folder / "f.bin", file);
  return get(folder / "f.bin");
}

inline void fill(Matrix& m, float first) {
  for (size_t r = 0; r < m.rows(); ++r) {
    for (size_t c = 0; c < m.cols(); ++c) {
      m.row(r)[c] = first + 0.1f * static_cast<float>(r) - 0.037f * static_cast<float>(c);
    }
  }
}

inline FastTextFile sample(Kind kind, Loss loss, size_t words = 5, int32_t dim = 3) {
  FastTextFile f;
  f.dim = dim, f.window = 4, f.epochs = 7, f.min_count = 2, f.negatives = 6, f.word_ngrams = 2;
  f.kind = kind, f.loss = loss, f.buckets = 4, f.min_n = 3, f.max_n = 6, f.lr_update_rate = 50;
  f.sample = 3e-5, f.tokens = int64_t{1} << 40;
  for (size_t i = 0; i < words; ++i) {
    f.words.add(i == 1 ? "grün" : "w" + std::to_string(i));
    f.counts.push_back((words - i) << 33);
  }
  for (const char* label : {"__label__a", "__label__ü"}) f.labels.add(label);
  f.label_counts = {9, 8};
  f.input = Matrix(f.input_rows(), static_cast<size_t>(dim));
  f.output = Matrix(f.output_rows(), static_cast<size_t>(dim));
  fill(f.input, -0.5f);
  fill(f.output, 2.25f);
  return f;
}

inline void expect_equal(const Matrix& a, const Matrix& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  for (size_t r = 0; r < a.rows(); ++r) {
    EXPECT_EQ(std::memcmp(a.row(r).data(), b.row(r).data(), a.cols() * 4), 0) << "row " << r;
  }
}

inline void expect_equal(const FastTextFile& a, const FastTextFile& b) {
  const auto settings = [](const FastTextFile& f) {
    return std::tuple(f.dim, f.window, f.epochs, f.min_count, f.negatives, f.word_ngrams, f.loss,
                      f.kind, f.buckets, f.min_n, f.max_n, f.lr_update_rate, f.sample, f.tokens,
                      f.counts, f.label_counts, f.words.bytes(), f.labels.bytes());
  };
  EXPECT_EQ(settings(a), settings(b));
  expect_equal(a.input, b.input);
  expect_equal(a.output, b.output);
}

// --- Quantised files, which only fastText makes from real models ---

inline std::string codebook(int32_t dim, int32_t width, const std::vector<float>& centroids) {
  std::string out;
  for (const int32_t n : {dim, (dim + width - 1) / width, width, (dim - 1) % width + 1}) {
    out += bytes_of_number(n);
  }
  for (const float x : centroids) out += bytes_of_number(x);
  return out;
}

// Centroid c of a vector of three values in parts of two: (c, c + 0.5), then (-c).
inline std::string codebook_of_three() {
  std::vector<float> values;
  for (int c = 0; c < 256; ++c) {
    values.insert(values.end(), {static_cast<float>(c), static_cast<float>(c) + 0.5f});
  }
  for (int c = 0; c < 256; ++c) values.push_back(static_cast<float>(-c));
  return codebook(3, 2, values);
}

inline std::string quantised_table(int64_t rows, bool norms) {
  std::string out = bytes_of_number(norms) + bytes_of_number(rows) + bytes_of_number(int64_t{3}) +
                    bytes_of_number(static_cast<int32_t>(2 * rows));
  for (int64_t r = 0; r < rows; ++r) out += {static_cast<char>(200 + r), static_cast<char>(r)};
  out += codebook_of_three();
  if (!norms) return out;
  for (int64_t r = 0; r < rows; ++r) out += static_cast<char>(255 - r);
  std::vector<float> lengths(256);
  for (size_t i = 0; i < 256; ++i) lengths[i] = static_cast<float>(i) / 256;
  return out + codebook(1, 1, lengths);
}

// A classifier of three words, two labels and, of four buckets, two that were kept.
inline std::string quantised(bool norms, bool quantised_output, bool pruned) {
  FastTextFile f = sample(Kind::kSupervised, Loss::kSoftmax, 3);
  std::string out = written(f);
  const auto tables = 1 + 16 + f.input.rows() * 12 + 1 + 16 + f.output.rows() * 12;
  const std::string output = out.substr(out.size() - 16 - f.output.rows() * 12);
  out.resize(out.size() - tables);
  if (pruned) {
    out = with(out, kPruned, int64_t{2});
    for (const int32_t n : {3, 0, 1, 1}) out += bytes_of_number(n);
  }
  out += '\1' + quantised_table(pruned ? 5 : 7, norms);
  out += bytes_of_number(quantised_output);
  return out + (quantised_output ? quantised_table(2, false) : output);
}

// Where a file that quantised() made says how many bytes of codes there are.
inline size_t codes_in(std::string_view bytes) {
  return bytes.find(bytes_of_number(int64_t{7}) + bytes_of_number(int64_t{3})) + 16;
}

// Whatever is read keeps the promises of the struct.
inline void expect_sound(const FastTextFile& f) {
  EXPECT_GT(f.words.size(), 0u);
  EXPECT_EQ(f.counts.size(), f.words.size());
  EXPECT_EQ(f.label_counts.size(), f.labels.size());
  EXPECT_EQ(f.input.rows(), f.input_rows());
  EXPECT_EQ(f.output.rows(), f.output_rows());
  EXPECT_EQ(f.input.cols(), static_cast<size_t>(f.dim));
  EXPECT_TRUE(all_finite(f.input) && all_finite(f.output));
  if (!f.pruned) return;
  for (const auto& [bucket, row] : *f.pruned) {
    EXPECT_TRUE(bucket >= 0 && bucket < f.buckets);
    EXPECT_LT(f.words.size() + static_cast<size_t>(row), f.input.rows());
  }
}

}  // namespace kith::testing
