// SPDX-License-Identifier: Apache-2.0
// The scalar case of factorisation, l(u, v) = (a - u v)^2 / 2: not convex, and gradient descent
// still finds the minimum from almost anywhere. What holds here in the small is why the trainers of
// factors can be expected to work.
#include <gtest/gtest.h>

#include <cmath>

namespace kith {
namespace {

struct Point {
  double u, v;
};

// du/dt = -v (u v - a), dv/dt = -u (u v - a), by steps of eta.
Point descend(double a, Point x, double eta, int steps) {
  for (int i = 0; i < steps; ++i) {
    const double delta = x.u * x.v - a;
    x = {x.u - eta * delta * x.v, x.v - eta * delta * x.u};
  }
  return x;
}

TEST(ScalarCase, ABalancedStartConverges) {
  for (const double a : {0.5, 1.0, 3.0}) {
    for (const double start : {0.01, 0.3, 2.0}) {
      const Point x = descend(a, {start, start}, 0.02, 20000);
      EXPECT_NEAR(x.u * x.v, a, 1e-9);
      EXPECT_EQ(x.u, x.v);  // both move alike
    }
  }
}

// x = u v follows dx/dt = -2 x (x - a), whose solution from x(0) = c is
// x(t) = a + (a c - a^2) / (c e^(2 a t) + a - c). Euler's steps are off by O(eta).
TEST(ScalarCase, TheWayIsThatOfTheDifferentialEquation) {
  constexpr double kEta = 1e-4;
  for (const double a : {0.5, 1.0, 2.0}) {
    for (const double start : {0.05, 0.5, 1.5}) {
      const double c = start * start;
      for (const double t : {0.1, 0.5, 1.0, 3.0}) {
        const Point x = descend(a, {start, start}, kEta, static_cast<int>(std::lround(t / kEta)));
        const double solution = a + (a * c - a * a) / (c * std::exp(2 * a * t) + a - c);
        EXPECT_NEAR(x.u * x.v, solution, 20 * kEta) << "a " << a << " c " << c << " t " << t;
      }
    }
  }
}

// The Hessian [v^2, 2uv - a; 2uv - a, u^2] has determinant -a^2 at the origin: a saddle, which only
// the line u = -v leads to.
TEST(ScalarCase, TheOriginIsASaddle) {
  const Point still = descend(1, {0, 0}, 0.1, 100);
  EXPECT_EQ(still.u, 0);
  const Point into = descend(1, {0.5, -0.5}, 0.05, 2000);
  EXPECT_NEAR(into.u, 0, 1e-6);
  EXPECT_NEAR(into.v, 0, 1e-6);
  const Point past = descend(1, {0.5, -0.499}, 0.05, 2000);  // any other line leaves it
  EXPECT_NEAR(past.u * past.v, 1, 1e-9);
}

}  // namespace
}  // namespace kith
