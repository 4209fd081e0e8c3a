// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace kith {

// Rows are padded to a multiple of this many floats (one AVX-512 register) with zeros, so
// kernels need no tails. Padding never leaves this class: files and Python see `cols`.
inline constexpr size_t kRowPad = 16;
inline constexpr size_t padded(size_t cols) { return (cols + kRowPad - 1) / kRowPad * kRowPad; }

// Non-owning view of padded rows, for kernels.
struct Rows {
  float* data;
  size_t stride;  // floats per row, a multiple of kRowPad
  float* row(size_t i) const { return data + i * stride; }
};
struct ConstRows {
  const float* data;
  size_t stride;
  const float* row(size_t i) const { return data + i * stride; }
};

namespace detail {
struct Unmap {
  size_t bytes = 0;
  void operator()(float* p) const;
};
}  // namespace detail

// Owning row-major matrix of floats, 64-byte aligned, zero at first. Large ones ask for huge
// pages: random rows of a big table cost a TLB miss each without them. Memory is committed
// when it is first written. Throws Error(kLimit) when there is none.
class Matrix {
 public:
  Matrix() = default;
  Matrix(size_t rows, size_t cols);
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  Matrix(Matrix&& other) noexcept { swap(other); }
  Matrix& operator=(Matrix&& other) noexcept {
    Matrix taken(std::move(other));  // what is moved from is empty, not half alive
    swap(taken);
    return *this;
  }

  size_t rows() const { return rows_; }
  size_t cols() const { return cols_; }
  size_t stride() const { return stride_; }
  std::span<float> row(size_t i) { return {data_.get() + i * stride_, cols_}; }
  std::span<const float> row(size_t i) const { return {data_.get() + i * stride_, cols_}; }
  Rows view() { return {data_.get(), stride_}; }
  ConstRows view() const { return {data_.get(), stride_}; }

  Matrix copy() const;

 private:
  void swap(Matrix& other) noexcept {
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(stride_, other.stride_);
    data_.swap(other.data_);
  }
  size_t rows_ = 0, cols_ = 0, stride_ = 0;
  std::unique_ptr<float[], detail::Unmap> data_;
};

// Whether no value is NaN or infinite.
bool all_finite(const Matrix& m);

}  // namespace kith
