// SPDX-License-Identifier: Apache-2.0
#pragma once
// GloVe as a model: its tables, what it says. A step is in kernel.h, the order of the steps in
// train/grid.h.

#include <string>
#include <vector>

#include "data/counts/counts.h"
#include "models/capabilities.h"
#include "models/glove/config.h"
#include "models/model.h"

namespace kith::glove {

class Glove final : public Learns<Counts>, public HasVectors {
 public:
  Section settings() override { return {"glove", config_}; }
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;
  Side usual_side() const override { return Side::kSum; }
  std::vector<VectorGroup> vectors(Side side) const override;

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const Config& config() const { return config_; }
  const Matrix& input() const { return input_; }
  const Matrix& output() const { return output_; }
  const std::vector<float>& input_bias() const { return input_bias_; }
  const std::vector<float>& output_bias() const { return output_bias_; }

 protected:
  uint64_t memory(const Counts& counts, const Job& job) const override;
  bool learn(const Counts& counts, Job& job) override;

 private:
  friend class CellTrainer;
  friend class CellCourse;
  double lr() const {
    return config_.lr.value_or(config_.optimiser == Optimiser::kAdaGrad ? 0.6 : 0.01);
  }
  void start(const Counts& counts, uint64_t seed);
  void finish();

  Config config_;
  uint64_t rows_ = 0;  // words
  Names names_;
  std::vector<uint64_t> counts_;
  // Working rows (kernel.h) until finish() leaves the vectors alone.
  Matrix input_, output_;
  std::vector<float> input_bias_, output_bias_;
  bool working_ = false;
};

}  // namespace kith::glove
