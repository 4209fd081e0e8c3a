// SPDX-License-Identifier: Apache-2.0
#pragma once
// Singular value projection (Jain, Meka, Dhillon 2010): gradient steps on the squared error of the
// observed ratings, each followed by the projection to rank k,
//
//   A <- [A + eta P_Omega(A* - A)]_k
//
// where A* is what mean and biases leave of the ratings, P_Omega keeps the observed entries, and
// [.]_k the first k singular triplets (Eckart and Young). A is kept as p q^T and is never dense.

#include "models/completion.h"
#include "models/svp/config.h"

namespace kith::svp {

class Svp final : public CompletionModel {
 public:
  Section settings() override { return {"svp", config_}; }
  void pack(ArchiveWriter& out, bool checkpoint) const override;
  void restore(const Archive& in) override;
  uint64_t memory_needed(const Ratings& ratings, const Job& job) const override;

  Config& config() { return config_; }

 protected:
  bool biases() const override { return config_.biases; }
  bool refits() const override { return config_.refit; }
  void initialise(const Ratings& ratings, const Job& job) override;
  bool run(const Ratings& ratings, Job& job) override;
  void finish(const Ratings& ratings, const Job& job) override;

 private:
  friend class Trainer;

  Config config_;
  double step_ = 1;  // eta of the next step at most
};

}  // namespace kith::svp
