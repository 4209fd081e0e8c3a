// SPDX-License-Identifier: Apache-2.0
#include "models/feat2vec/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "data/cells.h"
#include "data/encoding_file.h"
#include "models/feat2vec/problem.h"
#include "models/run_file.h"

namespace kith::feat2vec {
namespace {

void check(const Archive& in, bool good, std::string_view what) {
  if (!good) throw Error(ErrorKind::kInput, "{}: {}; the file is damaged", in.where(), what);
}

bool finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float x) { return std::isfinite(x); });
}

}  // namespace

void Feat2Vec::reopen() {
  state_ = State{};
  best_theta_ = Matrix();
}

size_t Feat2Vec::target() const {
  return used_.target.empty() ? Encoding::npos : encoding_.find(used_.target);
}

void Feat2Vec::initialise_row(uint64_t seed, size_t row) {
  Rng rng(seed, row);
  const auto scale = static_cast<float>(used_.init * std::sqrt(12.0));
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
  std::ranges::copy(pairs, dense_.begin());
}

void Feat2Vec::grow(const Table& table, uint64_t seed) {
  const Config used = resolved(config_, table.encoding(), table.rows());
  if (theta_.rows() > 0 &&
      (used.dim != used_.dim || used.biases != used_.biases || used.optimiser != used_.optimiser)) {
    throw Error(ErrorKind::kUsage, "a model goes on with its own --dim, --biases and --optimiser");
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
  initialise(seed);
  if (dense.size() == dense_.size()) dense_ = dense;
  name_rows();
}

void Feat2Vec::name_rows() {
  names_ = encoding_.row_names();
  counts_.clear();
  for (const ValueSpace& s : encoding_.spaces) {
    counts_.insert(counts_.end(), s.counts.begin(), s.counts.end());
  }
}

void Feat2Vec::scale_target(const Table& table, Problem& problem) {
  if (problem.target == kNoRow) return;
  const size_t g = problem.target;
  const Entities& e = table.entities(g);
  const Group& group = encoding_.groups[g];
  std::vector<double> y = e.numbers;
  const bool classes = used_.loss == Loss::kLogistic || used_.loss == Loss::kHinge;
  target_mean_ = 0;
  target_scale_ = 1;
  if (!group.numeric() || classes) {
    if (e.size != 2) {
      throw Error(ErrorKind::kInput, "--loss {} wants a target of {}; {} has {} values",
                  detail::show(used_.loss), classes ? "two values" : "numbers", group.column.name,
                  e.size);
    }
    y = {0, 1};
    if (group.numeric()) {
      if (e.numbers[0] > e.numbers[1]) std::swap(y[0], y[1]);
      target_yes_ = fmt::format("{}", std::max(e.numbers[0], e.numbers[1]));
    } else {
      const Names& names = encoding_.spaces[group.space].names;
      const auto yes = parse_boolean(names[0]);
      const bool first = yes ? *yes : names[0] > names[1];
      if (first) std::swap(y[0], y[1]);
      target_yes_ = std::string(names[first ? 0 : 1]);
    }
  } else {
    // Numbers are learned in units of their own spread: robust losses by quantiles, which a few
    // wild values cannot move.
    std::vector<uint32_t> order(y.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto middle = [&](const std::vector<double>& values) {
      std::ranges::sort(order, {}, [&](uint32_t i) { return values[i]; });
      const uint64_t total = std::accumulate(e.counts.begin(), e.counts.end(), uint64_t{0});
      uint64_t seen = 0;
      for (const uint32_t i : order) {
        seen += e.counts[i];
        if (2 * seen >= total) return values[i];
      }
      return values[order.back()];
    };
    double total = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      const auto c = static_cast<double>(e.counts[i]);
      total += c;
      sum += c * y[i];
    }
    target_mean_ = sum / std::max(1.0, total);
    for (size_t i = 0; i < y.size(); ++i) {
      squares += static_cast<double>(e.counts[i]) * (y[i] - target_mean_) * (y[i] - target_mean_);
    }
    double spread = std::sqrt(squares / std::max(1.0, total));
    if (used_.loss != Loss::kSquared) {
      const double median = middle(y);
      std::vector<double> away(y.size());
      for (size_t i = 0; i < y.size(); ++i) away[i] = std::abs(y[i] - median);
      const double deviation = 1.4826 * middle(away);
      target_mean_ = median;
      if (deviation > 0) spread = deviation;
    }
    target_scale_ = spread > 0 ? spread : 1;
  }
  problem.target_values.clear();
  for (const double v : y) {
    problem.target_values.push_back(static_cast<float>((v - target_mean_) / target_scale_));
  }
}

bool Feat2Vec::finite() const { return all_finite(theta_) && feat2vec::finite(dense_); }

void Feat2Vec::see(CellEncoder& encoder, std::span<const Cell> cells, SeenRow& out) const {
  const size_t n = encoding_.groups.size(), cols = std::max<size_t>(1, dim() + used_.biases);
  if (out.vectors.rows() != n || out.vectors.cols() != cols) out.vectors = Matrix(n, cols);
  out.present.assign(n, 0);
  out.bias.assign(n, 0.0f);
  for (size_t g = 0; g < n; ++g) {
    std::fill_n(out.vectors.view().row(g), out.vectors.stride(), 0.0f);
    out.bag.clear();
    if (!encoder.encode(g, cells[g], out.bag)) continue;
    out.present[g] = 1;
    add_bag(out.bag, theta_.view(), width(), out.vectors.view().row(g));
    if (used_.biases) out.bias[g] = std::exchange(out.vectors.row(g)[dim()], 0.0f);
  }
}

std::vector<float> Feat2Vec::context(const SeenRow& row, size_t group) const {
  std::vector<float> out(dim() + used_.biases, 0.0f);
  for (size_t j = 0; j < encoding_.groups.size(); ++j) {
    if (j == group || !row.present[j]) continue;
    const auto weight = static_cast<float>(pair_weight(group, j));
    for (size_t k = 0; k < dim(); ++k) out[k] += weight * row.vectors.row(j)[k];
  }
  if (used_.biases) out[dim()] = 1;
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
  if (used_.loss == Loss::kLogistic) return 1 / (1 + std::exp(-score));
  return target_mean_ + target_scale_ * score;
}

Matrix Feat2Vec::values(size_t g) const {
  const Group& group = encoding_.groups[g];
  const ValueSpace& space = encoding_.spaces[group.space];
  const auto base = static_cast<uint32_t>(encoding_.base(group.space));
  const size_t cols = std::max<size_t>(1, dim() + used_.biases);
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

Matrix Feat2Vec::vectors(Side side) const {
  if (side != Side::kInput) {
    throw Error(ErrorKind::kUsage,
                "a feat2vec model has one vector for each value: --vectors input");
  }
  Matrix out(names_.size(), dim());
  size_t at = 0;
  for (size_t s = 0; s < encoding_.spaces.size(); ++s) {
    const uint64_t base = encoding_.base(s);
    for (size_t i = 0; i < encoding_.spaces[s].names.size(); ++i) {
      std::copy_n(theta_.row(base + i).begin(), dim(), out.row(at++).begin());
    }
  }
  return out;
}

void Feat2Vec::pack(ArchiveWriter& out, bool checkpoint) const {
  if (!finite()) {
    throw Error(ErrorKind::kDiverged,
                "the vectors hold values that are not finite, so they are not saved; try a smaller "
                "--lr");
  }
  Config config = config_;
  const Section section("feat2vec", config);
  Config used = used_;
  const Section used_section("feat2vec", used);
  out.metadata["settings"] = to_toml({&section, 1});
  out.metadata["used"] = to_toml({&used_section, 1});
  const auto put = [&](const char* key, auto value) {
    out.metadata[key] = fmt::format("{}", value);
  };
  put("units", units_);
  put("target.mean", target_mean_);
  put("target.scale", target_scale_);
  out.metadata["target.yes"] = target_yes_;
  kith::pack(state_, checkpoint, out);
  put("progress.steps", state_.steps);
  put("progress.pairs", state_.pairs);
  kith::pack(encoding_, out);
  out.tensors["theta"] = tensor_of(theta_);
  out.tensors["dense"] = tensor_of(std::span<const float>(dense_));
  for (size_t s = 0; s < maps_.size(); ++s) {
    if (maps_[s].rows()) out.tensors[fmt::format("map.{}", s)] = tensor_of(maps_[s]);
  }
  if (checkpoint && best_theta_.rows() > 0) {
    out.tensors["best.theta"] = tensor_of(best_theta_);
    out.tensors["best.dense"] = tensor_of(std::span<const float>(best_dense_));
  }
}

void Feat2Vec::restore(const Archive& in) {
  Feat2Vec other;
  const Section section = other.settings();
  apply(settings_from_toml_text(in.metadata_at("settings"), in.where()), {&section, 1});
  const Section used("feat2vec", other.used_);
  apply(settings_from_toml_text(in.metadata_at("used"), in.where()), {&used, 1});
  other.encoding_ = read_encoding(in);
  other.units_ = in.number_at<uint64_t>("units");
  other.target_mean_ = in.number_at<double>("target.mean");
  other.target_scale_ = in.number_at<double>("target.scale");
  other.target_yes_ = in.metadata_at("target.yes");
  other.theta_ = in.matrix("theta");
  other.dense_ = in.values<float>("dense");
  const size_t n = other.encoding_.groups.size();
  check(in,
        other.units_ <= n && std::isfinite(other.target_mean_) &&
            std::isfinite(other.target_scale_) &&
            (other.used_.target.empty() ||
             other.encoding_.find(other.used_.target) != Encoding::npos),
        "the target does not fit the columns");
  const auto fits = [&](const Matrix& theta, const std::vector<float>& dense) {
    return theta.rows() == other.encoding_.rows() && theta.cols() == other.stride() &&
           dense.size() == 2 * Dense{nullptr, n, other.units_}.size() && all_finite(theta) &&
           feat2vec::finite(dense);
  };
  check(in, fits(other.theta_, other.dense_), "the vectors do not fit the values and --dim");
  if (in.has("best.theta")) {
    other.best_theta_ = in.matrix("best.theta");
    other.best_dense_ = in.values<float>("best.dense");
    check(in, fits(other.best_theta_, other.best_dense_), "the best epoch's vectors do not fit");
  }
  other.maps_.resize(other.encoding_.spaces.size());
  for (size_t s = 0; s < other.maps_.size(); ++s) {
    const std::string name = fmt::format("map.{}", s);
    if (!in.has(name)) continue;
    other.maps_[s] = in.matrix(name);
    check(in,
          other.maps_[s].rows() == other.dim() + other.used_.biases &&
              other.maps_[s].cols() == other.dim() + 2 && all_finite(other.maps_[s]),
          "a map does not fit --dim");
  }
  other.learned_.assign(other.theta_.rows(), 0);
  State& state = other.state_;
  read_run(in, state);
  state.steps = in.number_at<uint64_t>("progress.steps");
  state.pairs = in.number_at<uint64_t>("progress.pairs");
  other.name_rows();
  *this = std::move(other);
}

std::vector<Fact> Feat2Vec::info() const {
  std::vector<Fact> out{{"values", fmt::format("{}", names_.size())},
                        {"rows_of_vectors", fmt::format("{}", theta_.rows())},
                        {"dim", fmt::format("{}", dim())},
                        {"objective", detail::show(used_.loss)},
                        {"steps", fmt::format("{}", state_.steps)},
                        {"pairs", fmt::format("{}", state_.pairs)}};
  add_facts(state_, out);
  if (!used_.target.empty()) out.push_back({"target", used_.target});
  for (const Group& g : encoding_.groups) {
    const ValueSpace& s = encoding_.spaces[g.space];
    out.push_back({fmt::format("column {}", g.column.name),
                   fmt::format("{}, {} rows", detail::show(g.column.type), s.rows())});
  }
  return out;
}

ModelInfo info() {
  return {"feat2vec", "rows and values of any table: Feat2Vec, self-supervised or with a target",
          InputKind::kTable,
          []() -> std::unique_ptr<Model> { return std::make_unique<Feat2Vec>(); }};
}

}  // namespace kith::feat2vec
