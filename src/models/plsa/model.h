// SPDX-License-Identifier: Apache-2.0
#pragma once
// Probabilistic latent semantic analysis (Hofmann 1999): p(word | document) = sum over topics of
// p(word | topic) p(topic | document), learned by EM. How a step goes is in trainer.cc.

#include <vector>

#include "models/plsa/config.h"
#include "models/topics/model.h"

namespace kith::plsa {

class Plsa final : public TopicModel {
 public:
  Section settings() override { return {"plsa", config_}; }
  Wishes wishes() const override;

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const Config& config() const { return config_; }
  // The log-likelihood of the documents, given the parameters as they are.
  double log_likelihood(const Bags& data) const;
  // Sets the parameters, for tests: words x topics and documents x topics.
  void set_start(const Bags& data, Matrix words, Matrix documents);
  // One step of EM for the mixtures, and one for the topics.
  void step(const Bags& data, const Job& job);

 protected:
  size_t topics() const override { return static_cast<size_t>(config_.topics); }
  uint64_t memory(const Bags& data, const Job& job) const override;
  bool learn(const Bags& data, Job& job) override;

 private:
  friend class PlsaTrainer;
  friend class PlsaCourse;
  void start(const Bags& data, uint64_t seed);

  Config config_;
};

}  // namespace kith::plsa
