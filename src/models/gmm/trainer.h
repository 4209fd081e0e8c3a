// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/gmm/model.h"
#include "train/run.h"

namespace kith::gmm {

// An epoch is a sweep over all rows. Starts come before the first one of a number of components;
// each ends at a safe point that belongs to no epoch.
class GmmTrainer final : public Trainer {
 public:
  GmmTrainer(Gmm& model, const MatrixData& data, Job& job);
  uint64_t blocks() const override { return 1; }
  Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) override;
  std::optional<double> held_out_loss() override;
  std::pair<uint64_t, uint64_t> progress(const RunState& state) const override;

 private:
  size_t dims() const { return m_.frame_.dims(); }
  uint64_t count() const { return candidates_[s_.candidate]; }
  uint64_t starts() const;  // of the candidate
  bool try_start();         // false if the rows cannot be told apart so well
  // True if the run is over.
  bool sweep(LossSum& sum);
  bool close_candidate(double bic);
  double bic(const Mixture& mixture, double loss) const;

  Gmm& m_;
  Search& s_;
  Job& job_;
  const Form form_;
  const std::vector<uint64_t> candidates_;
  const DataPoints points_, held_out_;
  const uint64_t rows_;
  std::unique_ptr<Sample> sample_;  // of the candidate, while starts are left
};

}  // namespace kith::gmm
