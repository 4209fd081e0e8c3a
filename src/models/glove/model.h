// SPDX-License-Identifier: Apache-2.0
#pragma once
// GloVe as a model: its tables, what it says. A step is in kernel.h, the order of the steps in
// train/grid.h.

#include <memory>
#include <vector>

#include "models/counts/model.h"
#include "models/glove/config.h"

namespace kith::glove {

class Glove final : public CountsModel {
 public:
  Section settings() override { return {"glove", config_}; }
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override { return facts(); }
  Side usual_side() const override { return Side::kSum; }

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const Config& config() const { return config_; }
  const std::vector<float>& input_bias() const { return input_bias_; }
  const std::vector<float>& output_bias() const { return output_bias_; }

 protected:
  uint64_t memory(const Counts& counts, const Job& job) const override;
  RunPlan plan() const override;
  void start(uint64_t seed) override;
  std::unique_ptr<Trainer> trainer(const Counts& counts, Job& job) override;
  void finish(const Context& context) override;

 private:
  friend class CellTrainer;

  Config config_;  // the tables have working rows (kernel.h) until finish() leaves vectors alone
  std::vector<float> input_bias_, output_bias_;
};

}  // namespace kith::glove
