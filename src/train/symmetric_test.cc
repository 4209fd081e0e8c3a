// SPDX-License-Identifier: Apache-2.0
#include "train/symmetric.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "kith/context.h"
#include "kith/error.h"

namespace kith {
namespace {

Small random(size_t rows, size_t cols, uint64_t seed) {
  Small out(rows, cols);
  Rng rng(seed, 0);
  for (double& x : out.values) x = 2 * double{rng.uniform()} - 1;
  return out;
}

TEST(Symmetric, EigenPairsAreThoseOfTheMatrix) {
  const Small half = random(30, 30, 1);
  const Small a = product_transposed(half, half);
  const EigenPairs found = largest_eigenpairs(a, 12);
  ASSERT_EQ(found.values.size(), 12u);
  const Small image = product(found.vectors, a);
  const Small inner = product_transposed(found.vectors, found.vectors);
  for (size_t k = 0; k < 12; ++k) {
    EXPECT_LE(found.values[k], found.values[k == 0 ? 0 : k - 1]);
    for (size_t c = 0; c < 30; ++c) {
      EXPECT_NEAR(image.at(k, c), found.values[k] * found.vectors.at(k, c), 1e-12);
    }
    for (size_t j = 0; j < 12; ++j) EXPECT_NEAR(inner.at(k, j), k == j, 1e-13);
  }
}

// Beyond 512 rows it is done in steps, whose result is that of Eigen's solver; of values that stand
// many times any vectors will do, as long as they are orthonormal.
TEST(Symmetric, LargeMatricesInStepsHaveTheSamePairs) {
  constexpr size_t kSize = 530, kCount = 40;
  const Small half = random(kSize, kSize, 3), few = random(5, kSize, 4);
  std::vector<Small> all{product_transposed(half, half), transposed_product(few, few),
                         Small(kSize, kSize), transposed_product(few, few)};
  for (size_t i = 0; i < kSize; ++i) all[3].at(i, i) += 1;
  all.emplace_back(kSize, kSize);
  for (size_t i = 0; i < kSize; ++i) all[4].at(i, i) = static_cast<double>(i / 3);
  const Context context(1);
  for (const Small& a : all) {
    const EigenPairs wanted = largest_eigenpairs(a, kCount);
    const EigenPairs found = largest_eigenpairs(a, kCount, &context);
    const Small image = product(found.vectors, a);
    const Small inner = product_transposed(found.vectors, found.vectors);
    const double close = 1e-12 * (1 + wanted.values[0]);
    for (size_t k = 0; k < kCount; ++k) {
      ASSERT_NEAR(found.values[k], wanted.values[k], close);
      for (size_t c = 0; c < kSize; ++c) {
        ASSERT_NEAR(image.at(k, c), found.values[k] * found.vectors.at(k, c), close);
      }
      for (size_t j = 0; j < kCount; ++j) ASSERT_NEAR(inner.at(k, j), k == j, 1e-12);
    }
  }
}

TEST(Symmetric, LargeMatricesAreGivenUpWhenThatIsAsked) {
  const Small a = random(530, 530, 3);
  Context context(1);
  context.cancel();
  EXPECT_THROW(largest_eigenpairs(a, 3, &context), Error);
}

TEST(Symmetric, OrthonormalRowsSpanTheSameSpace) {
  const Small a = random(4, 9, 2);
  const Small q = orthonormal_rows(a);
  const Small inner = product_transposed(q, q);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) EXPECT_NEAR(inner.at(i, j), i == j, 1e-14);
  }
  const Small back = product(product_transposed(a, q), q);
  for (size_t i = 0; i < a.values.size(); ++i) EXPECT_NEAR(back.values[i], a.values[i], 1e-13);
}

TEST(Symmetric, SignsFollowTheLargestEntry) {
  Small a(2, 3);
  a.values = {1, -3, 2, -1, 0.5, 4};
  fix_signs(a);
  EXPECT_EQ(a.values, (std::vector<double>{-1, 3, -2, -1, 0.5, 4}));
}

}  // namespace
}  // namespace kith
