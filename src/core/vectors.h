// SPDX-License-Identifier: Apache-2.0
#pragma once
// Vectors that are read block by block, so that whoever looks through all of them needs no copy of
// the table: of a matrix in memory or in a mapped file, or made on the way.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "core/matrix.h"
#include "kith/context.h"

namespace kith {

class Vectors {
 public:
  virtual ~Vectors() = default;
  virtual size_t rows() const = 0;
  virtual size_t cols() const = 0;
  // Rows [first, first + count) into the first cols() floats of `out`. From many threads at once.
  virtual void read(size_t first, size_t count, Rows out) const = 0;
  // How far the direction of each row is to be trusted, 0 to 1: a search for neighbours multiplies
  // its cosines by it. None: all are.
  virtual std::span<const float> trust() const { return {}; }
};

// Some rows, and of them the first so many columns, of a matrix, which must outlive it; so must the
// trust in these rows, if there is one.
class MatrixVectors final : public Vectors {
 public:
  explicit MatrixVectors(const Matrix& m) : MatrixVectors(m, 0, m.rows(), m.cols()) {}
  MatrixVectors(const Matrix& m, size_t first, size_t rows, size_t cols,
                std::span<const float> trust = {})
      : m_(m), first_(first), rows_(rows), cols_(cols), trust_(trust) {}
  size_t rows() const override { return rows_; }
  size_t cols() const override { return cols_; }
  void read(size_t first, size_t count, Rows out) const override {
    for (size_t r = 0; r < count; ++r) {
      const auto from = m_.row(first_ + first + r).first(cols_);
      std::copy(from.begin(), from.end(), out.row(r));
    }
  }
  std::span<const float> trust() const override { return trust_; }

 private:
  const Matrix& m_;
  size_t first_, rows_, cols_;
  std::span<const float> trust_;
};

// The same, until whoever waits for them has had enough: then Error(kCancelled).
class WatchedVectors final : public Vectors {
 public:
  WatchedVectors(const Vectors& vectors, const Context& context)
      : vectors_(vectors), context_(context) {}
  size_t rows() const override { return vectors_.rows(); }
  size_t cols() const override { return vectors_.cols(); }
  void read(size_t first, size_t count, Rows out) const override {
    context_.check();
    vectors_.read(first, count, out);
  }

 private:
  const Vectors& vectors_;
  const Context& context_;
};

// The sums of the rows of two matrices of one shape.
class SumVectors final : public Vectors {
 public:
  SumVectors(const Matrix& a, const Matrix& b) : a_(a), b_(b) {}
  size_t rows() const override { return a_.rows(); }
  size_t cols() const override { return a_.cols(); }
  void read(size_t first, size_t count, Rows out) const override {
    for (size_t r = 0; r < count; ++r) {
      const auto a = a_.row(first + r), b = b_.row(first + r);
      std::transform(a.begin(), a.end(), b.begin(), out.row(r), std::plus<>{});
    }
  }

 private:
  const Matrix &a_, &b_;
};

// Calls f(row, vector) for one after the other, some read at a time.
template <class F>
void for_each_row(const Vectors& vectors, F&& f) {
  constexpr size_t kRows = 256;
  if (vectors.cols() == 0) {
    for (size_t r = 0; r < vectors.rows(); ++r) f(r, std::span<const float>());
    return;
  }
  Matrix block(std::min(kRows, vectors.rows()), vectors.cols());
  for (size_t first = 0; first < vectors.rows(); first += kRows) {
    const size_t count = std::min(kRows, vectors.rows() - first);
    vectors.read(first, count, block.view());
    for (size_t r = 0; r < count; ++r) f(first + r, std::as_const(block).row(r));
  }
}

// All of them, as a matrix.
inline Matrix read_all(const Vectors& vectors) {
  Matrix out(vectors.rows(), vectors.cols());
  if (out.cols() > 0) vectors.read(0, vectors.rows(), out.view());
  return out;
}

}  // namespace kith
