// SPDX-License-Identifier: Apache-2.0
#include "models/ratings/row_means.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "train/ridge_solve.h"

namespace kith {
namespace {

constexpr int kSteps = 3;  // of conjugate gradients, from where the last sweep was

void scale_rows(Matrix& m, const std::vector<float>& weights) {
  for (size_t r = 0; r < m.rows(); ++r) {
    for (float& x : m.row(r)) x *= weights[r];
  }
}

}  // namespace

CountScale CountScale::of(const Sparse& ratings) {
  double sum = 0, squares = 0, known = 0;
  for (uint32_t r = 0; r < ratings.rows(); ++r) {
    if (ratings.row(r).size() == 0) continue;
    const double x = std::log1p(static_cast<double>(ratings.row(r).size()));
    sum += x;
    squares += x * x;
    ++known;
  }
  CountScale out;
  out.mean = sum / std::max(1.0, known);
  out.spread = std::sqrt(std::max(0.0, squares / std::max(1.0, known) - out.mean * out.mean));
  return out;
}

float CountScale::scaled(size_t n) const {
  constexpr double kNone = 1e-6;  // all rows have as many
  if (n == 0 || spread < kNone) return 0;
  return static_cast<float>((std::log1p(static_cast<double>(n)) - mean) / spread);
}

RowFeatures with_choices(const RowFeatures& columns, const Sparse& ratings) {
  RowFeatures out;
  const uint32_t count = columns.features.columns, first = count + 1;
  out.features.columns = first + ratings.columns;
  out.names = columns.names;
  out.ends = columns.ends;
  out.ends.push_back(first);
  out.ends.push_back(first + ratings.columns);
  const CountScale scale = CountScale::of(ratings);
  Sparse& f = out.features;
  const auto add = [&](uint32_t column, float value) {
    f.column.push_back(column);
    f.value.push_back(value);
  };
  f.column.reserve(columns.features.size() + ratings.size() + ratings.rows());
  f.value.reserve(columns.features.size() + ratings.size() + ratings.rows());
  for (uint32_t r = 0; r < ratings.rows(); ++r) {
    if (r < columns.features.rows()) {
      const Sparse::Row row = columns.features.row(r);
      for (size_t k = 0; k < row.size(); ++k) add(row.columns[k], row.values[k]);
    }
    const Sparse::Row with = ratings.row(r);
    if (const float n = scale.scaled(with.size()); n != 0) add(count, n);
    const float part = 1 / std::sqrt(static_cast<float>(std::max<size_t>(1, with.size())));
    for (const uint32_t c : with.columns) add(first + c, part);
    f.offsets.push_back(f.column.size());
  }
  return out;
}

Matrix WeightedRows::multiply(const Matrix& x, const Context& context) const {
  Matrix out = all_.multiply(x, context);
  scale_rows(out, weights_);
  return out;
}

std::vector<float> weighted_diagonal(const Sparse& f, const std::vector<float>& weights) {
  std::vector<float> out(f.columns, 0.0f);
  for (uint32_t r = 0; r < f.rows(); ++r) {
    const Sparse::Row row = f.row(r);
    for (size_t k = 0; k < row.size(); ++k) {
      out[row.columns[k]] += weights[r] * row.values[k] * row.values[k];
    }
  }
  return out;
}

// --- What a model keeps ---

std::vector<float> RowMeans::of(Sparse::Row ratings, std::optional<uint32_t> number) const {
  if (!features) return {};
  std::vector<float> out(effects.cols(), 0.0f);
  const auto add = [&](size_t feature, float value) {
    const auto effect = effects.row(feature);
    for (size_t k = 0; k < out.size(); ++k) out[k] += value * effect[k];
  };
  if (number && *number < columns.rows()) {
    const Sparse::Row row = columns.row(*number);
    for (size_t k = 0; k < row.size(); ++k) add(row.columns[k], row.values[k]);
  }
  if (!choices || ratings.size() == 0) return out;
  add(columns.columns, counts.scaled(ratings.size()));
  const float part = 1 / std::sqrt(static_cast<float>(ratings.size()));
  for (const uint32_t c : ratings.columns) add(columns.columns + 1 + c, part);
  return out;
}

void RowMeans::grow(size_t rows, size_t others) {
  if (!features) return;
  columns.offsets.resize(rows + 1, columns.offsets.back());
  const size_t wanted = columns.columns + (choices ? 1 + others : 0);
  Matrix more(wanted, effects.cols());
  for (size_t r = 0; r < effects.rows(); ++r) {
    std::ranges::copy(effects.row(r), more.row(r).begin());
  }
  effects = std::move(more);
  features = wanted;
}

void RowMeans::visit(Parts& parts, const std::string& name, size_t rows, size_t others,
                     size_t cols) {
  parts.maybe(name + ".features", features);
  if (!features || parts.vectors_only()) return;
  uint64_t own = columns.columns;
  parts.number(name + ".columns", own);
  parts.flag(name + ".choices", choices);
  parts.number(name + ".count_mean", counts.mean);
  parts.number(name + ".count_spread", counts.spread);
  parts.check(own <= *features && *features - own == (choices ? 1 + others : 0),
              "what is known of rows does not fit them");
  parts.check(std::isfinite(counts.mean) && std::isfinite(counts.spread),
              "what is known of rows is not finite");
  kith::visit(parts,
              {name + ".feature.offsets", name + ".feature.columns", name + ".feature.values"},
              columns, rows, own);
  parts.matrix(name + ".effects", effects, *features, cols, Use::kLearned);
}

FeaturesMemory memory_of(const RowFeatures& columns, bool choices, const FeaturesShape& shape) {
  FeaturesMemory out;
  const uint64_t row = padded(shape.cols) * sizeof(float);
  out.features = columns.features.columns + (choices ? 1 + shape.others : 0);
  if (out.features == 0) return out;
  const uint64_t entries = columns.features.size() + (choices ? shape.ratings + shape.rows : 0);
  out.effects = out.features * row;
  // Features and their transpose, a number or two for each row and feature, and what all say.
  out.kept = 16 * entries + 16 * (shape.rows + out.features) + shape.rows * row;
  // The right side, what is left of it, direction and product; rows that are copied.
  out.passing = 4 * out.effects + 2 * shape.rows * row;
  return out;
}

// --- What finds it ---

MeansFit::MeansFit(const RowFeatures& columns, const Sparse& ratings, bool choices,
                   std::vector<float> weights)
    : features_(choices ? with_choices(columns, ratings) : columns),
      columns_(columns.features),
      counts_(CountScale::of(ratings)),
      choices_(choices),
      weights_(std::move(weights)) {
  columns_.offsets.resize(ratings.rows() + 1, columns_.offsets.back());
  features_.features.offsets.resize(ratings.rows() + 1, features_.features.offsets.back());
  double sum = 0, rated = 0;
  for (uint32_t r = 0; r < ratings.rows(); ++r) {
    if (ratings.row(r).size() == 0) weights_[r] = 0;
    sum += weights_[r];
    rated += weights_[r] > 0;
  }
  for (float& w : weights_) w *= static_cast<float>(sum > 0 ? rated / sum : 0);
  if (features() == 0) return;
  transposed_ = transposed(features_.features);
  diagonal_ = weighted_diagonal(features_.features, weights_);
}

void MeansFit::start(RowMeans& means, size_t cols) const {
  means = {};
  if (features() == 0) return;
  means.columns = columns_;
  means.effects = Matrix(features(), cols);
  means.features = features();
  means.counts = counts_;
  means.choices = choices_;
}

void MeansFit::fit(const Matrix& rows, size_t one, double beta, const Context& context,
                   RowMeans& means) const {
  Matrix wanted = rows.copy();
  for (size_t r = 0; r < wanted.rows(); ++r) wanted.row(r)[one] = 0;
  scale_rows(wanted, weights_);
  const WeightedRows system(features_.features, transposed_, weights_);
  const std::vector<float> penalty(features(), static_cast<float>(beta));
  Matrix effects = means.effects.copy();
  solve_ridge(system, diagonal_, penalty, system.multiply_transposed(wanted, context), kSteps,
              context, effects);
  means.effects = std::move(effects);
}

Matrix MeansFit::means(const RowMeans& means, const Context& context) const {
  return SparsePlusLowRank(features_.features, transposed_).multiply(means.effects, context);
}

}  // namespace kith
