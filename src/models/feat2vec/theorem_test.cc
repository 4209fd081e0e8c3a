// SPDX-License-Identifier: Apache-2.0
// Theorem 1: the expected gradient of self-supervised learning is the mean, weighted by Q1, of the
// gradients of learning each group as a supervised target. Its proof is linearity of expectation
// once P_Q is the noise within the group; the tests check it on samples, in expectation, and where
// it must fail.

#include "models/feat2vec/test_reference.h"

namespace kith::feat2vec {
namespace {

using reference::Doubles;

constexpr const char* kEveryType =
    "who,tags,note,size,day,flag\n"
    "ann,red|blue,a small cat,1.5,2020-01-05,yes\n"
    "bob,red,the big dog runs,2.5,2021-03-01,no\n"
    "cy,,a dog,7,2020-07-09,yes\n"
    "ann,green|blue|red,,3.25,,no\n"
    "dee,green,cat and dog,,2022-11-30,yes\n"
    "bob,blue,the cat,9,2019-02-02,no\n";
constexpr const char* kEverySchema = R"({"columns": [
  {"name": "who", "type": "category", "buckets": 7},
  {"name": "tags", "type": "set", "separator": "|"},
  {"name": "note", "type": "text"},
  {"name": "size", "type": "number", "knots": 3},
  {"name": "day", "type": "date", "knots": 3},
  {"name": "flag", "type": "boolean"}]})";

Config settings(Loss loss) {
  Config config;
  config.dim = 4;
  config.loss = loss;
  config.negatives = 3;
  config.dropout = 0;
  config.biases = false;
  config.optimiser = Optimiser::kSgd;
  return config;
}

struct Drawn {
  std::vector<uint32_t> row;
  Example example;
};
std::vector<Drawn> draw_batch(const Problem& p, uint64_t passes, uint64_t seed) {
  std::vector<Drawn> out;
  for (uint64_t t = 0; t < passes; ++t) {
    for (uint64_t r = 0; r < p.table->rows(); ++r) {
      Rng rng(seed, t * p.table->rows() + r);
      Drawn d;
      d.example.keep.resize(p.groups);
      if (draw(p, p.table->row(r).data(), r, rng, d.example)) out.push_back(std::move(d));
    }
  }
  return out;
}

void add(Doubles& to, const Doubles& x, double weight) {
  to.resize(x.size());
  for (size_t i = 0; i < x.size(); ++i) to[i] += weight * x[i];
}
double distance(const Doubles& a, const Doubles& b) {
  double sum = 0, size = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(sum / size);
}

// Rows and noise are the same on both sides. Left: the self-supervised problem through the kernel.
// Right: for each group a problem of its own, with that group as supervised target, through the
// plain model and finite differences.
TEST(Theorem1, HoldsOnASampleForEveryEncoder) {
  const Table table = reference::table_of(kEveryType, kEverySchema);
  for (const Loss loss : {Loss::kNce, Loss::kSoftmax}) {
    const Problem self = make_problem(table, resolved(settings(loss), table.encoding()));
    const reference::Tables at(self, 1);
    const reference::Parameters x = at.doubles(self);
    const auto batch = draw_batch(self, 4, 9);
    const auto n = static_cast<double>(batch.size());
    Doubles left, right;
    for (const Drawn& d : batch) {
      add(left, reference::kernel_gradient(self, at, d.example), 1 / n);
    }
    for (uint32_t g = 0; g < self.groups; ++g) {
      Config config = settings(loss);
      config.target = table.encoding().groups[g].column.name;
      const Problem supervised = make_problem(table, resolved(config, table.encoding()));
      std::vector<const Example*> mine;
      for (const Drawn& d : batch) {
        if (self.units[d.example.unit].groups[0] == g) mine.push_back(&d.example);
      }
      Doubles gradient;
      for (const Example* e : mine) {
        Example other = *e;
        other.unit = supervised.unit_of[g];
        add(gradient, reference::numeric_gradient(supervised, x, other),
            1 / static_cast<double>(mine.size()));
      }
      if (!mine.empty()) add(right, gradient, static_cast<double>(mine.size()) / n);
    }
    const size_t vectors = x.theta.size();  // pair weights are not learned here
    for (size_t i = 0; i < vectors; ++i) ASSERT_NEAR(left[i], right[i], 1e-6) << i;
    for (size_t i = vectors + self.groups * self.groups; loss == Loss::kNce && i < left.size();
         ++i) {
      ASSERT_NEAR(left[i], right[i], 1e-6) << "intercept " << i;
    }
  }
}

