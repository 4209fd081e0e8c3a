// SPDX-License-Identifier: Apache-2.0
#pragma once
// What models that complete the matrix of ratings as a whole have in common: they start from
// biases, change all rows in an epoch, and know the rank that they have reached.

#include <vector>

#include "models/ratings_run.h"
#include "train/svd.h"

namespace kith {

class CompletionModel : public RatingsModel {
 public:
  void pack(ArchiveWriter& out, bool checkpoint) const override;
  std::vector<Fact> info() const override;
  size_t rank() const { return rank_; }  // columns of p and q that are not zero, from the first on
  const RunState& state() const { return state_; }

 protected:
  friend class CompletionRun;
  virtual bool biases() const = 0;
  virtual uint64_t blocks() const { return 1; }  // in an epoch
  void keep_best() override;
  bool take_best() override;

  // Rows of zeros with mean and biases, as fitted.
  void begin(const Ratings& ratings, size_t dim);
  // The common part of restore().
  void read(const Archive& in);
  // New p and q, in the first columns of the rows; those that they have no columns for become 0.
  void put(const Factors& factors);
  // Cuts the rows to the rank, which dim() then is.
  void compact();
  // Ridge penalties for folding in: the noise in units of how much the coordinates of a trained row
  // vary. `noise`: the mean squared error that training left.
  void set_fold_in(double noise);
  RowProblem row_problem(Axis axis, size_t n) const override;

  size_t rank_ = 0;
  double user_penalty_ = 0, item_penalty_ = 0;  // of |p|^2 and |q|^2 when folding in
  double user_bias_penalty_ = 0, item_bias_penalty_ = 0;
  bool converged_ = false;  // the run that is on needs no further epoch
  size_t best_rank_ = 0;
};

// A run of such a model. A block changes all rows.
class CompletionRun : public RatingsRun {
 protected:
  CompletionRun(CompletionModel& model, const Ratings& ratings, int epochs, int early_stop,
                Job& job)
      : RatingsRun(model, ratings,
                   {.blocks = model.blocks(),
                    .epochs = epochs,
                    .lr = 0,
                    .early_stop = early_stop,
                    .start_counts = true},
                   job),
        m_(model),
        epochs_(model.state_.refit > 0 ? model.state_.refit : static_cast<uint64_t>(epochs)) {
    if (model.converged_) stop();
  }

  // Called by train(): the epoch that it closes is the last one. A checkpoint knows it too.
  void converged() {
    m_.converged_ = true;
    stop();
  }

  std::pair<uint64_t, uint64_t> progress() const override;

 private:
  CompletionModel& m_;
  const uint64_t epochs_;
};

// Error(kUsage) for implicit feedback, which says nothing of what is not there.
void want_explicit(const Ratings& ratings, std::string_view model);

}  // namespace kith
