// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of rows besides their ratings, and what it says of them:
//
//   x_r ~ N(mu + B^T f_r, 1 / lambda),  b_jk ~ N(0, 1 / (lambda_k beta_g)),  beta_g: vague
//
// with f_r the features of a row and beta_g of all features of one column g (Simm et al. 2017). B
// is drawn as a whole: with e and e' standard normal,
//
//   (F^T F + diag(beta)) B = F^T (X - mu + e / sqrt(lambda)) + diag(sqrt(beta)) e' / sqrt(lambda).

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"
#include "data/ratings/row_features.h"
#include "data/sparse.h"
#include "models/bmf/posterior.h"
#include "models/ratings/row_means.h"

namespace kith::bmf {

// What a chain has drawn.
struct Drawn {
  Matrix effects;             // B, features x (dim + 1)
  std::vector<double> betas;  // of each column
};

class RowPrior {
 public:
  // Rows without ratings do not count, but are told what their features say.
  explicit RowPrior(FeatureRows features);
  // Where a chain starts.
  Drawn start(size_t cols) const;
  bool fits(const Drawn& drawn, size_t cols) const;

  // B given everything else, then the betas. Each row has a random stream of its own, beginning
  // with `stream`.
  void draw(const Matrix& rows, const Hyper& hyper, uint64_t seed, uint64_t stream,
            const Context& context, Drawn& drawn) const;
  // F B: rows x (dim + 1).
  Matrix says(const Drawn& drawn, const Context& context) const {
    return all_.multiply(drawn.effects, context);
  }

 private:
  FeatureRows all_;
  std::vector<uint32_t> ends_;   // where the features of each column end
  std::vector<float> rated_;     // 1 or 0, of rows
  std::vector<float> diagonal_;  // of F^T F, over rated rows
};

}  // namespace kith::bmf