// A table of categories, whose expectation can be enumerated.
constexpr const char* kSmall =
    "a,b,c\n"
    "p,u,1x\nq,v,1x\np,v,2x\nr,u,3x\np,u,2x\nq,w,3x\nr,w,1x\np,w,1x\n";
constexpr const char* kSmallSchema = R"({"columns": [{"name": "a", "type": "category"},
  {"name": "b", "type": "category"}, {"name": "c", "type": "category"}]})";

// Sum over rows and groups of P_Q1(i) times the supervised NCE gradient with every noise value v
// weighted by k P_Q2(v), by hand.
Doubles enumerated(const Problem& p, const reference::Parameters& x) {
  Doubles out(x.theta.size(), 0.0);
  const double rows = static_cast<double>(p.table->rows()), k = p.negatives;
  for (uint64_t r = 0; r < p.table->rows(); ++r) {
    const auto truth = p.table->row(r);
    for (const Unit& unit : p.units) {
      const uint32_t g = unit.groups[0];
      std::vector<uint32_t> row(truth.begin(), truth.end());
      const auto term = [&](uint32_t v, double weight, double label) {
        row[g] = v;
        const double z = reference::score(p, x, row) + x.dense[p.groups * p.groups + p.unit_of[g]] -
                         std::log(k) - double{unit.log_noise[v]};
        const double slope = weight * (reference::sigma(z) - label) * unit.probability / rows;
        for (size_t a = 0; a < p.groups; ++a) {  // d score / d phi_a is the sum of the others
          const uint64_t at = (p.table->entities(a).first + row[a]) * x.cols;
          for (size_t b = 0; b < p.groups; ++b) {
            if (b == a) continue;
            const auto other = reference::phi(p, x, b, row[b]);
            for (size_t d = 0; d < x.cols; ++d) out[at + d] += slope * other[d];
          }
        }
      };
      term(truth[g], 1, 1);
      for (uint32_t v = 0; v < p.table->entities(g).size; ++v) {
        term(v, k * std::exp(double{unit.log_noise[v]}), 0);
      }
    }
  }
  return out;
}

TEST(Theorem1, MonteCarloApproachesTheExpectation) {
  const Table table = reference::table_of(kSmall, kSmallSchema);
  const Problem p = make_problem(table, resolved(settings(Loss::kNce), table.encoding()));
  const reference::Tables at(p, 2);
  const Doubles exact = enumerated(p, at.doubles(p));
  // The error falls like 1 / sqrt(passes): times sqrt(passes) it stays of one size. Each is one
  // draw of a random size, so a factor of 2.5 either way is allowed.
  double first = 0;
  for (const uint64_t passes : {64, 1024, 8192}) {
    Doubles mean;
    const auto batch = draw_batch(p, passes, 11);
    for (const Drawn& d : batch) {
      add(mean, reference::kernel_gradient(p, at, d.example),
          1 / static_cast<double>(batch.size()));
    }
    mean.resize(exact.size());
    const double scaled = distance(mean, exact) * std::sqrt(static_cast<double>(passes));
    if (first == 0) first = scaled;
    EXPECT_LT(scaled, 2.5 * first) << passes;
    EXPECT_GT(scaled, first / 2.5) << passes;
  }
  EXPECT_LT(first / std::sqrt(8192.0), 0.02);
}

