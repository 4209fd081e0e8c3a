// SPDX-License-Identifier: Apache-2.0
#include "train/quantise.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "io/quantised.h"

namespace kith {
namespace {

Matrix random_table(size_t rows, size_t cols) {
  Matrix out(rows, cols);
  Rng rng(3, 0);
  for (size_t r = 0; r < rows; ++r) {
    for (float& x : out.row(r)) x = rng.uniform() - 0.5f;
  }
  return out;
}

Matrix decoded(const Quantised& q, size_t rows) {
  Matrix out(rows, q.centroids.cols());
  for (size_t r = 0; r < rows; ++r) {
    const auto* const codes = reinterpret_cast<const uint8_t*>(q.codes.data()) + r * q.parts;
    decode_row({codes, q.parts}, q.centroids, out.row(r));
  }
  return out;
}

double error(const Matrix& a, const Matrix& b) {
  double out = 0;
  for (size_t r = 0; r < a.rows(); ++r) {
    for (size_t k = 0; k < a.cols(); ++k) {
      const double d = double{a.row(r)[k]} - double{b.row(r)[k]};
      out += d * d;
    }
  }
  return out / static_cast<double>(a.rows() * a.cols());
}

// Of a square with sides of 1 in n equal squares each number is 1 / (12 n) away, squared; k-means
// comes within a third of the best.
TEST(Quantise, MoreCentroidsLoseLess) {
  const Matrix table = random_table(5000, 6);
  double before = 1;
  for (const size_t n : {1, 4, 16, 64, 256}) {
    const Quantised q = quantise(table, {.centroids = n}, Context(1));
    EXPECT_EQ(q.centroids.rows(), n);
    const double now = error(table, decoded(q, table.rows()));
    EXPECT_LT(now, before) << n;
    EXPECT_LT(now, 1.34 / (12.0 * static_cast<double>(n))) << n;
    before = now;
  }
}

TEST(Quantise, WiderPartsLoseMore) {
  const Matrix table = random_table(3000, 12);
  double before = 0;
  for (const size_t width : {1, 2, 3, 5, 12}) {
    const Quantised q = quantise(table, {.width = width}, Context(1));
    const double now = error(table, decoded(q, table.rows()));
    EXPECT_EQ(q.parts, (12 + width - 1) / width);
    EXPECT_GT(now, before) << width;
    before = now;
  }
  EXPECT_EQ(quantise(table, {.width = 40}, Context(1)).parts, 1u);
}

TEST(Quantise, FewRowsAreExact) {
  for (const size_t rows : {1, 2, 17, 256}) {
    const Matrix table = random_table(rows, 7);
    EXPECT_EQ(error(table, decoded(quantise(table, {.width = 3}, Context(1)), rows)), 0);
  }
  Matrix many(1000, 4);  // many rows, of few different values
  for (size_t r = 0; r < many.rows(); ++r) {
    for (float& x : many.row(r)) x = static_cast<float>(r % 200) / 7;
  }
  EXPECT_EQ(error(many, decoded(quantise(many, {}, Context(1)), 1000)), 0);
}

TEST(Quantise, TheSameBitsByAnyThreads) {
  const Matrix table = random_table(2000, 9);
  const Quantised one = quantise(table, {}, Context(1));
  for (const int threads : {2, 5}) {
    const Quantised other = quantise(table, {}, Context(threads));
    EXPECT_EQ(one.codes, other.codes);
    EXPECT_EQ(error(one.centroids, other.centroids), 0);
  }
  EXPECT_NE(one.codes, quantise(table, {.seed = 2}, Context(1)).codes);
}

// No row is nearer to another centroid than to its own.
TEST(Quantise, CodesAreOfTheNearest) {
  const Matrix table = random_table(700, 2);
  const Quantised q = quantise(table, {.centroids = 37}, Context(1));
  for (size_t r = 0; r < table.rows(); ++r) {
    const auto distance = [&](size_t c) {
      const auto x = table.row(r), y = q.centroids.row(c);
      return (x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]);
    };
    for (size_t c = 0; c < 37; ++c) {
      EXPECT_LE(distance(static_cast<uint8_t>(q.codes[r])), distance(c) + 1e-7f);
    }
  }
}

}  // namespace
}  // namespace kith
