// SPDX-License-Identifier: Apache-2.0
#include "core/matrix.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/error.h"

namespace kith {
namespace {

TEST(Matrix, RowsAreAlignedPaddedAndZero) {
  for (const size_t cols : {1, 15, 16, 17, 100, 304}) {
    Matrix m(5, cols);
    EXPECT_EQ(m.stride() % kRowPad, 0u);
    EXPECT_GE(m.stride(), cols);
    EXPECT_LT(m.stride(), cols + kRowPad);
    for (size_t r = 0; r < 5; ++r) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(m.view().row(r)) % 64, 0u);
      EXPECT_EQ(m.row(r).data(), m.view().row(r));
      EXPECT_EQ(m.row(r).size(), cols);
      for (size_t c = 0; c < m.stride(); ++c) EXPECT_EQ(m.view().row(r)[c], 0.0f);
    }
  }
}

// The heap gives the memory of the first one again.
TEST(Matrix, ASmallOneIsZeroWhereAnotherOneStood) {
  for (int i = 0; i < 3; ++i) {
    Matrix m(3, 5);
    for (size_t c = 0; c < 3 * m.stride(); ++c) {
      EXPECT_EQ(m.view().data[c], 0.0f);
      m.view().data[c] = 7;
    }
  }
}

TEST(Matrix, OneValueThatIsNotFiniteIsFoundAnywhere) {
  const float infinity = std::numeric_limits<float>::infinity();
  Matrix m(4, 19);
  m.row(2)[3] = -std::numeric_limits<float>::max();
  EXPECT_TRUE(all_finite(m));
  EXPECT_TRUE(all_finite(Matrix()));
  for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (size_t r = 0; r < m.rows(); ++r) {
      for (float& x : m.row(r)) {
        const float good = std::exchange(x, bad);
        EXPECT_FALSE(all_finite(m)) << bad << " in row " << r;
        x = good;
      }
    }
  }
}

TEST(Matrix, ACopyIsApart) {
  Matrix m(3, 5);
  for (size_t r = 0; r < 3; ++r) {
    for (size_t c = 0; c < 5; ++c) m.row(r)[c] = static_cast<float>(10 * r + c);
  }
  Matrix copy = m.copy();
  m.row(1)[2] = -1;
  EXPECT_EQ(copy.row(1)[2], 12.0f);
  EXPECT_EQ(copy.row(2)[4], 24.0f);
  EXPECT_EQ(copy.cols(), 5u);
  EXPECT_EQ(Matrix().copy().rows(), 0u);
}

TEST(Matrix, MovesItsRows) {
  Matrix m(2, 3);
  m.row(1)[2] = 7;
  const float* const place = m.row(0).data();
  Matrix moved = std::move(m);
  EXPECT_EQ(moved.row(0).data(), place);
  Matrix other(100, 100);
  other = std::move(moved);
  EXPECT_EQ(other.rows(), 2u);
  EXPECT_EQ(other.row(1)[2], 7.0f);
}

TEST(Matrix, EmptyOnesCostNothing) {
  EXPECT_EQ(Matrix(0, 10).rows(), 0u);
  EXPECT_EQ(Matrix(10, 0).cols(), 0u);
}

// With its padding the fifth would wrap around to 64 bytes.
TEST(Matrix, AbsurdSizesAreRefusedWithTheirSize) {
  const std::pair<size_t, size_t> sizes[] = {{SIZE_MAX, 1},
                                             {1, SIZE_MAX},
                                             {SIZE_MAX, SIZE_MAX},
                                             {1, SIZE_MAX - 14},
                                             {(size_t{1} << 58) + 1, 1},
                                             {size_t{1} << 32, size_t{1} << 32},
                                             {size_t{1} << 30, size_t{1} << 24}};
  for (const auto& [rows, cols] : sizes) {
    try {
      const Matrix m(rows, cols);
      ADD_FAILURE() << rows << " x " << cols << " was made";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kLimit);
      EXPECT_PRED_FORMAT2(testing::IsSubstring, fmt::format("{} x {}", rows, cols), e.what());
    }
  }
}

TEST(Matrix, ABorrowedOneIsReadInPlaceAndCopiedIntoAnOwnedOne) {
  const auto store = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6});
  Matrix m = Matrix::borrowed(store->data(), 2, 3, store);
  EXPECT_TRUE(m.is_borrowed());
  EXPECT_EQ(std::as_const(m).row(1)[2], 6);
  EXPECT_EQ(std::as_const(m).row(1).data(), store->data() + 3);
  // It has no padding, and is not ours to change.
  EXPECT_THROW(m.row(0)[0] = 5, std::logic_error);
  EXPECT_THROW(std::as_const(m).view(), std::logic_error);
  const Matrix own = m.copy();
  EXPECT_FALSE(own.is_borrowed());
  EXPECT_EQ(own.stride(), kRowPad);
  EXPECT_EQ(own.row(1)[0], 4);
  const Matrix moved = std::move(m);
  EXPECT_EQ(moved.row(0)[1], 2);
  EXPECT_EQ(m.rows(), 0u);  // NOLINT: what is moved from is empty
}

}  // namespace
}  // namespace kith
