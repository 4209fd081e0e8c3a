// SPDX-License-Identifier: Apache-2.0
#pragma once
// Helpers of the tests of this folder: named vectors, and the definitions in plain double
// precision.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "core/test_errors.h"
#include "query/analogy.h"
#include "query/index.h"
#include "query/search.h"

namespace kith {

inline float normal(Rng& rng) {
  float sum = -6;  // twelve uniform numbers have variance 1
  for (int i = 0; i < 12; ++i) sum += rng.uniform();
  return sum;
}

inline Matrix random_matrix(size_t rows, size_t dim, uint64_t seed) {
  Matrix m(rows, dim);
  for (size_t i = 0; i < rows; ++i) {
    Rng rng(seed, i);
    for (float& x : m.row(i)) x = normal(rng);
  }
  return m;
}

// Names and vectors that live as long as the index over them, and the same vectors with length 1.
struct TestSpace {
  explicit TestSpace(const Matrix& m) : TestSpace(numbered(m.rows()), m) {}
  TestSpace(Names given, const Matrix& m)
      : names(std::move(given)),
        vectors(m.copy()),
        unit(m.rows(), m.cols()),
        space(names, std::make_shared<MatrixVectors>(vectors)) {
    for (size_t r = 0; r < m.rows(); ++r) query::copy_unit(m.row(r), unit.row(r));
  }
  TestSpace(const TestSpace&) = delete;
  TestSpace& operator=(const TestSpace&) = delete;

  static Names numbered(size_t count) {
    Names names;
    for (size_t i = 0; i < count; ++i) names.add(fmt::format("w{}", i));
    return names;
  }

  const Names names;
  const Matrix vectors;
  Matrix unit;
  const Index space;
};

inline std::vector<std::vector<Hit>> nearest_of(const Index& index, const Matrix& queries,
                                                std::span<const std::vector<uint32_t>> exclude,
                                                const SearchOptions& options, int threads = 1) {
  return nearest(index, queries, exclude, options, Context(threads));
}

struct WordVector {
  std::string word;
  std::vector<float> vector;
};
inline std::pair<Names, Matrix> named(const std::vector<WordVector>& words) {
  Names names;
  Matrix m(words.size(), words.at(0).vector.size());
  for (size_t i = 0; i < words.size(); ++i) {
    names.add(words[i].word);
    std::copy(words[i].vector.begin(), words[i].vector.end(), m.row(i).begin());
  }
  return {std::move(names), std::move(m)};
}

inline double exact_cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

inline bool same(const std::vector<std::vector<Hit>>& a, const std::vector<std::vector<Hit>>& b) {
  const auto equal = [](const Hit& x, const Hit& y) {
    return x.row == y.row && x.score == y.score;  // the bits, not nearly
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
  });
}

}  // namespace kith
