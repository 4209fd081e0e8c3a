// SPDX-License-Identifier: Apache-2.0
#pragma once
// Singular value projection (Jain, Meka, Dhillon 2010): gradient steps on the squared error of the
// observed ratings, each followed by the projection to rank k,
//
//   A <- [A + eta P_Omega(A* - A)]_k
//
// where A* is what mean and biases leave of the ratings, P_Omega keeps the observed entries, and
// [.]_k the first k singular triplets (Eckart and Young). A is kept as p q^T and is never dense.

#include "models/ratings/completion.h"
#include "models/svp/config.h"

namespace kith::svp {

class Svp final : public CompletionModel {
 public:
  Section settings() override { return {"svp", config_}; }
  void visit(Parts& parts) override;

  Config& config() { return config_; }

 protected:
  uint64_t memory(const Ratings& ratings, const Job& job) const override;
  bool biases() const override { return config_.biases; }
  void check(const Ratings& ratings) const override { want_explicit(ratings, "svp"); }
  RunPlan plan() const override {
    return {.epochs = config_.epochs, .early_stop = config_.early_stop, .start_counts = true};
  }
  bool refits() const override { return config_.refit; }
  void start(const Ratings& ratings, Start start, const Job& job) override;
  std::unique_ptr<Trainer> trainer(const Ratings& ratings, Job& job) override;
  void finish(const Ratings& ratings, const Job& job) override;

 private:
  friend class SvpTrainer;

  Config config_;
  double step_ = 1;  // eta of the next step at most
};

}  // namespace kith::svp
