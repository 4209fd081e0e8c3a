// SPDX-License-Identifier: Apache-2.0
// The kernel equals the textbook, on every instruction set, at odd sizes.
#include "models/gmm/kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/rng.h"
#include "kernels/test_targets.h"
#include "models/gmm/test_mixtures.h"

namespace kith::gmm {
namespace {

// What a kernel should find, in double and one row at a time.
struct Plain {
  std::vector<std::vector<double>> r;  // by row
  std::vector<double> density;
  Sums sums;
};

struct Case {
  Metric metric;
  size_t dims, count, rows;
};

class GmmKernel : public EveryTarget {
 protected:
  template <class T>
  struct Given {
    Components<T> components;
    std::vector<std::vector<double>> factor;  // of each component, dims x dims
    std::vector<T> rows;
  };

  template <class T>
  static Given<T> given(const Case& c) {
    Given<T> out;
    Rng rng(c.dims, c.rows);
    const auto some = [&](size_t n, double scale) {
      std::vector<T> v;
      for (size_t i = 0; i < n; ++i) v.push_back(static_cast<T>(scale * normal(rng)));
      return v;
    };
    Components<T>& m = out.components;
    m.metric = c.metric;
    m.count = c.count;
    m.dims = c.dims;
    for (const T x : some(c.count * c.dims, 1)) m.mean.push_back(x);
    for (size_t k = 0; k < c.count; ++k) {
      std::vector<double> f(c.dims * c.dims, 0);
      for (size_t i = 0; i < c.dims; ++i) {
        for (size_t j = 0; j < i; ++j) f[i * c.dims + j] = static_cast<float>(0.4 * normal(rng));
        f[i * c.dims + i] = static_cast<float>(0.5 + rng.uniform());
      }
      if (c.metric == Metric::kScaled || c.metric == Metric::kPlain) {
        for (size_t i = 0; i < c.dims; ++i) {
          for (size_t j = 0; j < i; ++j) f[i * c.dims + j] = 0;
          if (c.metric == Metric::kPlain) f[i * c.dims + i] = 1;
          m.scale.push_back(static_cast<T>(f[i * c.dims + i]));
        }
      }
      if (c.metric == Metric::kShared && k > 0) f = out.factor[0];
      if (c.metric == Metric::kWhitened || (c.metric == Metric::kShared && k == 0)) {
        m.factor.resize(m.factor.size() + packed_factor_size(c.dims));
        pack_factor(f.data(), c.dims,
                    m.factor.data() + m.factor.size() - packed_factor_size(c.dims));
      }
      if (c.metric == Metric::kShared) {
        for (size_t j = 0; j < c.dims; ++j) {
          double white = 0;
          for (size_t i = 0; i <= j; ++i) white += f[j * c.dims + i] * m.mean[k * c.dims + i];
          m.white.push_back(static_cast<T>(white));
        }
      }
      m.base.push_back(static_cast<T>(-1.0 - 0.3 * static_cast<double>(k)));
      out.factor.push_back(std::move(f));
    }
    out.rows = some(c.rows * c.dims, 1.5);
    return out;
  }

  template <class T>
  static Plain expected(const Given<T>& g, size_t rows) {
    const Components<T>& m = g.components;
    const size_t d = m.dims;
    Plain out;
    out.sums.clear(m);
    for (size_t n = 0; n < rows; ++n) {
      const T* const x = g.rows.data() + n * d;
      std::vector<double> joint;
      for (size_t k = 0; k < m.count; ++k) {
        double square = 0;
        for (size_t j = 0; j < d; ++j) {
          double y = 0;
          for (size_t i = 0; i <= j; ++i) {
            y += g.factor[k][j * d + i] * (double{x[i]} - double{m.mean[k * d + i]});
          }
          square += y * y;
        }
        joint.push_back(m.metric == Metric::kPlain ? square : m.base[k] - square / 2);
      }
      double total = 0;
      std::vector<double> r(m.count, 0);
      if (m.metric == Metric::kPlain) {
        const auto nearest = std::min_element(joint.begin(), joint.end());
        r[static_cast<size_t>(nearest - joint.begin())] = 1;
        out.density.push_back(*nearest);
      } else {
        const double top = *std::max_element(joint.begin(), joint.end());
        for (const double l : joint) total += std::exp(l - top);
        for (size_t k = 0; k < m.count; ++k) r[k] = std::exp(joint[k] - top) / total;
        out.density.push_back(top + std::log(total));
      }
      add(m, x, r, out.sums);
      out.sums.objective += out.density.back();
      out.r.push_back(std::move(r));
    }
    return out;
  }

