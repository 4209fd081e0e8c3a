// SPDX-License-Identifier: Apache-2.0
#include "data/matrix/row_sources.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kith {
namespace {

// What is read at a time: rows of it are converted while they are in the cache.
constexpr size_t kPiece = size_t{256} << 10;

// IEEE binary16.
double from_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double size = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent == 31 ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                                       : std::ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 ? -size : size;
}

struct Half {
  uint16_t bits;
};

template <class T>
double number_of(T x) {
  if constexpr (std::is_same_v<T, Half>) {
    return from_half(x.bits);
  } else {
    return static_cast<double>(x);
  }
}

template <class T>
void swap_bytes(char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    std::reverse(bytes + i * sizeof(T), bytes + (i + 1) * sizeof(T));
}

template <class T>
class StoredRows final : public RowSource {
 public:
  StoredRows(ReadBytes read, const NumberLayout& layout)
      : read_(std::move(read)), layout_(layout) {}
  uint64_t rows() const override { return layout_.rows; }
  size_t cols() const override { return layout_.cols; }
  uint64_t bytes() const override { return 0; }

  void read(uint64_t first, size_t count, double* out) const override {
    pieces(first, count, [&](size_t row, size_t column, const T* from, size_t n, size_t step) {
      double* const to = out + row * layout_.cols + column;
      for (size_t i = 0; i < n; ++i) to[i * step] = number_of(from[i]);
    });
  }
  void read(uint64_t first, size_t count, Rows out) const override {
    pieces(first, count, [&](size_t row, size_t column, const T* from, size_t n, size_t step) {
      float* const to = out.row(row) + column;
      const size_t far = step == 1 ? 1 : out.stride;
      for (size_t i = 0; i < n; ++i) to[i * far] = static_cast<float>(number_of(from[i]));
    });
  }

 private:
  // Calls take(row, column, numbers, how many, distance between them in the rows that are read:
  // 1, or a whole row).
  template <class Take>
  void pieces(uint64_t first, size_t count, const Take& take) const {
    const size_t cols = layout_.cols;
    if (layout_.by_columns) {
      std::vector<T> numbers(count);
      for (size_t c = 0; c < cols; ++c) {
        fetch((c * layout_.rows + first), numbers);
        take(0, c, numbers.data(), count, cols);
      }
      return;
    }
    const size_t rows = std::min(count, std::max<size_t>(1, kPiece / sizeof(T) / cols));
    std::vector<T> numbers(rows * cols);
    for (size_t r = 0; r < count; r += rows) {
      const size_t n = std::min(rows, count - r);
      fetch((first + r) * cols, std::span(numbers).first(n * cols));
      for (size_t k = 0; k < n; ++k) take(r + k, 0, numbers.data() + k * cols, cols, 1);
    }
  }

  void fetch(uint64_t index, std::span<T> out) const {
    char* const bytes = reinterpret_cast<char*>(out.data());
    read_(layout_.offset + index * sizeof(T), {bytes, out.size_bytes()});
    if (layout_.big_endian != (std::endian::native == std::endian::big)) {
      swap_bytes<T>(bytes, out.size());
    }
  }

  ReadBytes read_;
  NumberLayout layout_;
};

class VectorRows final : public RowSource {
 public:
  VectorRows(std::shared_ptr<const Vectors> vectors, uint64_t bytes)
      : vectors_(std::move(vectors)), bytes_(bytes) {}
  uint64_t rows() const override { return vectors_->rows(); }
  size_t cols() const override { return vectors_->cols(); }
  uint64_t bytes() const override { return bytes_; }
  void read(uint64_t first, size_t count, Rows out) const override {
    vectors_->read(first, count, out);
  }
  void read(uint64_t first, size_t count, double* out) const override {
    Matrix block(std::min<size_t>(count, 256), cols());
    for (size_t r = 0; r < count; r += block.rows()) {
      const size_t n = std::min(block.rows(), count - r);
      vectors_->read(first + r, n, block.view());
      for (size_t k = 0; k < n; ++k) {
        std::ranges::copy(std::as_const(block).row(k), out + (r + k) * cols());
      }
    }
  }

 private:
  std::shared_ptr<const Vectors> vectors_;
  uint64_t bytes_;
};

}  // namespace

std::unique_ptr<RowSource> stored_rows(ReadBytes read, const NumberLayout& layout) {
  const auto of = [&]<class T>(T) -> std::unique_ptr<RowSource> {
    return std::make_unique<StoredRows<T>>(std::move(read), layout);
  };
  switch (layout.type) {
    case NumberType::kF16:
      return of(Half{});
    case NumberType::kF32:
      return of(float{});
    case NumberType::kF64:
      return of(double{});
    case NumberType::kI8:
      return of(int8_t{});
    case NumberType::kI16:
      return of(int16_t{});
    case NumberType::kI32:
      return of(int32_t{});
    case NumberType::kI64:
      return of(int64_t{});
    case NumberType::kU8:
      return of(uint8_t{});
    case NumberType::kU16:
      return of(uint16_t{});
    case NumberType::kU32:
      return of(uint32_t{});
    case NumberType::kU64:
      return of(uint64_t{});
  }
  return nullptr;
}

std::unique_ptr<RowSource> rows_of(std::shared_ptr<const Vectors> vectors, uint64_t bytes) {
  return std::make_unique<VectorRows>(std::move(vectors), bytes);
}

}  // namespace kith
