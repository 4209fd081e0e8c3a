// SPDX-License-Identifier: Apache-2.0
// The optimisers of train/optimiser.h, step by step against their equations in double precision.

#include <hwy/targets.h>

#include "models/feat2vec/test_reference.h"

namespace kith::feat2vec {
namespace {

using reference::Doubles;

// One parameter's or one row's memory.
struct Memory {
  Doubles v, h, m;
  int steps = 0;
};

void reference_step(Optimiser kind, const Step& s, double lr, std::span<double> x,
                    std::span<const double> slopes, Memory& memory, bool touched) {
  if (!touched) return;  // rows that a step does not touch stand still
  Doubles g(slopes.begin(), slopes.end());
  for (size_t i = 0; i < x.size(); ++i) g[i] += s.l2 * x[i];
  memory.v.resize(x.size());
  memory.h.resize(x.size());
  memory.m.resize(x.size());
  ++memory.steps;
  const double first = 1 - std::pow(double{s.beta}, memory.steps);
  const double second = 1 - std::pow(double{s.gamma}, memory.steps);
  double mean = 0;
  for (const double d : g) mean += d * d / static_cast<double>(g.size());
  for (size_t i = 0; i < x.size(); ++i) {
    double &v = memory.v[i], &h = memory.h[i], &m = memory.m[i];
    switch (kind) {
      case Optimiser::kSgd:
        x[i] -= lr * g[i];
        break;
      case Optimiser::kMomentum:
        v = s.beta * v - lr * g[i];
        x[i] += v;
        break;
      case Optimiser::kNesterov:
        v = s.beta * v - lr * g[i];
        x[i] += s.beta * v - lr * g[i];
        break;
      case Optimiser::kAdaGrad:
        h += g[i] * g[i];
        x[i] -= lr * g[i] / (std::sqrt(h) + s.delta);
        break;
      case Optimiser::kAdam:
        m = s.beta * m + (1 - double{s.beta}) * g[i];
        h = s.gamma * h + (1 - double{s.gamma}) * g[i] * g[i];
        x[i] -= lr * m / first / (std::sqrt(h / second) + s.delta);
        break;
      case Optimiser::kRowAdaGrad:
        h += mean;
        x[i] -= lr * g[i] / (std::sqrt(h) + s.delta);
        break;
    }
  }
}

// With and without regularisation.
std::vector<std::pair<Optimiser, double>> all_kinds() {
  std::vector<std::pair<Optimiser, double>> out;
  for (size_t k = 0; k < EnumNames<Optimiser>::names.size(); ++k) {
    for (const double l2 : {0.0, 0.3}) out.emplace_back(static_cast<Optimiser>(k), l2);
  }
  return out;
}

Table three_columns() {
  return reference::table_of(
      "a,b,c\np,u,x\nq,v,y\nr,w,z\n",
      R"({"columns": [{"name": "a", "type": "category"}, {"name": "b", "type": "category"},
          {"name": "c", "type": "category"}]})");
}

TEST(Optimisers, FollowTheirEquations) {
  const Table table = three_columns();
  for (const auto& [kind, l2] : all_kinds()) {
    Config config;
    config.dim = 5;
    config.biases = false;
    config.loss = Loss::kNce;
    config.intercepts = Intercepts::kNone;
    config.optimiser = kind;
    config.negatives = 1;
    config.l2 = l2;
    const Problem p = make_problem(table, resolved(config, table.encoding()));
    reference::Tables at(p, 8);
    reference::Parameters x = at.doubles(p);
    std::vector<Memory> memory(at.theta.rows());
    Scratch scratch(p);
    Example example;
    example.keep.assign(p.groups, 1);
    example.unit = 2;
    example.keep[2] = 0;
    for (int step = 0; step < 4; ++step) {
      const auto row = table.row(static_cast<uint64_t>(step % 3));
      example.row = row.data();
      example.entity = row[2];
      example.noise = {(row[2] + 1) % 3};
      const Doubles g = reference::numeric_gradient(p, x, example);
      for (size_t r = 0; r < memory.size(); ++r) {
        const std::span<const double> mine(&g[r * x.cols], x.cols);
        const bool touched = std::ranges::any_of(mine, [](double d) { return std::abs(d) > 1e-9; });
        // Each value stands in one row, and is held back by all of l2 there; noise is not.
        Step wanted;
        wanted.l2 = r == table.entities(2).first + example.noise[0] ? 0 : static_cast<float>(l2);
        reference_step(kind, wanted, 0.1, {&x.theta[r * x.cols], x.cols}, mine, memory[r], touched);
      }
      train_example(p, example, 0.1f, at.theta.view(), at.view(), scratch);
      const reference::Parameters got = at.doubles(p);
      for (size_t i = 0; i < x.theta.size(); ++i) {
        ASSERT_NEAR(got.theta[i], x.theta[i], 5e-5)
            << detail::show(kind) << " l2 " << l2 << " step " << step;
      }
    }
  }
}

// Of noise that is the truth negative sampling learns nothing: nothing moves a second time, not by
// l2 or by its momentum either.
TEST(Optimisers, WhatIsNotLearnedFromDoesNotMove) {
  const Table table = three_columns();
  for (const auto& [kind, l2] : all_kinds()) {
    Config config;
    config.dim = 5;
    config.loss = Loss::kNs;
    config.optimiser = kind;
    config.negatives = 2;
    config.l2 = l2;
    const Problem p = make_problem(table, resolved(config, table.encoding()));
    reference::Tables with(p, 8), without(p, 8);
    Example example;
    example.keep = {1, 1, 0};
    example.unit = 2;
    for (const uint64_t step : {0, 1, 2, 0}) {
      const auto row = table.row(step);
      example.row = row.data();
      example.entity = row[2];
      const uint32_t other = (row[2] + 1) % 3;
      Scratch scratch(p);
      example.noise = {row[2], other};
      train_example(p, example, 0.1f, with.theta.view(), with.view(), scratch);
      example.noise = {other};
      train_example(p, example, 0.1f, without.theta.view(), without.view(), scratch);
    }
    for (size_t r = 0; r < with.theta.rows(); ++r) {
      EXPECT_TRUE(std::ranges::equal(with.theta.row(r), without.theta.row(r)))
          << detail::show(kind) << " l2 " << l2 << " row " << r;
    }
  }
}

// Whatever moves the rows, intercepts move by adagrad.
TEST(Optimisers, InterceptsFollowAdagrad) {
  const Table table = three_columns();
  Config config;
  config.dim = 5;
  config.loss = Loss::kNce;
  config.intercepts = Intercepts::kOne;
  config.optimiser = Optimiser::kSgd;
  config.negatives = 1;
  const Problem p = make_problem(table, resolved(config, table.encoding()));
  reference::Tables at(p, 8);
  Scratch scratch(p);
  Example example;
  example.keep = {1, 1, 0};
  example.unit = 2;
  double squares = 0;
  for (int step = 0; step < 4; ++step) {
    const auto row = table.row(static_cast<uint64_t>(step % 3));
    example.row = row.data();
    example.entity = row[2];
    example.noise = {(row[2] + 1) % 3};
    const reference::Parameters x = at.doubles(p);
    const size_t intercept = p.groups * p.groups;
    const double g = reference::numeric_gradient(p, x, example)[x.theta.size() + intercept];
    squares += g * g;
    train_example(p, example, 0.1f, at.theta.view(), at.view(), scratch);
    EXPECT_NEAR(at.doubles(p).dense[intercept], x.dense[intercept] - 0.1 * g / std::sqrt(squares),
                1e-5)
        << step;
  }
}

}  // namespace
}  // namespace kith::feat2vec
