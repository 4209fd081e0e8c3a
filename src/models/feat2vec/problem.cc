// SPDX-License-Identifier: Apache-2.0
// From a table and settings to what the kernel works on: units with their noise, and single steps.
#include "models/feat2vec/problem.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/error.h"

namespace kith::feat2vec {
namespace {

constexpr double kLeastShare = 0.25;  // of an equal share: no group is replaced less often

bool interacts(const Column& a, const Column& b) {
  const auto lists = [](const Column& x, const Column& y) {
    return x.interacts.empty() || std::ranges::find(x.interacts, y.name) != x.interacts.end();
  };
  return lists(a, b) && lists(b, a);
}

// Distinct combinations of the groups' entities, and which of them each row has; held-out rows
// follow the others.
void build_tuples(const Table& table, Unit& unit, std::vector<uint64_t>& counts) {
  std::map<std::vector<uint32_t>, uint32_t> known;
  std::vector<uint32_t> tuple(unit.groups.size());
  const uint64_t rows = table.rows(), all = rows + table.held_out();
  for (uint64_t r = 0; r < all; ++r) {
    const auto row = r < rows ? table.row(r) : table.held_out_row(r - rows);
    bool any = false;
    for (size_t a = 0; a < tuple.size(); ++a) {
      tuple[a] = row[unit.groups[a]];
      any = any || tuple[a] != kNoEntity;
    }
    if (!any) {
      unit.of_row.push_back(kNoEntity);
      continue;
    }
    const auto [at, fresh] = known.emplace(tuple, static_cast<uint32_t>(known.size()));
    if (fresh) {
      unit.tuples.insert(unit.tuples.end(), tuple.begin(), tuple.end());
      counts.push_back(0);
    }
    counts[at->second] += r < rows;
    unit.of_row.push_back(at->second);
  }
}

// False if there is nothing to draw.
bool set_noise(Unit& unit, std::span<const uint64_t> counts, double alpha) {
  std::vector<double> weights(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    weights[i] = counts[i] ? std::pow(static_cast<double>(counts[i]), alpha) : 0;
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(total > 0)) return false;
  unit.noise = AliasSampler(weights);
  // A value that only held-out rows have is never drawn; it is scored as if it were the rarest.
  const double rarest = 1 / total;
  for (const double w : weights) {
    unit.log_noise.push_back(static_cast<float>(std::log(w > 0 ? w / total : rarest)));
  }
  return true;
}

}  // namespace

Config resolved(const Config& config, const Encoding& encoding, uint64_t rows) {
  // A short table is seen often, a long one a few times: about a million rows in all.
  constexpr uint64_t kRowsWanted = 1000000, kLeast = 5, kMost = 40;
  Config out = config;
  const auto usual = [](auto& setting, auto value) { setting = setting.value_or(value); };
  const bool paper = out.paper;
  usual(out.epochs,
        static_cast<int>(std::clamp(kRowsWanted / std::max<uint64_t>(1, rows), kLeast, kMost)));
  usual(out.dim, paper ? 50 : 100);
  usual(out.negatives, paper ? 5 : 20);
  usual(out.alpha1, paper ? 0.75 : 0.5);
  usual(out.init, paper ? 0.05 : 0.1);
  usual(out.dropout, paper ? 0.0 : 0.5);
  usual(out.intercepts, paper ? Intercepts::kOne : Intercepts::kGroup);
  usual(out.biases, !paper);
  usual(out.optimiser, paper ? Optimiser::kAdaGrad : Optimiser::kRowAdaGrad);
  usual(out.lr, keeps_going(*out.optimiser) ? 0.01 : 0.1);
  if (out.mix > 0 && out.target.empty()) {
    throw fault(ErrorKind::kUsage,
                "--mix shares the work between a target and the rest; name the "
                "target with --target");
  }
  const bool number = !out.target.empty() && encoding.groups[encoding.group(out.target)].numeric();
  usual(out.loss, paper ? Loss::kNce : number ? Loss::kSquared : Loss::kSoftmax);
  if (is_head(*out.loss)) {
    if (out.target.empty()) {
      throw fault(ErrorKind::kUsage,
                  "--loss {} is of a score against a number; name the column "
                  "with --target",
                  detail::show(*out.loss));
    }
    if (config.biases == false) {
      throw fault(ErrorKind::kUsage,
                  "--loss {} is of a score that biases are part of; leave out --no-biases",
                  detail::show(*out.loss));
    }
    out.biases = true;
  }
  if (*out.dim == 0 && !*out.biases) {
    throw fault(ErrorKind::kUsage, "--dim 0 leaves nothing to learn without --biases");
  }
  return out;
}

std::vector<float> first_pairs(const Encoding& encoding) {
  const size_t n = encoding.groups.size();
  std::vector<float> out(n * n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      const Column &a = encoding.groups[i].column, &b = encoding.groups[j].column;
      if (i != j && interacts(a, b)) out[i * n + j] = static_cast<float>(a.weight * b.weight);
    }
  }
  return out;
}

