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
//
// Or one that is borrowed, as it stands in a mapped file: rows without padding, to be read one by
// one. Kernels get no view of it.
class Matrix {
 public:
  Matrix() = default;
  Matrix(size_t rows, size_t cols);
  // `keep` owns the floats, which stay as long as it lives.
  static Matrix borrowed(const float* data, size_t rows, size_t cols,
                         std::shared_ptr<const void> keep);
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
  bool is_borrowed() const { return keep_ != nullptr; }
  std::span<float> row(size_t i) { return {own() + i * stride_, cols_}; }
  std::span<const float> row(size_t i) const { return {data() + i * stride_, cols_}; }
  Rows view() { return {own(), stride_}; }
  ConstRows view() const { return {own(), stride_}; }
  // The bytes of a row are `stride()` floats from those of the next, padded or not.
  const float* data() const { return keep_ ? borrowed_ : data_.get(); }

  Matrix copy() const;  // always owned

 private:
  void swap(Matrix& other) noexcept {
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(stride_, other.stride_);
    data_.swap(other.data_);
    std::swap(borrowed_, other.borrowed_);
    keep_.swap(other.keep_);
  }
  float* own() const {
    if (keep_) [[unlikely]]
      refuse_view();
    return data_.get();
  }
  [[noreturn]] static void refuse_view();
  size_t rows_ = 0, cols_ = 0, stride_ = 0;
  std::unique_ptr<float[], detail::Unmap> data_;
  const float* borrowed_ = nullptr;
  std::shared_ptr<const void> keep_;
};

// Whether no value is NaN or infinite.
bool all_finite(const Matrix& m);

}  // namespace kith
