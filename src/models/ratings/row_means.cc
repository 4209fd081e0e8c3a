// SPDX-License-Identifier: Apache-2.0
#include "models/ratings/row_means.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/skinny.h"
#include "train/products.h"
#include "train/ridge_solve.h"

namespace kith {
namespace {

constexpr int kSteps = 2;  // of conjugate gradients, from where the last sweep was

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

FeatureRows::FeatureRows(const RowFeatures& columns, const Sparse& ratings, const Sparse& by_other,
                         bool choices)
    : columns_(columns),
      ratings_(ratings),
      by_other_(by_other),
      choices_(choices),
      counts_(CountScale::of(ratings)),
      columns_by_feature_(transposed(columns.features)),
      parts_(ratings.rows(), 0.0f),
      scaled_(ratings.rows(), 0.0f) {
  size_t most = 0;
  for (uint32_t r = 0; r < ratings.rows(); ++r) {
    const size_t n = ratings.row(r).size();
    most = std::max(most, n);
    scaled_[r] = counts_.scaled(n);
    if (n > 0) parts_[r] = 1 / std::sqrt(static_cast<float>(n));
  }
  for (uint32_t c = 0; c < by_other.rows(); ++c) most = std::max(most, by_other.row(c).size());
  ones_.assign(choices ? most : 0, 1.0f);
}

Matrix FeatureRows::multiply(const Matrix& x, const Context& context) const {
  Matrix y(rows(), x.cols());
  const Rows to = y.view();
  const size_t work =
      (ratings_.size() + columns_.features.size()) / std::max<size_t>(1, rows()) + 1;
  for_each_range(context, rows(), work * y.stride(), [&](size_t first, size_t last) {
    for (size_t r = first; r < last; ++r) {
      if (r < columns_.features.rows()) {
        const Sparse::Row row = columns_.features.row(static_cast<uint32_t>(r));
        sum_rows({x.view(), row.columns.data(), row.values.data(), row.size(), 1}, true, to.row(r),
                 y.stride());
      }
      if (!choices_) continue;
      const Sparse::Row with = ratings_.row(static_cast<uint32_t>(r));
      const ConstRows count{x.view().row(own()), x.stride()}, others{count.row(1), x.stride()};
      sum_rows({count, nullptr, &scaled_[r], 1, 1}, true, to.row(r), y.stride());
      sum_rows({others, with.columns.data(), ones_.data(), with.size(), parts_[r]}, true, to.row(r),
               y.stride());
    }
  });
  return y;
}

Matrix FeatureRows::multiply_transposed(const Matrix& y, const Context& context) const {
  Matrix x(cols(), y.cols());
  const Rows to = x.view();
  const size_t work = ratings_.size() / std::max<size_t>(1, cols()) + 1;
  for_each_range(context, own(), work * x.stride(), [&](size_t first, size_t last) {
    for (size_t j = first; j < last; ++j) {
      const Sparse::Row row = columns_by_feature_.row(static_cast<uint32_t>(j));
      sum_rows({y.view(), row.columns.data(), row.values.data(), row.size(), 1}, false, to.row(j),
               x.stride());
    }
  });
  if (!choices_) return x;
  sum_rows({y.view(), nullptr, scaled_.data(), rows(), 1}, false, to.row(own()), x.stride());
  Matrix equal = y.copy();
  scale_rows(equal, parts_);
  for_each_range(context, by_other_.rows(), work * x.stride(), [&](size_t first, size_t last) {
    for (size_t c = first; c < last; ++c) {
      const Sparse::Row row = by_other_.row(static_cast<uint32_t>(c));
      sum_rows({std::as_const(equal).view(), row.columns.data(), ones_.data(), row.size(), 1},
               false, to.row(own() + 1 + c), x.stride());
    }
  });
  return x;
}

std::vector<uint32_t> FeatureRows::ends() const {
  std::vector<uint32_t> out = columns_.ends;
  if (!choices_) return out;
  out.push_back(static_cast<uint32_t>(own() + 1));
  out.push_back(static_cast<uint32_t>(cols()));
  return out;
}

std::vector<float> FeatureRows::diagonal(const std::vector<float>& weights) const {
  std::vector<float> out(cols(), 0.0f);
  for (uint32_t r = 0; r < rows(); ++r) {
    if (r < columns_.features.rows()) {
      const Sparse::Row row = columns_.features.row(r);
      for (size_t k = 0; k < row.size(); ++k) {
        out[row.columns[k]] += weights[r] * row.values[k] * row.values[k];
      }
    }
    if (!choices_) continue;
    out[own()] += weights[r] * scaled_[r] * scaled_[r];
    for (const uint32_t c : ratings_.row(r).columns) {
      out[own() + 1 + c] += weights[r] * parts_[r] * parts_[r];
    }
  }
  return out;
}

Matrix WeightedFeatures::multiply(const Matrix& x, const Context& context) const {
  Matrix out = all_.multiply(x, context);
  scale_rows(out, weights_);
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
  out.effects = out.features * row;
  // Features of columns by both, some numbers for each row and feature, and what all say.
  out.kept = 8 * columns.features.size() + 16 * (shape.rows + out.features) + shape.rows * row;
  // The right side, what is left of it, direction and product; rows that are copied.
  out.passing = 4 * out.effects + 3 * shape.rows * row;
  return out;
}

// --- What finds it ---

MeansFit::MeansFit(FeatureRows rows, std::vector<float> weights)
    : all_(std::move(rows)), weights_(std::move(weights)) {
  double sum = 0, rated = 0;
  for (size_t r = 0; r < weights_.size(); ++r) {
    if (!all_.has_ratings(r)) weights_[r] = 0;
    sum += weights_[r];
    rated += weights_[r] > 0;
  }
  for (float& w : weights_) w *= static_cast<float>(sum > 0 ? rated / sum : 0);
  diagonal_ = all_.diagonal(weights_);
}

void MeansFit::start(RowMeans& means, size_t cols) const {
  means = {};
  if (features() == 0) return;
  means.columns = all_.columns().features;
  means.columns.offsets.resize(all_.rows() + 1, means.columns.offsets.back());
  means.effects = Matrix(features(), cols);
  means.features = features();
  means.counts = all_.counts();
  means.choices = all_.choices();
}

void MeansFit::fit(const Matrix& rows, size_t one, double beta, const Context& context,
                   RowMeans& means) const {
  Matrix wanted = rows.copy();
  for (size_t r = 0; r < wanted.rows(); ++r) wanted.row(r)[one] = 0;
  scale_rows(wanted, weights_);
  const WeightedFeatures system(all_, weights_);
  const std::vector<float> penalty(features(), static_cast<float>(beta));
  Matrix effects = means.effects.copy();
  solve_ridge(system, diagonal_, penalty, system.multiply_transposed(wanted, context), kSteps,
              context, effects);
  means.effects = std::move(effects);
}

}  // namespace kith
