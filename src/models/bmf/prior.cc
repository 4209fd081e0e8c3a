// SPDX-License-Identifier: Apache-2.0
#include "models/bmf/prior.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "train/products.h"
#include "train/ridge_solve.h"

namespace kith::bmf {
namespace {

constexpr int kSteps = 12;         // of conjugate gradients, from where the last sweep was
constexpr double kFirstBeta = 10;  // a column says little until it has shown that it says more

}  // namespace

RowPrior::RowPrior(RowFeatures features, const std::vector<uint64_t>& counts)
    : features_(std::move(features)), transposed_(transposed(features_.features)) {
  for (const uint64_t n : counts) rated_.push_back(n > 0 ? 1.0f : 0.0f);
  diagonal_ = weighted_diagonal(features_.features, rated_);
}

Drawn RowPrior::start(size_t cols) const {
  return {Matrix(features_.features.columns, cols),
          std::vector<double>(features_.ends.size(), kFirstBeta)};
}

bool RowPrior::fits(const Drawn& drawn, size_t cols) const {
  return drawn.effects.rows() == features_.features.columns && drawn.effects.cols() == cols &&
         drawn.betas.size() == features_.ends.size();
}

void RowPrior::draw(const Matrix& rows, const Hyper& hyper, uint64_t seed, uint64_t stream,
                    const Context& context, Drawn& drawn) const {
  const Sparse& f = features_.features;
  const size_t n = hyper.mean.size();
  std::vector<float> deviation(n), penalty(f.columns);
  for (size_t k = 0; k < n; ++k) {
    deviation[k] = static_cast<float>(1 / std::sqrt(hyper.precision[k]));
  }
  for (size_t g = 0, j = 0; g < features_.ends.size(); ++g) {
    for (; j < features_.ends[g]; ++j) penalty[j] = static_cast<float>(drawn.betas[g]);
  }
  Matrix noisy(f.rows(), n);  // X - mu + e / sqrt(lambda)
  for_each_range(context, f.rows(), 64 * n, [&](size_t first, size_t last) {
    for (size_t r = first; r < last; ++r) {
      if (rated_[r] == 0) continue;
      Rng rng(seed, stream + r);
      for (size_t k = 0; k < n; ++k) {
        noisy.row(r)[k] =
            static_cast<float>(rows.row(r)[k] - hyper.mean[k] + deviation[k] * normal(rng));
      }
    }
  });
  const WeightedRows rated(f, transposed_, rated_);
  Matrix right = rated.multiply_transposed(noisy, context);
  for_each_range(context, f.columns, 64 * n, [&](size_t first, size_t last) {
    for (size_t j = first; j < last; ++j) {
      Rng rng(~seed, stream + j);
      const float root = std::sqrt(penalty[j]);
      for (size_t k = 0; k < n; ++k) {
        right.row(j)[k] += root * deviation[k] * static_cast<float>(normal(rng));
      }
    }
  });
  solve_ridge(rated, diagonal_, penalty, right, kSteps, context, drawn.effects);
  Rng rng(seed ^ 0x62657461, stream);
  for (size_t g = 0, j = 0; g < features_.ends.size(); ++g) {
    double squares = 0, count = 0;
    for (; j < features_.ends[g]; ++j) {
      for (size_t k = 0; k < n; ++k) {
        const double b = drawn.effects.row(j)[k];
        squares += hyper.precision[k] * b * b;
        ++count;
      }
    }
    drawn.betas[g] = gamma(rng, (count + 1) / 2, (squares + 1) / 2);
  }
}

Matrix RowPrior::says(const Drawn& drawn, const Context& context) const {
  return SparsePlusLowRank(features_.features, transposed_).multiply(drawn.effects, context);
}

}  // namespace kith::bmf
