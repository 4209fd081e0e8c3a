// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/softimpute/model.h"
#include "train/residual.h"

namespace kith::softimpute {

class Trainer final : public CompletionRun {
 public:
  Trainer(SoftImpute& model, const Ratings& ratings, Job& job);

 private:
  Sum train(uint64_t epoch, uint64_t first, uint64_t count) override;
  uint64_t segment_blocks() const override;
  void restart() override;

  void iterate(double lambda, uint64_t iteration);
  void take(const Svd& m, double lambda);
  void sweep(double lambda);
  void shrink_step(uint64_t step);
  void start_dual();

  SoftImpute& m_;
  Residual residual_;
  double error_;
  Sparse dual_, dual_by_item_;  // shrink: Y
};

// Least squares for the singular values with the vectors as they are: the product of columns j of p
// and q grows by a factor a_j >= 0.
void debias(const Sparse& ratings, double mean, size_t rank, Matrix& user, Matrix& item,
            const Job& job);

}  // namespace kith::softimpute
