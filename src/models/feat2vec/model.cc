// SPDX-License-Identifier: Apache-2.0
#include "models/feat2vec/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "models/feat2vec/problem.h"

namespace kith::feat2vec {
namespace {

// With a target: numbers as fine curves, and rows enough to tell when to stop.
constexpr int kKnots = 128;
constexpr double kHoldout = 0.1;

// The vectors of the names of a column that are no single rows: hashed n-grams belong to them.
class BagVectors final : public Vectors {
 public:
  BagVectors(const Encoding& encoding, size_t group, const Matrix& theta, size_t dim)
      : encoding_(encoding), group_(group), theta_(theta), dim_(dim) {}
  size_t rows() const override { return space().names.size(); }
  size_t cols() const override { return dim_; }
  void read(size_t first, size_t count, Rows out) const override {
    const Group& group = encoding_.groups[group_];
    std::vector<Feature> bag;
    for (size_t r = 0; r < count; ++r) {
      bag.clear();
      const std::string_view name[1] = {space().names[first + r]};
      const uint32_t row[1] = {static_cast<uint32_t>(first + r)};
      append_members(group.column, space(), name, row, encoding_.base32(group.space), bag);
      std::fill_n(out.row(r), dim_, 0.0f);
      for (const Feature& f : bag) {
        const auto x = theta_.row(f.row);
        for (size_t k = 0; k < dim_; ++k) out.row(r)[k] += f.weight * x[k];
      }
    }
  }

