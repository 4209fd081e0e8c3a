// SPDX-License-Identifier: Apache-2.0
// From a table and settings to what the kernel works on: units with their noise, and single steps.
#include "models/feat2vec/problem.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/error.h"
#include "models/feat2vec/choices.h"

namespace kith::feat2vec {
namespace {

constexpr double kLeastShare = 0.25;  // of an equal share: no group is replaced less often
constexpr int kSpreadNoise = 60;      // values of a number, which are quickly scored

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
    const auto row = table.any_row(r);
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

// Scores all values instead of drawing some.
void take_all(Unit& unit, std::span<const uint64_t> counts) {
  for (uint32_t v = 0; v < counts.size(); ++v) {
    if (counts[v] > 0) unit.all.push_back(v);
  }
  unit.log_noise.assign(counts.size(), 0.0f);
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

// What is learned, which decides what settings are usual.
enum class Task {
  kRows,    // all columns from one another
  kMany,    // a target of many values, by noise
  kFew,     // a target of few values: all of them are scored
  kTwo,     // a target of two values, by the score of the row
  kNumber,  // a target that is a number, by the score of the row
  kSpread,  // a target that is a number, by how likely each of its values is
};

Task task_of(const Config& config, const Encoding& encoding) {
  if (config.target.empty()) return Task::kRows;
  const Group& group = encoding.groups[encoding.group(config.target)];
  const bool by_score = config.loss && is_head(*config.loss);
  if (config.loss && !by_score && *config.loss != Loss::kSoftmax) return Task::kMany;
  if (by_score && is_of_classes(*config.loss)) return Task::kTwo;
  if (group.numeric()) return config.loss == Loss::kSoftmax ? Task::kSpread : Task::kNumber;
  if (by_score) return Task::kTwo;
  if (config.paper || config.negatives) return Task::kMany;
  const ColumnType type = group.column.type;
  const ValueSpace& space = encoding.spaces[group.space];
  if (type != ColumnType::kCategory && type != ColumnType::kBoolean) return Task::kMany;
  if (space.names.size() == 2 && !config.loss) return Task::kTwo;
  return space.buckets == 0 && space.names.size() <= kMostExact ? Task::kFew : Task::kMany;
}

struct Usual {
  double lr, init, dropout, l2;
  int early_stop;
  uint64_t rows, least, most;  // epochs: about so many rows in all, within limits
};

// A short table is seen often, a long one a few times; more often where what is held out says when
// it is enough. Found on tables of films, people, questions, reviews and ratings: see
// bench/RESULTS.md.
Usual usual_for(Task task) {
  constexpr uint64_t kMillion = 1000000;
  switch (task) {
    case Task::kFew:
      return {0.05, 0.1, 0, 0, 5, 3 * kMillion, 15, 200};
    case Task::kTwo:
      return {0.01, 0.01, 0, 0, 5, 3 * kMillion, 15, 200};
    case Task::kNumber:
      return {0.03, 0.01, 0, 30, 5, kMillion, 15, 40};
    case Task::kSpread:
      return {0.1, 0.1, 0.5, 0, 5, kMillion, 15, 40};
    case Task::kRows:
    case Task::kMany:
      break;
  }
  return {0.1, 0.1, 0.5, 0, 0, kMillion, 5, 40};
}

}  // namespace

bool scores_all(const Config& config, const Encoding& encoding) {
  return task_of(config, encoding) == Task::kFew;
}

int noise_values(const Config& config) { return config.negatives.value_or(config.paper ? 5 : 20); }

Config resolved(const Config& config, const Encoding& encoding, uint64_t rows) {
  const Task task = task_of(config, encoding);
  Config out = config;
  const auto usual = [](auto& setting, auto value) { setting = setting.value_or(value); };
  const bool paper = out.paper;
  Usual at = usual_for(paper ? Task::kRows : task);
  usual(out.early_stop, at.early_stop);
  if (*out.early_stop == 0) {
    const Usual unwatched = usual_for(Task::kRows);
    at.rows = unwatched.rows;
    at.least = unwatched.least;
    at.most = unwatched.most;
  }
  usual(out.epochs,
        static_cast<int>(std::clamp(at.rows / std::max<uint64_t>(1, rows), at.least, at.most)));
  usual(out.dim, paper ? 50 : 100);
  if (task == Task::kSpread && !paper) usual(out.negatives, kSpreadNoise);
  if (task != Task::kFew) out.negatives = noise_values(out);
  usual(out.alpha1, paper ? 0.75 : 0.5);
  usual(out.init, paper ? 0.05 : at.init);
  usual(out.dropout, paper ? 0.0 : at.dropout);
  usual(out.intercepts, paper ? Intercepts::kOne : Intercepts::kGroup);
  usual(out.biases, !paper);
  usual(out.optimiser, paper ? Optimiser::kAdaGrad : Optimiser::kRowAdaGrad);
  usual(out.l2, at.l2);
  usual(out.choices, false);
  const double lr = *out.choices && task == Task::kNumber ? kLrOfChoices : at.lr;
  usual(out.lr, keeps_going(*out.optimiser) ? 0.01 : lr);
  if (out.mix > 0 && out.target.empty()) {
    throw fault(ErrorKind::kUsage,
                "--mix divides the training between a target and the other columns; name the "
                "target with --target");
  }
  usual(out.loss, task == Task::kNumber && !paper ? Loss::kSquared
                  : task == Task::kTwo && !paper  ? Loss::kLogistic
                  : paper                         ? Loss::kNce
                                                  : Loss::kSoftmax);
  if (is_head(*out.loss)) {
    if (out.target.empty()) {
      throw fault(ErrorKind::kUsage,
                  "--loss {} compares a score with the value of a --target; name its column",
                  detail::show(*out.loss));
    }
    if (config.biases == false) {
      throw fault(ErrorKind::kUsage,
                  "--loss {} needs biases as part of the score; leave out --no-biases",
                  detail::show(*out.loss));
    }
    out.biases = true;
  }
  check_choices(out);
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

// By row: one over the rows of the table that it is part of, as far as it is.
std::vector<float> rarity_of_rows(const Table& table) {
  std::vector<double> seen(table.encoding().rows(), 0);
  for (size_t g = 0; g < table.groups(); ++g) {
    const Entities& e = table.entities(g);
    Feature one{};
    for (uint32_t i = 0; i < e.size; ++i) {
      for (const Feature& f : e.bag(i, one)) {
        seen[f.row] += static_cast<double>(e.counts[i]) * std::abs(f.weight);
      }
    }
  }
  std::vector<float> out;
  for (const double s : seen) out.push_back(static_cast<float>(1 / std::max(s, 1.0)));
  return out;
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
  p.negatives = noise_values(config);
  p.dropout = p.loss == Loss::kSoftmax ? static_cast<float>(*config.dropout) : 0;
  p.optimiser = *config.optimiser;
  p.l2 = static_cast<float>(*config.l2);
  if (p.l2 > 0) p.rarity = rarity_of_rows(table);
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
    if (!head) {
      Unit& unit = p.units[p.unit_of[target]];
      q1[p.unit_of[target]] += 1 - config.mix;
      if (unit.groups.size() == 1 && scores_all(config, encoding)) {
        take_all(unit, table.entities(target).counts);
      }
    }
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
    p.apart = p.optimiser == Optimiser::kRowAdaGrad;
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
  for (const uint32_t id : unit.all) {
    if (id != out.entity) out.noise.push_back(id);
  }
  if (!unit.all.empty()) return true;
  out.noise.resize(static_cast<size_t>(p.negatives));
  for (uint32_t& id : out.noise) id = unit.noise.draw(rng);
  return true;
}

Scratch::Scratch(const Problem& p) : phi(p.groups, p.width), sums(4, p.width), present(p.groups) {
  size_t members = 1, values = static_cast<size_t>(p.negatives) + 1;
  for (const Unit& unit : p.units) {
    members = std::max(members, unit.groups.size());
    values = std::max(values, unit.all.size() + 1);
  }
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