std::vector<std::vector<uint32_t>> units_of(const Encoding& encoding, const Config& config) {
  std::vector<std::vector<uint32_t>> out;
  std::map<std::string, size_t> together;
  for (uint32_t g = 0; g < encoding.groups.size(); ++g) {
    const Column& column = encoding.groups[g].column;
    const bool target = column.name == config.target;
    if (target ? is_head(*config.loss) : !column.sampled) continue;
    size_t unit = out.size();
    if (!column.swap.empty()) unit = together.emplace(column.swap, unit).first->second;
    if (unit == out.size()) out.emplace_back();
    out[unit].push_back(g);
  }
  return out;
}

namespace {

// How often each unit is the one that is replaced, without the target's part: by its parameters,
// and none much less often than the others. 0 for a unit without noise.
std::vector<double> shares_of_units(Problem& p, const Table& table, const Config& config) {
  const Encoding& encoding = table.encoding();
  std::vector<double> q1;
  for (Unit& unit : p.units) {
    std::vector<uint64_t> counts;
    if (unit.groups.size() == 1) {
      counts = table.entities(unit.groups[0]).counts;
    } else {
      build_tuples(table, unit, counts);
    }
    if (!set_noise(unit, counts, config.alpha2)) {
      q1.push_back(0);
      continue;
    }
    uint64_t rows = 0;
    for (const uint32_t g : unit.groups) rows += encoding.spaces[encoding.groups[g].space].rows();
    q1.push_back(std::pow(static_cast<double>(rows * std::max<size_t>(1, p.dim)), *config.alpha1));
  }
  const double total = std::accumulate(q1.begin(), q1.end(), 0.0);
  const double least = config.paper ? 0 : kLeastShare * total / static_cast<double>(q1.size());
  double sum = 0;
  for (double& q : q1) sum += q = q > 0 ? std::max(q, least) : 0;
  sum = std::max(sum, 1e-300);
  for (double& q : q1) q /= sum;
  return q1;
}

}  // namespace

