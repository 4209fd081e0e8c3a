// SPDX-License-Identifier: Apache-2.0
#pragma once
// Completion with the least nuclear norm |M|_* = sum of singular values, the convex envelope of the
// rank. A* is what mean and biases leave of the ratings, P the projection to the observed entries.
//
//   min over M of  |P(A* - M)|^2 / 2 + lambda |M|_*             impute, als
//   min over M of  tau |M|_* + |M|^2 / 2  with  P(M) = P(A*)    shrink
//
// How each is solved is in trainer.cc. M is kept as p q^T with |p|^2 + |q|^2 = 2 |M|_*.

#include "models/ratings/completion.h"
#include "models/softimpute/config.h"

namespace kith::softimpute {

class SoftImpute final : public CompletionModel {
 public:
  Section settings() override { return {"softimpute", config_}; }
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;

  Config& config() { return config_; }
  double penalty() const { return penalty_; }  // lambda or tau, as used

 protected:
  uint64_t memory(const Ratings& ratings, const Job& job) const override;
  bool biases() const override { return config_.biases; }
  void check(const Ratings& ratings) const override { want_explicit(ratings, "softimpute"); }
  RunPlan plan() const override;
  bool refits() const override { return config_.refit; }
  void start(const Ratings& ratings, Start start, const Job& job) override;
  std::unique_ptr<Trainer> trainer(const Ratings& ratings, Job& job) override;
  void finish(const Ratings& ratings, const Job& job) override;

 private:
  friend class SoftTrainer;
  void start_anew(const Ratings& ratings, const Job& job);
  // In an epoch.
  uint64_t blocks() const { return shrinks() ? 1 : static_cast<uint64_t>(config_.iterations); }
  bool shrinks() const { return config_.method == Method::kShrink; }
  int epochs() const;
  // The lambda of an epoch on the path from top_ down to last_.
  double penalty_of(uint64_t epoch) const;

  Config config_;
  bool sweeps_ = false;  // als
  double top_ = 0;       // the largest singular value of P(A*): M is zero for lambda beyond it
  double last_ = 0;      // the end of the path; 0 if only the held-out error tells
  double penalty_ = 0;   // of the epoch under way; in the end, as used
  double step_ = 1;      // shrink: eta
  double square_ = 0;    // shrink: |P(A*)|^2
  double objective_ = 0;
  bool settled_ = false;     // this lambda is done
  std::vector<float> dual_;  // shrink: Y, by entry of the ratings
};

}  // namespace kith::softimpute
