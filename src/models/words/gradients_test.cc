// SPDX-License-Identifier: Apache-2.0
// Every gradient of the sources, against finite differences in double precision.

#include <gtest/gtest.h>

#include "models/words/test_reference.h"

namespace kith::words::reference {
namespace {

constexpr double kTolerance = 1e-8;  // h^2 of the central difference, with room for rounding

void expect_equal(const Vec& got, const Vec& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], kTolerance) << i;
}

struct Batch {
  Vec centre;
  std::vector<Vec> contexts;
};
Batch random_batch(unsigned seed) {
  std::mt19937 rng(seed);
  Batch b{random_vec(7, rng), {}};
  for (int i = 0; i < 4; ++i) b.contexts.push_back(random_vec(7, rng));
  return b;
}
// J+ (label 1) or J- (label 0): the mean over the contexts.
double batch_loss(const Vec& centre, const std::vector<Vec>& contexts, double label) {
  double sum = 0;
  for (const Vec& c : contexts) sum += pair_loss(centre, c, label);
  return sum / static_cast<double>(contexts.size());
}

TEST(Gradients, SigmaPrimeIsSigmaTimesOneMinusSigma) {
  for (double x : {-4.0, -1.0, 0.0, 0.5, 3.0}) {
    const Vec g = numeric_gradient([](const Vec& v) { return sigma(v[0]); }, {x});
    EXPECT_NEAR(g[0], sigma(x) * (1 - sigma(x)), kTolerance);
  }
}

TEST(Gradients, LogSigma) {
  for (double x : {-4.0, 0.0, 3.0}) {
    const Vec up = numeric_gradient([](const Vec& v) { return std::log(sigma(v[0])); }, {x});
    EXPECT_NEAR(up[0], 1 - sigma(x), kTolerance);
    const Vec down = numeric_gradient([](const Vec& v) { return std::log(1 - sigma(v[0])); }, {x});
    EXPECT_NEAR(down[0], -sigma(x), kTolerance);
  }
}

// Positive batch: grad_centre = 1/4 sum (sigma - 1) w2[i], grad_w2[i] = 1/4 (sigma - 1) centre.
// Negative batch: the same with sigma for sigma - 1.
TEST(Gradients, BothBatchesBothSides) {
  for (const double label : {1.0, 0.0}) {
    const Batch b = random_batch(label > 0 ? 1 : 2);
    Vec centre(7, 0.0);
    for (const Vec& c : b.contexts) axpy((sigma(dot(b.centre, c)) - label) / 4, c, centre);
    expect_equal(
        numeric_gradient([&](const Vec& w) { return batch_loss(w, b.contexts, label); }, b.centre),
        centre);
    for (size_t i = 0; i < 4; ++i) {
      Vec context(7, 0.0);
      axpy((sigma(dot(b.centre, b.contexts[i])) - label) / 4, b.centre, context);
      const auto loss = [&](const Vec& w) {
        auto contexts = b.contexts;
        contexts[i] = w;
        return batch_loss(b.centre, contexts, label);
      };
      expect_equal(numeric_gradient(loss, b.contexts[i]), context);
    }
  }
}

TEST(Gradients, PairGradientIsTheOneTheKernelUses) {
  std::mt19937 rng(3);
  for (const double label : {1.0, 0.0}) {
    const Vec x = random_vec(9, rng), y = random_vec(9, rng);
    expect_equal(numeric_gradient([&](const Vec& v) { return pair_loss(v, y, label); }, x),
                 pair_gradient(x, y, label));
    expect_equal(numeric_gradient([&](const Vec& v) { return pair_loss(x, v, label); }, y),
                 pair_gradient(y, x, label));
  }
}

// <x, y>_B = x' B y: grad_B is the outer product, grad_x is B y, grad_y is B' x.
TEST(Gradients, BilinearForm) {
  std::mt19937 rng(4);
  const Vec x = random_vec(3, rng), y = random_vec(5, rng), b = random_vec(15, rng);
  const auto form = [](const Vec& u, const Vec& m, const Vec& v) {
    double sum = 0;
    for (size_t i = 0; i < u.size(); ++i) {
      for (size_t j = 0; j < v.size(); ++j) sum += u[i] * m[i * v.size() + j] * v[j];
    }
    return sum;
  };
  Vec outer(15), by(3, 0.0), bx(5, 0.0);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 5; ++j) {
      outer[i * 5 + j] = x[i] * y[j];
      by[i] += b[i * 5 + j] * y[j];
      bx[j] += b[i * 5 + j] * x[i];
    }
  }
  expect_equal(numeric_gradient([&](const Vec& m) { return form(x, m, y); }, b), outer);
  expect_equal(numeric_gradient([&](const Vec& u) { return form(u, b, y); }, x), by);
  expect_equal(numeric_gradient([&](const Vec& v) { return form(x, b, v); }, y), bx);
}

// f = |P - U V'|^2: grad_U = -2 (P V - U V' V), grad_V = -2 (P' U - V U' U). The source writes
// both without the minus sign, which the inner derivative brings. g = lambda |U|^2: 2 lambda U.
TEST(Gradients, FactorisationAndPenalty) {
  constexpr size_t n = 4, d = 2;
  std::mt19937 rng(5);
  const Vec p = random_vec(n * n, rng), u = random_vec(n * d, rng), v = random_vec(n * d, rng);
  const auto residual = [&](const Vec& a, const Vec& b, size_t i, size_t j) {
    double r = p[i * n + j];
    for (size_t k = 0; k < d; ++k) r -= a[i * d + k] * b[j * d + k];
    return r;
  };
  const auto f = [&](const Vec& a, const Vec& b) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) sum += residual(a, b, i, j) * residual(a, b, i, j);
    }
    return sum;
  };
  Vec gu(n * d, 0.0), gv(n * d, 0.0), penalty(n * d);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      for (size_t k = 0; k < d; ++k) {
        gu[i * d + k] -= 2 * residual(u, v, i, j) * v[j * d + k];
        gv[j * d + k] -= 2 * residual(u, v, i, j) * u[i * d + k];
      }
    }
  }
  expect_equal(numeric_gradient([&](const Vec& a) { return f(a, v); }, u), gu);
  expect_equal(numeric_gradient([&](const Vec& b) { return f(u, b); }, v), gv);
  const double lambda = 0.3;
  for (size_t i = 0; i < u.size(); ++i) penalty[i] = 2 * lambda * u[i];
  expect_equal(numeric_gradient([&](const Vec& a) { return lambda * dot(a, a); }, u), penalty);
}

// CBOW: h = mean of m contexts. The gradient of each context is the gradient of h divided by m.
TEST(Gradients, CbowDividesByTheNumberOfContexts) {
  const Batch b = random_batch(6);
  const auto mean = [](const std::vector<Vec>& contexts) {
    Vec h(7, 0.0);
    for (const Vec& c : contexts) axpy(1.0 / static_cast<double>(contexts.size()), c, h);
    return h;
  };
  Vec expected(7, 0.0);
  axpy(0.25, pair_gradient(mean(b.contexts), b.centre, 1), expected);
  for (size_t i = 0; i < 4; ++i) {
    const auto loss = [&](const Vec& w) {
      auto contexts = b.contexts;
      contexts[i] = w;
      return pair_loss(mean(contexts), b.centre, 1);
    };
    expect_equal(numeric_gradient(loss, b.contexts[i]), expected);
  }
}

}  // namespace
}  // namespace kith::words::reference