  template <class T>
  static void add(const Components<T>& m, const T* x, const std::vector<double>& r, Sums& sums) {
    const size_t d = m.dims;
    for (size_t k = 0; k < m.count; ++k) {
      sums.weight[k] += r[k];
      for (size_t i = 0; i < d; ++i) {
        const double xi = double{x[i]} - double{m.mean[k * d + i]};
        sums.first[k * d + i] += r[k] * xi;
        if (m.metric == Metric::kScaled) sums.second[k * d + i] += r[k] * xi * xi;
        if (m.metric != Metric::kWhitened && m.metric != Metric::kShared) continue;
        const size_t triangle = m.metric == Metric::kWhitened ? k * d * (d + 1) / 2 : 0;
        for (size_t j = 0; j <= i; ++j) {
          const double xj = double{x[j]} - double{m.mean[k * d + j]};
          sums.second[triangle + i * (i + 1) / 2 + j] += r[k] * xi * xj;
        }
      }
    }
  }

  template <class T>
  static void expect_same(const Case& c) {
    const Given<T> g = given<T>(c);
    const Plain want = expected(g, c.rows);
    // Sums of a block are in T, of numbers up to about ten.
    const double near = sizeof(T) == 4 ? 2e-4 : 1e-11;
    Block<T> block(g.components);
    Sums sums;
    sums.clear(g.components);
    for (size_t first = 0; first < c.rows; first += block.rows()) {
      block.take(g.rows.data() + first * c.dims, c.dims, std::min(block.rows(), c.rows - first));
      block.expect(g.components);
      block.accumulate(g.components, sums);
      for (size_t n = 0; n < block.count(); ++n) {
        EXPECT_NEAR(block.density(n), want.density[first + n],
                    near * (1 + std::abs(want.density[first + n])));
        for (size_t k = 0; k < c.count; ++k) {
          EXPECT_NEAR(block.responsibility(k, n), want.r[first + n][k], near);
        }
      }
    }
    const auto all = static_cast<double>(c.rows);
    EXPECT_NEAR(sums.objective, want.sums.objective, near * all);
    const auto compare = [&](const std::vector<double>& a, const std::vector<double>& b) {
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], near * all) << i;
    };
    compare(sums.weight, want.sums.weight);
    compare(sums.first, want.sums.first);
    compare(sums.second, want.sums.second);
  }
};

TEST_P(GmmKernel, EqualsTheTextbook) {
  for (const Metric metric :
       {Metric::kScaled, Metric::kWhitened, Metric::kShared, Metric::kPlain}) {
    // Around panels of four columns, vectors of up to sixteen rows, and blocks.
    for (const Case c : {Case{metric, 1, 1, 1}, Case{metric, 2, 3, 17}, Case{metric, 3, 2, 64},
                         Case{metric, 4, 5, 65}, Case{metric, 5, 2, 600}, Case{metric, 17, 3, 130},
                         Case{metric, 70, 2, 129}}) {
      SCOPED_TRACE(fmt::format("metric {}, {} columns, {} components, {} rows",
                               static_cast<int>(metric), c.dims, c.count, c.rows));
      expect_same<float>(c);
      expect_same<double>(c);
    }
  }
}

// Rows so far from all components that every density is 0 in double: the nearest takes them.
TEST_P(GmmKernel, KnowsRowsThatAreFarAway) {
  Components<double> c;
  c.count = 2;
  c.dims = 1;
  c.mean = {0, 10};
  c.scale = {1, 1};
  c.base = {-1, -1};
  Block<double> block(c);
  const double far[]{1000, -1000, 5};
  block.take(far, 1, 3);
  block.expect(c);
  EXPECT_NEAR(block.density(0), -1 - 990.0 * 990 / 2, 1e-6);
  EXPECT_EQ(block.responsibility(1, 0), 1);
  EXPECT_NEAR(block.density(1), -1 - 1000.0 * 1000 / 2, 1e-6);
  EXPECT_EQ(block.responsibility(0, 1), 1);
  EXPECT_EQ(block.responsibility(0, 2), 0.5);
}

// A component without weight takes part in nothing.
TEST_P(GmmKernel, PassesOverComponentsWithoutWeight) {
  Components<float> c;
  c.count = 2;
  c.dims = 1;
  c.mean = {0, 0};
  c.scale = {1, 1};
  c.base = {-std::numeric_limits<float>::infinity(), -1};
  Block<float> block(c);
  const float x[]{0.5f};
  block.take(x, 1, 1);
  block.expect(c);
  Sums sums;
  sums.clear(c);
  block.accumulate(c, sums);
  EXPECT_NEAR(block.density(0), -1 - 0.125, 1e-6);
  EXPECT_EQ(sums.weight[0], 0);
  EXPECT_EQ(sums.weight[1], 1);
}

// Of rows that are equally near to two means the first one gets them, in whatever lane they stand.
TEST_P(GmmKernel, GivesTiesToTheFirst) {
  Components<float> c;
  c.metric = Metric::kPlain;
  c.count = 3;
  c.dims = 1;
  c.mean = {1, -1, -1};
  Block<float> block(c);
  const std::vector<float> zeros(37, 0.0f);
  block.take(zeros.data(), 1, zeros.size());
  block.expect(c);
  for (size_t n = 0; n < zeros.size(); ++n) EXPECT_EQ(block.responsibility(0, n), 1);
}

INSTANTIATE_TEST_SUITE_P(AllTargets, GmmKernel,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

}  // namespace
}  // namespace kith::gmm