TEST(Theorem1, GroupsAndValuesAreDrawnByQ1AndQ2) {
  const Table table = reference::table_of(kSmall, kSmallSchema);
  Config config = settings(Loss::kNce);
  config.alpha1 = 1;
  const Problem p = make_problem(table, resolved(config, table.encoding()));
  double total = 0;
  for (const Unit& u : p.units) total += u.probability;
  EXPECT_NEAR(total, 1, 1e-12);
  std::vector<double> units(p.units.size(), 0);
  std::vector<std::vector<double>> values(p.units.size());
  double draws = 0;
  const auto batch = draw_batch(p, 4000, 5);
  for (const Drawn& d : batch) {
    ++units[d.example.unit];
    auto& v = values[d.example.unit];
    v.resize(p.table->entities(p.units[d.example.unit].groups[0]).size);
    for (const uint32_t id : d.example.noise) ++v[id];
    ++draws;
  }
  // Chi-square with 2 and with (3 - 1) degrees of freedom: 99.99 % stays below 18.4.
  double chi = 0;
  for (size_t u = 0; u < units.size(); ++u) {
    const double expected = draws * p.units[u].probability;
    chi += (units[u] - expected) * (units[u] - expected) / expected;
    double inner = 0;
    for (size_t v = 0; v < values[u].size(); ++v) {
      const double wanted = units[u] * 3 * std::exp(double{p.units[u].log_noise[v]});
      inner += (values[u][v] - wanted) * (values[u][v] - wanted) / wanted;
    }
    EXPECT_LT(inner, 18.4) << u;
  }
  EXPECT_LT(chi, 18.4);
  // All three columns have three values: proportional and uniform agree, and the floor does not
  // bind.
  for (const Unit& u : p.units) EXPECT_NEAR(u.probability, 1.0 / 3, 1e-12);
}

// Dividing by P_Q with or without the factor k differs by a constant in the intercept, nothing
// else.
TEST(Theorem1, TheFactorKIsAShiftOfTheIntercept) {
  const Table table = reference::table_of(kSmall, kSmallSchema);
  const Problem p = make_problem(table, resolved(settings(Loss::kNce), table.encoding()));
  const reference::Tables at(p, 3);
  reference::Parameters without = at.doubles(p);
  for (size_t u = 0; u < p.units.size(); ++u) {
    without.dense[p.groups * p.groups + u] -= std::log(3.0);
  }
  for (const Drawn& d : draw_batch(p, 1, 4)) {
    const Doubles with_k = reference::kernel_gradient(p, at, d.example);
    const Doubles no_k = reference::numeric_gradient(p, without, d.example, -std::log(3.0));
    for (size_t i = 0; i < without.theta.size(); ++i) ASSERT_NEAR(with_k[i], no_k[i], 1e-6) << i;
  }
}

// P_Q = Q1 * Q2, as one of the texts has it, is another objective: its gradient must not agree.
TEST(Theorem1, FailsWithTheProbabilityOfTheGroup) {
  const Table table = reference::table_of(kSmall, kSmallSchema);
  const Problem p = make_problem(table, resolved(settings(Loss::kNce), table.encoding()));
  const reference::Tables at(p, 3);
  const reference::Parameters x = at.doubles(p);
  for (const Drawn& d : draw_batch(p, 1, 4)) {
    const Doubles kernel = reference::kernel_gradient(p, at, d.example);
    const double q1 = p.units[d.example.unit].probability;
    Doubles other = reference::numeric_gradient(p, x, d.example, std::log(q1));
    Doubles mine(kernel.begin(), kernel.begin() + static_cast<int64_t>(x.theta.size()));
    other.resize(x.theta.size());
    EXPECT_GT(distance(mine, other), 0.02);
  }
}

Feat2Vec trained(const Table& table, const Config& config) {
  Feat2Vec model;
  model.config() = config;
  Job job;
  model.train(table, job);
  return model;
}

// With Q1 wholly on one group the self-supervised run is the supervised run, bit for bit.
TEST(Theorem1, OneGroupIsSupervisedLearningBitForBit) {
  for (const Loss loss : {Loss::kNce, Loss::kSoftmax}) {
    Config config = settings(loss);
    config.optimiser = Optimiser::kRowAdaGrad;
    const Table one = reference::table_of(kSmall, R"({"columns": [
      {"name": "a", "type": "category", "sampled": false},
      {"name": "b", "type": "category", "sampled": false}, {"name": "c", "type": "category"}]})");
    const Feat2Vec self = trained(one, config);
    config.target = "c";
    const Feat2Vec supervised = trained(reference::table_of(kSmall, kSmallSchema), config);
    ASSERT_EQ(self.theta().rows(), supervised.theta().rows());
    for (size_t r = 0; r < self.theta().rows(); ++r) {
      ASSERT_TRUE(std::ranges::equal(self.theta().row(r), supervised.theta().row(r))) << r;
    }
  }
}

}  // namespace
}  // namespace kith::feat2vec