Problem make_problem(const Table& table, const Config& config) {
  const Encoding& encoding = table.encoding();
  const size_t n = encoding.groups.size();
  Problem p;
  p.table = &table;
  p.groups = n;
  p.dim = static_cast<size_t>(*config.dim);
  p.biases = *config.biases;
  p.width = padded(p.dim + p.biases);
  p.loss = is_head(*config.loss) ? Loss::kSoftmax : *config.loss;
  p.negatives = *config.negatives;
  p.dropout = p.loss == Loss::kSoftmax ? static_cast<float>(*config.dropout) : 0;
  p.optimiser = *config.optimiser;
  p.step.l2 = static_cast<float>(config.l2);
  p.learn_pairs = config.pair_weights;
  p.intercepts = *config.intercepts;
  const std::vector<float> pairs = first_pairs(encoding);
  p.uniform = !config.pair_weights;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) p.uniform = p.uniform && (i == j || pairs[i * n + j] == 1);
  }
  const size_t target = config.target.empty() ? Encoding::npos : encoding.group(config.target);
  const bool head = is_head(*config.loss);

  p.unit_of.assign(n, kNoRow);
  for (std::vector<uint32_t>& groups : units_of(encoding, config)) {
    for (const uint32_t g : groups) p.unit_of[g] = static_cast<uint32_t>(p.units.size());
    p.units.emplace_back().groups = std::move(groups);
  }
  std::vector<double> q1 = shares_of_units(p, table, config);
  if (target != Encoding::npos) {
    for (double& q : q1) q *= config.mix;
    const bool there = std::ranges::any_of(table.entities(target).counts, [](auto c) { return c; });
    if (!there) {
      throw fault(ErrorKind::kInput, "the target {} has no value in these rows", config.target);
    }
    if (!head) q1[p.unit_of[target]] += 1 - config.mix;
  }
  for (size_t u = 0; u < p.units.size(); ++u) p.units[u].probability = q1[u];
  q1.push_back(head ? 1 - config.mix : 0);
  if (std::accumulate(q1.begin(), q1.end(), 0.0) <= 0) {
    throw fault(ErrorKind::kInput, "no column may be replaced by noise; set one to sampled");
  }
  p.choose = AliasSampler(q1);
  if (head) {
    p.target = static_cast<uint32_t>(target);
    p.head = *config.loss;
  }
  return p;
}

bool draw(const Problem& p, const uint32_t* row, uint64_t index, Rng& rng, Example& out) {
  constexpr int kTries = 16;  // a unit that the row lacks is drawn again
  out.row = row;
  out.noise.clear();
  for (int t = 0;; ++t) {
    if (t == kTries) return false;
    out.unit = p.choose.draw(rng);
    if (out.unit == p.units.size()) {
      out.entity = row[p.target];
    } else {
      const Unit& unit = p.units[out.unit];
      out.entity = unit.of_row.empty() ? row[unit.groups[0]] : unit.of_row[index];
    }
    if (out.entity != kNoEntity) break;
  }
  const bool head = out.unit == p.units.size();
  uint64_t bits = 0;
  size_t left = 0, kept = 0, there = 0;
  const auto bar = static_cast<uint64_t>(head ? 0 : p.dropout * 0x1p16f);
  const auto is_context = [&](size_t j) {
    return row[j] != kNoEntity && j != p.target && (head || p.unit_of[j] != out.unit);
  };
  for (size_t j = 0; j < p.groups; ++j) {
    out.keep[j] = 0;
    if (!is_context(j)) continue;
    ++there;
    if (left == 0) {
      bits = rng.next();
      left = 4;
    }
    out.keep[j] = (bits & 0xffff) >= bar;
    kept += out.keep[j];
    bits >>= 16;
    --left;
  }
  if (there == 0) return false;
  if (kept == 0) {  // someone has to ask
    auto lucky = rng.below(static_cast<uint32_t>(there));
    for (size_t j = 0; j < p.groups; ++j) {
      if (is_context(j) && lucky-- == 0) out.keep[j] = 1;
    }
  }
  if (head) return true;
  const Unit& unit = p.units[out.unit];
  out.noise.resize(static_cast<size_t>(p.negatives));
  for (uint32_t& id : out.noise) id = unit.noise.draw(rng);
  return true;
}

Scratch::Scratch(const Problem& p) : phi(p.groups, p.width), sums(3, p.width), present(p.groups) {
  const auto values = static_cast<size_t>(p.negatives) + 1;
  size_t members = 1;
  for (const Unit& unit : p.units) members = std::max(members, unit.groups.size());
  candidates = Matrix((values + 1) * members, p.width);
  logits = Matrix(2, values + kRowPad);
  rows.resize(values);
  ahead.resize(4);
  for (Example& x : ahead) {
    x.keep.resize(p.groups);
    x.noise.reserve(values);
  }
}

}  // namespace kith::feat2vec
