// SPDX-License-Identifier: Apache-2.0
#include "eval/biases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/rng.h"

namespace kith {
namespace {

// 40 users x 30 items, all rated, without noise: user u adds u / 40, item i takes i / 30 away.
TEST(RatingBaselines, BiasesOfUsersAndItems) {
  Sparse a;
  a.columns = 30;
  for (uint32_t u = 0; u < 40; ++u) {
    for (uint32_t i = 0; i < 30; ++i) {
      a.column.push_back(i);
      a.value.push_back(3 + static_cast<float>(u) / 40 - static_cast<float>(i) / 30);
    }
    a.offsets.push_back(a.column.size());
  }
  const RatingBaselines b(a);
  EXPECT_NEAR(b.mean(), 3 + 39.0 / 80 - 29.0 / 60, 1e-5);
  EXPECT_NEAR(b.predict(10, 20), 3 + 10.0 / 40 - 20.0 / 30, 0.02);  // drawn a little to the mean
  EXPECT_NEAR(b.predict(1000, 0), b.mean() + 29.0 / 60, 0.02) << "an unknown user has no bias";
  EXPECT_EQ(b.predict(1000, 1000), b.mean());
}

// If one side has none, a bias is what is left of n ratings, divided by n and the penalty.
TEST(FitBiases, ThePenaltyCountsAsRatingsThatAreAsUsual) {
  Sparse a;
  a.columns = 3;
  a.offsets = {0, 3, 5, 6};
  a.column = {0, 1, 2, 0, 1, 0};
  a.value = {4, 3, 3, 5, 1, 2};
  constexpr double kNone = 1e12, kMean = 3;
  const Biases items = fit_biases(a, kNone, 5.0), users = fit_biases(a, 5.0, kNone);
  const double of_item[]{(4 + 5 + 2 - 3 * kMean) / 8, (3 + 1 - 2 * kMean) / 7, 0};
  const double of_user[]{(4 + 3 + 3 - 3 * kMean) / 8, 0, (2 - kMean) / 6};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(items.item[i], of_item[i], 1e-6) << i;
    EXPECT_NEAR(users.user[i], of_user[i], 1e-6) << i;
  }
}

// Those who rate high meet what is rated high: mean and biases add up to more than anybody gives.
TEST(RatingBaselines, StayWithinTheRange) {
  Sparse a;
  a.columns = 10;
  for (uint32_t u = 0; u < 10; ++u) {
    for (uint32_t i = 0; i < 10; ++i) {
      a.column.push_back(i);
      a.value.push_back(std::clamp(static_cast<float>(u + i) - 6, 1.0f, 5.0f));
    }
    a.offsets.push_back(a.column.size());
  }
  const Biases fitted = fit_biases(a);
  ASSERT_GT(fitted.mean + fitted.user[9] + fitted.item[9], 5);
  ASSERT_LT(fitted.mean + fitted.user[0] + fitted.item[0], 1);
  const RatingBaselines b(a);
  EXPECT_EQ(b.predict(9, 9), 5);
  EXPECT_EQ(b.predict(0, 0), 1);
}

double normal(Rng& rng) {  // nearly: the sum of twelve uniform numbers has variance 1
  double sum = -6;
  for (int k = 0; k < 12; ++k) sum += rng.uniform();
  return sum;
}

// Each user rates `each` of the items; if they choose, those who rate high the first ones, which
// are liked, so that who rates what depends on both biases.
Sparse unbalanced(uint32_t users, uint32_t items, uint32_t each, bool choose, double spread,
                  double noise) {
  Sparse a;
  a.columns = items;
  Rng rng(1, 0);
  for (uint32_t u = 0; u < users; ++u) {
    const double bias = spread * normal(rng);
    const uint32_t most = items - 2 * each;
    const uint32_t first = !choose ? rng.below(most + 1) : bias > 0 ? 0 : most;
    for (uint32_t k = 0; k < each; ++k) {
      const uint32_t i = first + 2 * k + rng.below(2);
      a.column.push_back(i);
      const double item = 1 - 2.0 * i / items;
      a.value.push_back(static_cast<float>(3 + bias + item + noise * normal(rng)));
    }
    a.offsets.push_back(a.column.size());
  }
  return a;
}

// b_u (n_u + penalty) = sum (r - mean - c_i), and so for items: where the penalised error is least.
TEST(FitBiases, SolveTheirEquationsWhereUsersChooseTheirItems) {
  const Sparse a = unbalanced(200, 20, 6, true, 1, 0.5);
  const Biases b = fit_biases(a, 3, 5);
  EXPECT_EQ(b.user_penalty, 3);
  EXPECT_EQ(b.item_penalty, 5);
  std::vector<double> left(a.columns, 0.0), count(a.columns, 0.0);
  for (uint32_t u = 0; u < a.rows(); ++u) {
    const Sparse::Row row = a.row(u);
    double sum = 0;
    for (size_t k = 0; k < row.size(); ++k) {
      sum += row.values[k] - b.mean - b.item[row.columns[k]];
      left[row.columns[k]] += row.values[k] - b.mean - b.user[u];
      ++count[row.columns[k]];
    }
    EXPECT_NEAR(b.user[u] * (6 + 3), sum, 1e-4) << u;
  }
  // Twenty sweeps bring items this near, relative to sums over some 60 ratings.
  for (uint32_t i = 0; i < a.columns; ++i) {
    EXPECT_NEAR(b.item[i] * (count[i] + 5), left[i], 0.05) << i;
  }
}

// Noise of variance 1 and biases of variance 1/4, known from four ratings each: the penalty is
// their ratio. A variance of 8000 numbers is right to 1.6 %, one of 2000 such biases to 10 %.
TEST(FitBiases, FindNoiseAndPenalty) {
  const Biases b = fit_biases(unbalanced(2000, 20, 4, false, 0.5, 1));
  EXPECT_NEAR(b.noise, 1, 0.05);
  EXPECT_NEAR(b.user_penalty, 4, 1);
}

}  // namespace
}  // namespace kith
