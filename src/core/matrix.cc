// SPDX-License-Identifier: Apache-2.0
#include "core/matrix.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/error.h"
#include "core/huge_pages.h"
#include "core/line_vector.h"

namespace kith {
namespace {

// Smaller ones come from the heap: a mapping costs some microseconds and a lock that all threads
// share, which is more than a decomposition of a few rows takes.
constexpr size_t kMapped = size_t{64} << 10;
constexpr std::align_val_t kLine{kCacheLine};

void* allocate(size_t bytes) {
  if (bytes < kMapped) {
    const size_t whole = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    void* const p = ::operator new(whole, kLine, std::nothrow);
    return p ? std::memset(p, 0, bytes) : nullptr;
  }
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

}  // namespace

void detail::Unmap::operator()(float* p) const {
  if (bytes < kMapped) {
    ::operator delete(p, kLine);
  } else {
    munmap(p, bytes);
  }
}

Matrix::Matrix(size_t rows, size_t cols) : rows_(rows), cols_(cols), stride_(padded(cols)) {
  if (rows == 0 || cols == 0) return;
  // Padding wraps to zero near the largest number.
  if (stride_ < cols || rows > SIZE_MAX / 2 / sizeof(float) / stride_) {
    throw fault(ErrorKind::kLimit, "a table of {} x {} floats is larger than memory can be", rows,
                cols);
  }
  const size_t bytes = rows * stride_ * sizeof(float);
  void* const p = allocate(bytes);
  if (!p) {
    throw fault(ErrorKind::kLimit, "no memory for a table of {} x {} floats ({} MB)", rows, cols,
                bytes >> 20);
  }
  use_huge_pages(p, bytes);
  data_ = {static_cast<float*>(p), detail::Unmap{bytes}};
}

Matrix Matrix::borrowed(const float* data, size_t rows, size_t cols,
                        std::shared_ptr<const void> keep) {
  Matrix out;
  out.rows_ = rows;
  out.cols_ = out.stride_ = cols;
  out.borrowed_ = data;
  out.keep_ = std::move(keep);
  return out;
}

void Matrix::refuse_view() {
  throw std::logic_error("a matrix that is borrowed from a file was to be changed or vectorised");
}

Matrix Matrix::copy() const {
  Matrix out(rows_, cols_);
  if (stride_ == out.stride_ && rows_ > 0 && cols_ > 0) {
    std::memcpy(out.data_.get(), data(), rows_ * stride_ * sizeof(float));
  } else {
    for (size_t r = 0; r < rows_; ++r) std::ranges::copy(row(r), out.row(r).begin());
  }
  return out;
}

bool all_finite(const Matrix& m) {
  for (size_t r = 0; r < m.rows(); ++r) {
    float sum = 0;  // x * 0 is 0, or NaN
    for (const float x : m.row(r)) sum += x * 0;
    if (!(sum == 0)) return false;
  }
  return true;
}

}  // namespace kith
