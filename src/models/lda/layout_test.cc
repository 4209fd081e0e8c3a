// SPDX-License-Identifier: Apache-2.0
#include "models/lda/layout.h"

#include "models/lda/gamma.h"
#include "models/lda/test_corpora.h"

namespace kith::lda {
namespace {

using namespace kith::lda::test;

TEST(LdaLayout, PlacesLeadFromOneOrderToTheOther) {
  const Sparse counts = counts_of({{2, 0, 0}, {}, {1, 2}}, 4);
  const Layout layout = layout_of(counts);
  EXPECT_EQ(layout.documents, (std::vector<uint64_t>{0, 3, 3, 5}));
  EXPECT_EQ(layout.words, (std::vector<uint64_t>{0, 2, 3, 5, 5}));
  EXPECT_EQ(layout.place, (std::vector<uint32_t>{0, 1, 3, 2, 4}));
  EXPECT_EQ(layout.longest_document(), 3u);
}

TEST(LdaLayout, ShardsAreAllRowsOnceAndLongOnesInParts) {
  const std::vector<uint64_t> offsets{0, 3, 3, 10, 30, 31, 33};
  std::vector<uint64_t> seen;
  for (const Shard& s : shards_of(offsets, 4, 8)) {
    EXPECT_EQ(seen.empty() ? 0 : seen.back(), s.begin);
    seen.push_back(s.end);
    if (s.last > s.first + 1) {
      EXPECT_EQ(offsets[s.first], s.begin);
    }
    EXPECT_LE(s.end - s.begin, 10u);
  }
  EXPECT_EQ(seen, (std::vector<uint64_t>{10, 18, 26, 30, 33}));
}

TEST(LdaGamma, FunctionsAreRight) {
  for (const double x : {1e-6, 1e-3, 0.1, 0.5, 1.0, 2.5, 9.99, 10.0, 123.4, 1e6, 1e9}) {
    EXPECT_NEAR(log_gamma(x), std::lgamma(x), 1e-12 * std::max(1.0, std::abs(std::lgamma(x)))) << x;
    const double h = 1e-5 * x;
    const double slope = (std::lgamma(x + h) - std::lgamma(x - h)) / (2 * h);
    EXPECT_NEAR(digamma(x), slope, 1e-5 * std::max(1.0, std::abs(slope))) << x;
    EXPECT_NEAR(digamma(x + 1) - digamma(x), 1 / x, 1e-11 * std::max(1.0, 1 / x)) << x;
  }
  LogProduct product;
  double truth = 0;
  for (int i = 1; i <= 1000; ++i) {
    product.multiply(i * 1e-7);
    truth += std::log(i * 1e-7);
  }
  EXPECT_NEAR(product.log(), truth, 1e-8);
}

}  // namespace
}  // namespace kith::lda
