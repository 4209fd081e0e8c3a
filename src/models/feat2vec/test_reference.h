// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: the model written down plainly, in double precision and without any of the kernel's
// short cuts: every score is a double loop over pairs of groups, every noise value rescores the
// row.

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "data/table/table_readers.h"
#include "models/feat2vec/model.h"
#include "models/feat2vec/problem.h"

namespace kith::feat2vec::reference {

// A table from CSV, with a schema as JSON put over what is inferred.
inline Table table_of(const std::string& csv, const std::string& schema,
                      std::optional<double> holdout = 0, const Encoding* base = nullptr) {
  SampledTable reader(read_text_table(memory_source(csv, 1 << 20), "t", {}));
  const Schema inferred = infer_schema(reader).schema;
  return Table::read(reader, merged(inferred, schema_from_json(schema, "schema"), "schema"),
                     holdout, base);
}

using Doubles = std::vector<double>;

// Parameters as doubles, laid out like the kernel's.
struct Parameters {
  size_t cols = 0;  // dim, and one more for biases
  Doubles theta;    // features x cols
  Doubles dense;    // pair weights, intercepts
};

inline double softplus(double z) {
  return z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
}
inline double sigma(double z) { return 1 / (1 + std::exp(-z)); }

inline Doubles phi(const Problem& p, const Parameters& x, size_t group, uint32_t entity) {
  Doubles out(x.cols, 0.0);
  const Entities& e = p.table->entities(group);
  const auto add = [&](const Feature& f) {
    for (size_t k = 0; k < x.cols; ++k) out[k] += double{f.weight} * x.theta[f.row * x.cols + k];
  };
  if (e.offsets.empty()) {
    add({e.first + entity, 1.0f});
  } else {
    for (uint64_t i = e.offsets[entity]; i < e.offsets[entity + 1]; ++i) add(e.features[i]);
  }
  return out;
}

// The score of a row of entities (kNoEntity: not there), without any intercept.
inline double score(const Problem& p, const Parameters& x, const std::vector<uint32_t>& row) {
  double out = 0;
  for (size_t a = 0; a < p.groups; ++a) {
    if (row[a] == kNoEntity) continue;
    const Doubles va = phi(p, x, a, row[a]);
    if (p.biases) out += va[p.dim];
    for (size_t b = a + 1; b < p.groups; ++b) {
      if (row[b] == kNoEntity) continue;
      const Doubles vb = phi(p, x, b, row[b]);
      double dot = 0;
      for (size_t k = 0; k < p.dim; ++k) dot += va[k] * vb[k];
      out += x.dense[a * p.groups + b] * dot;
    }
  }
  return out;
}

inline double head_loss(Loss loss, double s, double y) {
  const double e = s - y, a = std::abs(e);
  switch (loss) {
    case Loss::kAbsolute:
      return a;
    case Loss::kHuber:
      return a <= 1.345 ? e * e / 2 : 1.345 * (a - 1.345 / 2);
    case Loss::kTukey: {
      const double c = 4.685, t = 1 - e * e / (c * c);
      return t <= 0 ? c * c / 6 : c * c / 6 * (1 - t * t * t);
    }
    case Loss::kLogistic:
      return softplus(y > 0.5 ? -s : s);
    case Loss::kHinge:
      return std::max(0.0, 1 - (y > 0.5 ? s : -s));
    default:
      return e * e / 2;
  }
}

// The loss of one step. `shift` is added to log P_Q, to see what other definitions would do.
inline double loss(const Problem& p, const Parameters& x, const Example& example,
                   double shift = 0) {
  std::vector<uint32_t> row(p.groups, kNoEntity);
  for (size_t g = 0; g < p.groups; ++g) {
    if (example.keep[g]) row[g] = example.row[g];
  }
  const double* const intercepts = &x.dense[p.groups * p.groups];
  if (example.unit == p.units.size()) {
    return head_loss(p.head, score(p, x, row) + intercepts[p.units.size()],
                     p.target_values[example.entity]);
  }
  const Unit& unit = p.units[example.unit];
  const double intercept = p.intercepts == Intercepts::kNone  ? 0
                           : p.intercepts == Intercepts::kOne ? intercepts[0]
                                                              : intercepts[example.unit];
  const auto score_of = [&](uint32_t entity) {
    for (size_t a = 0; a < unit.groups.size(); ++a) {
      row[unit.groups[a]] =
          unit.tuples.empty() ? entity : unit.tuples[entity * unit.groups.size() + a];
    }
    return score(p, x, row) + intercept;
  };
  const auto log_noise = [&](uint32_t entity) { return double{unit.log_noise[entity]}; };
  const double k = static_cast<double>(example.noise.size());
  if (p.loss == Loss::kSoftmax) {
    const double truth = score_of(example.entity) - log_noise(example.entity);
    double total = std::exp(truth);
    for (const uint32_t id : example.noise) {
      total += std::exp(score_of(id) - log_noise(id));
    }
    return std::log(total) - truth;
  }
  double out = 0;
  for (size_t i = 0; i <= example.noise.size(); ++i) {
    const uint32_t id = i == 0 ? example.entity : example.noise[i - 1];
    if (p.loss == Loss::kNs && i > 0 && id == example.entity) continue;
    double z = score_of(id);
    if (p.loss == Loss::kNce) z -= std::log(k) + log_noise(id) + shift;
    out += softplus(i == 0 ? -z : z);
  }
  return out;
}

// d loss / d parameter by central differences, for all of theta and the dense part.
inline Doubles numeric_gradient(const Problem& p, Parameters x, const Example& example,
                                double shift = 0) {
  constexpr double h = 1e-5;
  Doubles out;
  for (Doubles* part : {&x.theta, &x.dense}) {
    for (double& v : *part) {
      const double at = v;
      v = at + h;
      const double up = loss(p, x, example, shift);
      v = at - h;
      const double down = loss(p, x, example, shift);
      v = at;
      out.push_back((up - down) / (2 * h));
    }
  }
  return out;
}

// The kernel's parameters: float tables with room for the optimiser's state.
struct Tables {
  Tables(const Problem& p, unsigned seed)
      : theta(p.table->encoding().rows(), p.width + state_width(p.optimiser, p.width)),
        dense(2 * (p.groups * p.groups + p.units.size() + 1), 0.0f),
        units(p.units.size()),
        groups(p.groups) {
    std::mt19937 rng(seed);
    std::normal_distribution<float> normal(0, 0.6f);
    for (size_t r = 0; r < theta.rows(); ++r) {
      for (size_t k = 0; k < p.dim + p.biases; ++k) theta.row(r)[k] = normal(rng);
    }
    const std::vector<float> pairs = first_pairs(p.table->encoding());
    std::copy(pairs.begin(), pairs.end(), dense.begin());
    for (size_t i = 0; i < groups && p.learn_pairs; ++i) {
      for (size_t j = 0; j < i; ++j) {
        dense[i * groups + j] = dense[j * groups + i] = 1 + 0.3f * normal(rng);
      }
    }
    for (size_t u = 0; u <= units; ++u) dense[groups * groups + u] = normal(rng);
  }
  Dense view() { return {dense.data(), groups, units}; }
  Parameters doubles(const Problem& p) const {
    Parameters out;
    out.cols = p.dim + p.biases;
    for (size_t r = 0; r < theta.rows(); ++r) {
      for (size_t k = 0; k < out.cols; ++k) out.theta.push_back(theta.row(r)[k]);
    }
    out.dense.assign(dense.begin(), dense.begin() + static_cast<int64_t>(dense.size() / 2));
    return out;
  }
  Matrix theta;
  std::vector<float> dense;
  size_t units, groups;
};

// The gradient that the kernel follows: what one plain step of rate 1 takes away. The dense part
// moves by AdaGrad, whose first step tells the sign and whose sum of squares the size.
inline Doubles kernel_gradient(const Problem& p, const Tables& at, const Example& example) {
  Tables moved{p, 0};
  moved.theta = at.theta.copy();
  moved.dense = at.dense;
  Scratch scratch(p);
  train_example(p, example, 1, moved.theta.view(), moved.view(), scratch);
  Doubles out;
  const Parameters before = at.doubles(p), after = moved.doubles(p);
  for (size_t i = 0; i < before.theta.size(); ++i) out.push_back(before.theta[i] - after.theta[i]);
  const size_t n = before.dense.size();
  for (size_t i = 0; i < n; ++i) {
    const double size = std::sqrt(moved.dense[n + i]);
    out.push_back(before.dense[i] > after.dense[i] ? size : -size);
  }
  return out;
}

}  // namespace kith::feat2vec::reference
