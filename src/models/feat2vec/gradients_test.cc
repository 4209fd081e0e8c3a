// SPDX-License-Identifier: Apache-2.0
// Every loss and every encoder against finite differences of the plain model in double precision.
// One comparison covers the gradient, the score by the identity 1/2 (|S|^2 - sum |phi|^2), and the
// O(r) rescoring of a noise value.

#include "core/error.h"
#include "kernels/test_targets.h"
#include "models/feat2vec/test_reference.h"

namespace kith::feat2vec {
namespace {

// Rounding of float sums, with room: relative for large values, absolute for small ones.
double tolerance(double value) { return 2e-5 * (1 + std::abs(value)); }

// One column of every type; cells are missing here and there.
constexpr const char* kCsv =
    "who,tags,note,size,day,flag,vec,label\n"
    "ann,red|blue,a small cat,1.5,2020-01-05,yes,1;2;3,x\n"
    "bob,red,the big dog runs,2.5,2021-03-01,no,2;0;1,y\n"
    "cy,,a dog,7,2020-07-09,yes,0;1;5,x\n"
    "ann,green|blue|red,,3.25,,no,4;4;1,y\n"
    "dee,green,cat and dog,,2022-11-30,yes,,x\n"
    "bob,blue,the cat,9,2019-02-02,no,1;0;0,y\n";
constexpr const char* kSchema = R"({"columns": [
  {"name": "who", "type": "category", "buckets": 7},
  {"name": "tags", "type": "set", "separator": "|"},
  {"name": "note", "type": "text"},
  {"name": "size", "type": "number", "knots": 3},
  {"name": "day", "type": "date", "knots": 3},
  {"name": "flag", "type": "boolean"},
  {"name": "vec", "type": "vector", "separator": ";"},
  {"name": "label", "type": "category"}]})";

void expect_gradients(const Table& table, Config config, unsigned seed) {
  config.optimiser = Optimiser::kSgd;
  config.negatives = 3;
  config = resolved(config, table.encoding());
  Problem p = make_problem(table, config);
  p.target_values = {0.3f, -1.2f};
  const reference::Tables at(p, seed);
  const reference::Parameters x = at.doubles(p);
  Example example;
  example.keep.resize(p.groups);
  std::vector<int> steps(p.units.size() + 1, 0);
  for (uint64_t r = 0; r < 24; ++r) {
    Rng rng(seed, r);
    const uint64_t row = r % table.rows();
    ASSERT_TRUE(draw(p, table.row(row).data(), row, rng, example));
    ++steps[example.unit];
    Scratch scratch(p);
    reference::Tables copy(p, seed);
    const double loss = reference::loss(p, x, example);
    EXPECT_NEAR(train_example(p, example, 0, copy.theta.view(), copy.view(), scratch), loss,
                tolerance(loss));
    const auto expected = reference::numeric_gradient(p, x, example);
    const auto got = reference::kernel_gradient(p, at, example);
    ASSERT_EQ(got.size(), expected.size());
    const size_t dense = x.theta.size(), n = p.groups;
    for (size_t i = 0; i < got.size(); ++i) {
      if (i >= dense && i < dense + n * n) {
        // A pair weight stands twice in the table and once in the plain score.
        const size_t a = (i - dense) / n, b = (i - dense) % n;
        if (!p.learn_pairs || a >= b) continue;
        // The kernel keeps the sum of squares of a pair on the side that it was reached from.
        const double other = got[dense + b * n + a];
        const double size = std::max(std::abs(got[i]), std::abs(other));
        ASSERT_NEAR(size, std::abs(expected[i]), tolerance(expected[i]))
            << "pair " << a << " " << b;
        continue;
      }
      if (i >= dense && p.loss == Loss::kSoftmax && i < dense + n * n + p.units.size()) continue;
      ASSERT_NEAR(got[i], expected[i], tolerance(expected[i]))
          << "parameter " << i << ", row " << r;
    }
  }
}

const Table& every_type() {
  static const Table table = reference::table_of(kCsv, kSchema);
  return table;
}

TEST(Feat2VecGradients, LossesOfValuesAgainstNoise) {
  for (const Loss loss : {Loss::kSoftmax, Loss::kNce, Loss::kNs}) {
    for (const bool biases : {false, true}) {
      for (const bool pairs : {false, true}) {
        Config config;
        config.dim = 5;
        config.loss = loss;
        config.biases = biases;
        config.pair_weights = pairs;
        SCOPED_TRACE(fmt::format("{} biases {} pairs {}", detail::show(loss), biases, pairs));
        expect_gradients(every_type(), config, 3);
      }
    }
  }
}

TEST(Feat2VecGradients, LossesOfAScoreAgainstATarget) {
  for (const Loss loss : {Loss::kSquared, Loss::kAbsolute, Loss::kHuber, Loss::kTukey,
                          Loss::kLogistic, Loss::kHinge}) {
    for (const bool pairs : {false, true}) {
      Config config;
      config.dim = 5;
      config.loss = loss;
      config.target = "label";
      config.pair_weights = pairs;
      config.mix = 0.5;
      SCOPED_TRACE(fmt::format("{} pairs {}", detail::show(loss), pairs));
      expect_gradients(every_type(), config, 4);
    }
  }
}

TEST(Feat2VecGradients, GroupsSampledTogetherSharedAndWeighted) {
  const Table table = reference::table_of(
      kCsv, R"({"columns": [{"name": "who", "type": "category", "vocabulary": "people"},
      {"name": "tags", "type": "set", "separator": "|", "vocabulary": "people", "weight": 0.5},
      {"name": "note", "type": "text", "interacts": ["who", "size"]},
      {"name": "size", "type": "number", "knots": 3, "swap": "both"},
      {"name": "day", "type": "date", "knots": 3, "swap": "both"},
      {"name": "flag", "type": "boolean"},
      {"name": "vec", "type": "ignore"},
      {"name": "label", "type": "category"}]})");
  for (const Loss loss : {Loss::kSoftmax, Loss::kNce}) {
    for (const bool biases : {false, true}) {
      Config config;
      config.dim = 6;
      config.loss = loss;
      config.biases = biases;
      config.pair_weights = biases;
      SCOPED_TRACE(fmt::format("{} biases {}", detail::show(loss), biases));
      expect_gradients(table, config, 5);
    }
  }
}

TEST(Feat2VecGradients, HoldOnEveryTarget) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    use_target(target);
    Config config;
    config.dim = 19;  // more than one vector, and not a whole number of them
    config.loss = Loss::kNce;
    config.biases = true;
    SCOPED_TRACE(hwy::TargetName(target));
    expect_gradients(every_type(), config, 6);
    config.loss = Loss::kSoftmax;
    expect_gradients(every_type(), config, 7);
  }
  use_target(0);
}

}  // namespace
}  // namespace kith::feat2vec
