// SPDX-License-Identifier: Apache-2.0
#pragma once
// What models that complete the matrix of ratings as a whole have in common: they start from
// biases, change all rows in an epoch, and know the rank that they have reached.

#include "models/ratings/trainer.h"
#include "train/svd.h"

namespace kith {

class CompletionModel : public RatingsModel {
 public:
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;
  size_t rank() const { return rank_; }  // columns of p and q that are not zero, from the first on

 protected:
  virtual bool biases() const = 0;

  // Rows of zeros with mean and biases, as fitted.
  void begin(const Ratings& ratings, size_t dim);
  // New p and q, in the first columns of the rows; those that they have no columns for become 0.
  void put(const FactorPair& factors);
  // Cuts the rows to the rank, which dim then is.
  void compact();
  // Ridge penalties for folding in: the noise in units of how much the coordinates of a trained row
  // vary. `noise`: the mean squared error that training left.
  void set_fold_in(double noise);
  RowProblem row_problem(Axis axis, const Folding& row) const override;

  uint64_t rank_ = 0;
  double user_penalty_ = 0, item_penalty_ = 0;  // of |p|^2 and |q|^2 when folding in
  double user_bias_penalty_ = 0, item_bias_penalty_ = 0;
};

// Error(kUsage) for implicit feedback, which says nothing of what is not there.
void want_explicit(const Ratings& ratings, std::string_view model);

}  // namespace kith
