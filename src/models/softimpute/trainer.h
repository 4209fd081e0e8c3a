// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/softimpute/model.h"
#include "train/residual.h"

namespace kith::softimpute {

class SoftTrainer final : public RatingsTrainer {
 public:
  SoftTrainer(SoftImpute& model, const Ratings& ratings, Job& job);
  uint64_t blocks() const override { return m_.blocks(); }
  uint64_t segment() const override;
  Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) override;

 private:
  Learned step(const Blocks& blocks);

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
            const Context& context);

}  // namespace kith::softimpute
