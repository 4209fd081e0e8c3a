// SPDX-License-Identifier: Apache-2.0
#include "models/pca/solvers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/pca/test_rows.h"

namespace kith::pca {
namespace {

using test::largest_angle;

// Eigenvalues 9, 4, 1 and then little, along directions that are not the axes.
Small covariance_with_gaps() {
  return test::plain_covariance(test::rows_with_spectrum(400, 8, {3, 2, 1}, 3));
}

const Context& alone() {
  static const Context context(1);
  return context;
}

// E |x - V W x|^2 / 2 by its definition: with C = L L^T the mean over the columns of L, times d.
double plain_loss(const Small& w, const Small& v, const Small& c) {
  Small left(c.rows, c.cols);  // I - V W
  const Small vw = transposed_product(v, w);
  for (size_t i = 0; i < c.rows; ++i) {
    for (size_t j = 0; j < c.cols; ++j) left.at(i, j) = (i == j) - vw.at(i, j);
  }
  const Small image = product(left, c);
  double out = 0;
  for (size_t i = 0; i < image.values.size(); ++i) out += image.values[i] * left.values[i];
  return out / 2;
}
double trace(const Small& a) {
  double out = 0;
  for (size_t i = 0; i < a.rows; ++i) out += a.at(i, i);
  return out;
}

TEST(Autoencoder, LossIsThatOfItsDefinition) {
  const Small c = covariance_with_gaps();
  const auto of = held(c);
  const Autoencoder net(3, 8, 5);
  EXPECT_NEAR(net.loss(*of, alone()) + trace(c) / 2, plain_loss(net.w, net.v, c), 1e-12);
}

// Central differences of a quartic are off by O(h^2): 1e-10 of numbers around 1.
TEST(Autoencoder, GradientsAreTheDerivativesOfTheLoss) {
  const Small c = covariance_with_gaps();
  const auto of = held(c);
  Autoencoder net(3, 8, 5);
  const Autoencoder::Gradients g = net.gradients(*of, alone());
  constexpr double kStep = 1e-5;
  const auto check = [&](Small& moved, const Small& gradient, const char* what) {
    for (size_t i = 0; i < moved.values.size(); ++i) {
      const double before = moved.values[i];
      moved.values[i] = before + kStep;
      const double up = plain_loss(net.w, net.v, c);
      moved.values[i] = before - kStep;
      const double down = plain_loss(net.w, net.v, c);
      moved.values[i] = before;
      EXPECT_NEAR((up - down) / (2 * kStep), gradient.values[i], 1e-7) << what << " " << i;
    }
  };
  check(net.w, g.w, "W");
  check(net.v, g.v, "V");
}

TEST(Autoencoder, EveryStepLowersTheLoss) {
  const auto of = held(covariance_with_gaps());
  Autoencoder net(3, 8, 5);
  double before = net.loss(*of, alone());
  for (int k = 0; k < 30; ++k) {
    net.step(*of, alone());
    const double now = net.loss(*of, alone());
    EXPECT_LT(now, before) << k;
    before = now;
  }
}

// With any invertible A, A W and V A^-1 lose the same: from another start another W is found, but
// the same V W, which is the projection to the first directions.
TEST(Autoencoder, FindsTheProjectionAndNotTheFactors) {
  const Small c = covariance_with_gaps();
  const auto of = held(c);
  Autoencoder one(3, 8, 1), two(3, 8, 2);
  for (int k = 0; k < 2000; ++k) {
    one.step(*of, alone());
    two.step(*of, alone());
  }
  const EigenPairs truth = largest_eigenpairs(c, 3);
  const Small projection = transposed_product(truth.vectors, truth.vectors);
  double apart = 0;
  for (size_t i = 0; i < one.w.values.size(); ++i) {
    apart = std::max(apart, std::abs(one.w.values[i] - two.w.values[i]));
  }
  EXPECT_GT(apart, 0.1);
  for (const Autoencoder* const net : {&one, &two}) {
    const Small vw = transposed_product(net->v, net->w);
    for (size_t i = 0; i < vw.values.size(); ++i) {
      EXPECT_NEAR(vw.values[i], projection.values[i], 1e-6);
    }
  }
}

TEST(Power, FindsOneDirectionAfterTheOther) {
  const Small c = covariance_with_gaps();
  const auto of = held(c);
  const EigenPairs truth = largest_eigenpairs(c, 3);
  EigenPairs found;
  found.vectors = Small(0, 8);
  for (size_t k = 0; k < 3; ++k) {
    const Direction next = next_direction(*of, found, random_block(1, 8, k).values,
                                          {2000, 1e-15 * truth.values[0]}, alone());
    EXPECT_NEAR(next.value, truth.values[k], 1e-10);
    found.values.push_back(next.value);
    found.vectors.values.insert(found.vectors.values.end(), next.vector.begin(), next.vector.end());
    ++found.vectors.rows;
  }
  EXPECT_LT(largest_angle(truth.vectors, found.vectors), 1e-6);
}

// Where nothing varies any more, what is found is still orthonormal, with variance 0.
TEST(Power, OfAMatrixOfLowRankGoesOn) {
  Small c(4, 4);
  c.at(0, 0) = 2;
  const auto of = held(c);
  const EigenPairs first{{2}, [] {
                           Small v(1, 4);
                           v.at(0, 0) = 1;
                           return v;
                         }()};
  const Direction next =
      next_direction(*of, first, random_block(1, 4, 3).values, {100, 1e-12}, alone());
  EXPECT_EQ(next.value, 0);
  EXPECT_NEAR(next.vector[0], 0, 1e-12);
  EXPECT_TRUE(std::isfinite(next.vector[1]));
}

TEST(Block, FindsTheFirstDirectionsFromARandomBlock) {
  const Small c = covariance_with_gaps();
  const auto of = held(c);
  const EigenPairs truth = largest_eigenpairs(c, 3);
  Small basis = orthonormal_rows(random_block(5, 8, 1));
  EigenPairs found;
  for (int k = 0; k < 15; ++k) {
    BlockStep step = block_step(*of, basis, 3, alone());
    found = std::move(step.found);
    basis = std::move(step.next);
  }
  for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(found.values[k], truth.values[k], 1e-10);
  EXPECT_LT(largest_angle(truth.vectors, found.vectors), 1e-7);
}

}  // namespace
}  // namespace kith::pca