 private:
  const ValueSpace& space() const { return encoding_.spaces[encoding_.groups[group_].space]; }
  const Encoding& encoding_;
  size_t group_;
  const Matrix& theta_;
  size_t dim_;
};

}  // namespace

void Feat2Vec::reopen() {
  state_ = RunState{};
  steps_ = pairs_ = 0;
  // What cannot change any more. Files of version 0.1 say otherwise for --paper.
  config_.dim = used_.dim;
  config_.biases = used_.biases;
  if (target() != Encoding::npos && encoding_.groups[target()].numeric()) {
    config_.loss = used_.loss;
    config_.l2 = used_.l2;
    config_.choices = used_.choices;
  }
}

Wishes Feat2Vec::wishes() const {
  Wishes out;
  out.target = config_.target;
  if (config_.paper) out.pooling = 0;  // plain sums
  if (!config_.target.empty() && !config_.paper) {
    out.knots = kKnots;
    out.holdout = kHoldout;
    out.few = kMostExact;
  }
  return out;
}

size_t Feat2Vec::target() const {
  return used_.target.empty() ? Encoding::npos : encoding_.find(used_.target);
}

void Feat2Vec::initialise_row(uint64_t seed, size_t row) {
  Rng rng(seed, row);
  const auto scale = static_cast<float>(*used_.init * std::sqrt(12.0));
  float* const x = theta_.view().row(row);
  std::fill_n(x, theta_.stride(), 0.0f);
  for (size_t i = 0; i < dim(); ++i) x[i] = (rng.uniform() - 0.5f) * scale;
}

void Feat2Vec::initialise(uint64_t seed) {
  for (size_t r = 0; r < theta_.rows(); ++r) {
    if (!learned_[r]) initialise_row(seed, r);
  }
  const size_t n = encoding_.groups.size();
  const std::vector<float> pairs = first_pairs(encoding_);
  Dense dense{nullptr, n, units_};
  dense_.assign(2 * dense.size(), 0);
  effects_ = Matrix();
  fitted_ = 0;
  std::ranges::copy(pairs, dense_.begin());
}

void Feat2Vec::check_extends(const Encoding& more) const {
  bool fits = encoding_.groups.size() == more.groups.size() &&
              encoding_.spaces.size() == more.spaces.size();
  for (size_t s = 0; s < encoding_.spaces.size() && fits; ++s) {
    const ValueSpace &from = encoding_.spaces[s], &to = more.spaces[s];
    fits = from.name == to.name && from.buckets == to.buckets && from.basis == to.basis &&
           from.names.size() <= to.names.size();
    for (size_t i = 0; i < from.names.size() && fits; ++i) fits = from.names[i] == to.names[i];
  }
  if (fits) return;
  throw fault(ErrorKind::kInput,
              "the table was not read on top of the model's columns and values, so it cannot go on "
              "with them");
}

void Feat2Vec::check_goes_on(const Table& table) const {
  check_extends(table.encoding());
  bool same = true;
  for (size_t g = 0; g < table.groups() && same; ++g) {
    const Group &a = encoding_.groups[g], &b = table.encoding().groups[g];
    same = a.column.type == b.column.type && a.space == b.space;
  }
  Config said = config_;
  if (loss_is_open(config_, table.encoding())) {
    said.loss = used_.loss;
    said.l2 = used_.l2;
    said.choices = used_.choices;
  }
  Config taken = used_, wanted = resolved(said, table.encoding(), table.rows());
  const Section sections[] = {{"feat2vec", taken}, {"feat2vec", wanted}};
  same = same && to_toml({&sections[0], 1}) == to_toml({&sections[1], 1}) &&
         units_ == units_of(encoding_, used_).size();
  if (same) return;
  throw fault(ErrorKind::kInput,
              "the checkpoint is of other columns or settings than the table has; start over "
              "without --resume");
}

void Feat2Vec::grow(const Table& table, uint64_t seed) {
  const Config used = resolved(config_, table.encoding(), table.rows());
  if (theta_.rows() > 0) {
    if (used.dim != used_.dim || used.biases != used_.biases || used.optimiser != used_.optimiser) {
      throw fault(ErrorKind::kUsage,
                  "a model goes on with its own --dim, --biases and --optimiser");
    }
    check_extends(table.encoding());
  }
  const Encoding old = std::move(encoding_);
  const Matrix before = std::move(theta_);
  const std::vector<float> dense = dense_;
  used_ = used;
  encoding_ = table.encoding();
  units_ = units_of(encoding_, used_).size();
  theta_ = Matrix(encoding_.rows(), stride());
  learned_.assign(theta_.rows(), 0);
  for (size_t s = 0; s < old.spaces.size(); ++s) {
    const ValueSpace &from = old.spaces[s], &to = encoding_.spaces[s];
    const uint64_t old_base = old.base(s), base = encoding_.base(s);
    const auto take = [&](uint64_t a, uint64_t b) {
      std::ranges::copy(before.row(old_base + a), theta_.row(base + b).begin());
      learned_[base + b] = 1;
    };
    for (uint64_t i = 0; i < from.names.size(); ++i) take(i, i);
    for (uint64_t i = 0; i < from.buckets + from.basis; ++i) {
      take(from.names.size() + i, to.names.size() + i);
    }
  }
  continued_ = !old.spaces.empty();
  initialise(seed);
  if (dense.size() == dense_.size()) dense_ = dense;
}

void Feat2Vec::clear(SeenRow& out) const {
  const size_t n = encoding_.groups.size(), cols = std::max<size_t>(1, dim() + biases());
  if (out.vectors.rows() != n || out.vectors.cols() != cols) out.vectors = Matrix(n, cols);
  out.present.assign(n, 0);
  out.bias.assign(n, 0.0f);
  for (size_t g = 0; g < n; ++g) {
    std::fill_n(out.vectors.view().row(g), out.vectors.stride(), 0.0f);
  }
}

void Feat2Vec::take(size_t g, std::span<const Feature> bag, SeenRow& out) const {
  out.present[g] = 1;
  add_bag(bag, theta_.view(), width(), out.vectors.view().row(g));
  if (*used_.biases) out.bias[g] = std::exchange(out.vectors.row(g)[dim()], 0.0f);
}

void Feat2Vec::see(CellEncoder& encoder, std::span<const Cell> cells, SeenRow& out) const {
  clear(out);
  for (size_t g = 0; g < encoding_.groups.size(); ++g) {
    out.bag.clear();
    if (encoder.encode(g, cells[g], out.bag)) take(g, out.bag, out);
  }
}

void Feat2Vec::see_entities(const Table& table, std::span<const uint32_t> row, SeenRow& out) const {
  clear(out);
  Feature one{};
  for (size_t g = 0; g < row.size(); ++g) {
    if (row[g] != kNoEntity && g != target()) take(g, table.entities(g).bag(row[g], one), out);
  }
}

std::vector<float> Feat2Vec::context(const SeenRow& row, size_t group) const {
  std::vector<float> out(dim() + biases(), 0.0f);
  for (size_t j = 0; j < encoding_.groups.size(); ++j) {
    if (j == group || !row.present[j]) continue;
    const auto weight = static_cast<float>(pair_weight(group, j));
    for (size_t k = 0; k < dim(); ++k) out[k] += weight * row.vectors.row(j)[k];
  }
  if (*used_.biases) out[dim()] = 1;
  if (group == target() && sharpness_) {
    for (float& x : out) x *= static_cast<float>(*sharpness_);
  }
  return out;
}

double Feat2Vec::pair_score(const SeenRow& row, size_t a, size_t b) const {
  if (!row.present[a] || !row.present[b]) return 0;
  double sum = 0;
  for (size_t k = 0; k < dim(); ++k) sum += row.vectors.row(a)[k] * row.vectors.row(b)[k];
  return pair_weight(a, b) * sum;
}

double Feat2Vec::target_value(const SeenRow& row) const {
  const size_t n = encoding_.groups.size(), t = target();
  double score = Dense{const_cast<float*>(dense_.data()), n, units_}.intercept(units_);
  for (size_t a = 0; a < n; ++a) {
    if (a == t || !row.present[a]) continue;
    score += row.bias[a];
    for (size_t b = a + 1; b < n; ++b) {
      if (b != t) score += pair_score(row, a, b);
    }
  }
  if (*used_.loss == Loss::kLogistic) return 1 / (1 + std::exp(-score * sharpness_.value_or(1)));
  const double value = target_mean_ + target_scale_ * score;
  return std::min(std::max(value, target_low_.value_or(value)), target_high_.value_or(value));
}

// One number says how far the row is on the side of one of two values.
CompletesRows::ClassScores Feat2Vec::class_scores(const SeenRow& row) const {
  const Loss loss = *used_.loss;
  const double value = target_value(row);
  double yes = value, no = -value;
  if (loss == Loss::kLogistic) {
    yes = std::log(std::max(value, 1e-30));
    no = std::log(std::max(1 - value, 1e-30));
  } else if (loss != Loss::kHinge) {  // learned as 0 and 1
    yes = value - 0.5;
    no = -yes;
  }
  const Names& names = encoding_.spaces[encoding_.groups[target()].space].names;
  ClassScores out{{}, loss == Loss::kLogistic};
  for (size_t v = 0; v < names.size(); ++v) {
    // A third value, which came later, is never the answer.
    out.scores.push_back(v > 1 ? -1e30f : static_cast<float>(names[v] == target_yes_ ? yes : no));
  }
  return out;
}

Matrix Feat2Vec::values(size_t g) const {
  const Group& group = encoding_.groups[g];
  const ValueSpace& space = encoding_.spaces[group.space];
  const uint32_t base = encoding_.base32(group.space);
  const size_t cols = std::max<size_t>(1, dim() + biases());
  const size_t count = group.named() ? space.names.size() : group.values.size();
  Matrix out(count, cols);
  std::vector<Feature> bag;
  for (size_t i = 0; i < count; ++i) {
    bag.clear();
    if (group.named()) {
      const std::string_view name[1] = {space.names[i]};
      const uint32_t row[1] = {static_cast<uint32_t>(i)};
      append_members(group.column, space, name, row, base, bag);
    } else {
      append_numeric(group, group.values[i], base, bag);
    }
    add_bag(bag, theta_.view(), width(), out.view().row(i));
  }
  return out;
}

std::vector<VectorGroup> Feat2Vec::vectors(Side side) const {
  if (side != Side::kInput) {
    throw fault(ErrorKind::kUsage,
                "a feat2vec model has only one vector for each value; use --vectors input");
  }
  std::vector<VectorGroup> out;
  for (size_t g = 0; g < encoding_.groups.size(); ++g) {
    const Group& group = encoding_.groups[g];
    if (!group.named()) continue;
    const ValueSpace& space = encoding_.spaces[group.space];
    std::shared_ptr<const Vectors> rows;
    if (space.buckets > 0) {
      rows = std::make_shared<BagVectors>(encoding_, g, theta_, dim());
    } else {
      rows = std::make_shared<MatrixVectors>(theta_, encoding_.base(group.space),
                                             space.names.size(), dim());
    }
    out.push_back({group.column.name, space.name, &space.names, std::move(rows)});
  }
  return out;
}

std::vector<Fact> Feat2Vec::info() const {
  uint64_t values = 0;
  for (const ValueSpace& s : encoding_.spaces) values += s.names.size();
  std::vector<Fact> out{{"values", fmt::format("{}", values), true},
                        {"rows_of_vectors", fmt::format("{}", theta_.rows()), true},
                        {"dim", fmt::format("{}", dim()), true},
                        {"objective", detail::show(*used_.loss)},
                        {"steps", fmt::format("{}", steps_), true},
                        {"pairs", fmt::format("{}", pairs_), true}};
  for (Fact& f : run_facts()) out.push_back(std::move(f));
  for (Fact& f : out) {
    if (!f.name.starts_with("held_out") || state_.held_out.empty()) continue;
    f.value = fmt::format("{:.5f}", f.name == "held_out" ? error_now() : error_before());
  }
  if (!used_.target.empty()) out.push_back({"target", used_.target});
  for (const Group& g : encoding_.groups) {
    const ValueSpace& s = encoding_.spaces[g.space];
    out.push_back({fmt::format("column {}", g.column.name),
                   fmt::format("{}, {} rows", detail::show(g.column.type), s.rows())});
  }
  return out;
}

ModelInfo info() {
  return model_info<Feat2Vec>(
      "feat2vec", "rows and values of any table: Feat2Vec, self-supervised or with a target");
}

}  // namespace kith::feat2vec
