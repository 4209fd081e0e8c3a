// SPDX-License-Identifier: Apache-2.0
#pragma once
// Models of fastText for the tests of this folder.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "io/fasttext_bin.h"
#include "io/test_fasttext_bytes.h"
#include "io/test_files.h"

namespace kith::testing {

using Kind = FastTextHeader::Kind;
using Loss = FastTextHeader::Loss;

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
