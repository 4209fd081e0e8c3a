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

RowPrior::RowPrior(FeatureRows features) : all_(std::move(features)), ends_(all_.ends()) {
  for (size_t r = 0; r < all_.rows(); ++r) rated_.push_back(all_.has_ratings(r) ? 1.0f : 0.0f);
  diagonal_ = all_.diagonal(rated_);
}

Drawn RowPrior::start(size_t cols) const {
  return {Matrix(all_.cols(), cols), std::vector<double>(ends_.size(), kFirstBeta)};
}

bool RowPrior::fits(const Drawn& drawn, size_t cols) const {
  return drawn.effects.rows() == all_.cols() && drawn.effects.cols() == cols &&
         drawn.betas.size() == ends_.size();
}

void RowPrior::draw(const Matrix& rows, const Hyper& hyper, uint64_t seed, uint64_t stream,
                    const Context& context, Drawn& drawn) const {
  const size_t n = hyper.mean.size();
  std::vector<float> deviation(n), penalty(all_.cols());
  for (size_t k = 0; k < n; ++k) {
    deviation[k] = static_cast<float>(1 / std::sqrt(hyper.precision[k]));
  }
  for (size_t g = 0, j = 0; g < ends_.size(); ++g) {
    for (; j < ends_[g]; ++j) penalty[j] = static_cast<float>(drawn.betas[g]);
  }
  Matrix noisy(all_.rows(), n);  // X - mu + e / sqrt(lambda)
  for_each_range(context, all_.rows(), 64 * n, [&](size_t first, size_t last) {
    for (size_t r = first; r < last; ++r) {
      if (rated_[r] == 0) continue;
      Rng rng(seed, stream + r);
      for (size_t k = 0; k < n; ++k) {
        noisy.row(r)[k] =
            static_cast<float>(rows.row(r)[k] - hyper.mean[k] + deviation[k] * normal(rng));
      }
    }
  });
  const WeightedFeatures rated(all_, rated_);
  Matrix right = rated.multiply_transposed(noisy, context);
  for_each_range(context, all_.cols(), 64 * n, [&](size_t first, size_t last) {
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
  for (size_t g = 0, j = 0; g < ends_.size(); ++g) {
    double squares = 0, count = 0;
    for (; j < ends_[g]; ++j) {
      for (size_t k = 0; k < n; ++k) {
        const double b = drawn.effects.row(j)[k];
        squares += hyper.precision[k] * b * b;
        ++count;
      }
    }
    drawn.betas[g] = gamma(rng, (count + 1) / 2, (squares + 1) / 2);
  }
}

}  // namespace kith::bmf
