// SPDX-License-Identifier: Apache-2.0
#pragma once
// Factorised pointwise mutual information as a model. How the factors are found is in trainer.cc.

#include <string>
#include <vector>

#include "data/counts/counts.h"
#include "models/capabilities.h"
#include "models/model.h"
#include "models/pmi/config.h"

namespace kith::pmi {

class Pmi final : public Learns<Counts>, public HasVectors {
 public:
  Section settings() override { return {"pmi", config_}; }
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;
  std::vector<VectorGroup> vectors(Side side) const override;
  Wishes wishes() const override { return {.holdout = 0}; }  // all cells are the matrix

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const Config& config() const { return config_; }
  const Matrix& input() const { return input_; }
  const Matrix& output() const { return output_; }
  const std::vector<double>& singular_values() const { return sigma_; }

 protected:
  uint64_t memory(const Counts& counts, const Job& job) const override;
  bool learn(const Counts& counts, Job& job) override;
  bool has_say(std::string_view setting, const Counts& counts) const override;

 private:
  friend class PmiTrainer;
  friend class PmiCourse;
  int epochs() const;
  size_t rank(size_t words) const;          // of the answer
  size_t working_cols(size_t words) const;  // of the factors while they are sought
  void start(const Counts& counts, uint64_t seed);
  void finish(const Context& context);

  Config config_;
  uint64_t rows_ = 0;  // words
  Names names_;
  std::vector<uint64_t> counts_;
  Matrix input_, output_;  // P is about input output^T while it works, then vectors
  std::vector<double> sigma_;
  bool working_ = false;
};

}  // namespace kith::pmi
