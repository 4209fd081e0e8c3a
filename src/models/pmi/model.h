// SPDX-License-Identifier: Apache-2.0
#pragma once
// Factorised pointwise mutual information as a model. How the factors are found is in trainer.cc.

#include <memory>
#include <string_view>
#include <vector>

#include "models/counts/model.h"
#include "models/pmi/config.h"

namespace kith::pmi {

class Pmi final : public CountsModel {
 public:
  Section settings() override { return {"pmi", config_}; }
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;
  static constexpr std::string_view kNeedsAll =
      "pmi factors all counts, and a cell that is held out would be a 0 among them";
  Wishes wishes() const override { return {.holdout = 0, .needs_all = kNeedsAll}; }

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const Config& config() const { return config_; }
  const std::vector<double>& singular_values() const { return sigma_; }

 protected:
  uint64_t memory(const Counts& counts, const Job& job) const override;
  bool has_say(std::string_view setting, const Counts& counts) const override;
  RunPlan plan() const override { return {.epochs = epochs()}; }
  void start(uint64_t seed) override;
  std::unique_ptr<Trainer> trainer(const Counts& counts, Job& job) override;
  void finish(const Context& context) override;

 private:
  friend class PmiTrainer;
  int epochs() const;
  size_t rank(size_t words) const;          // of the answer
  size_t working_cols(size_t words) const;  // of the factors while they are sought

  Config config_;  // P is about input output^T while it works; then they are vectors
  std::vector<double> sigma_;
};

}  // namespace kith::pmi
