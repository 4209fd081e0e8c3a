// SPDX-License-Identifier: Apache-2.0
#pragma once
// Latent Dirichlet allocation (Blei, Ng and Jordan 2003): the topics of a document are drawn from
// Dirichlet(alpha), the words of a topic from Dirichlet(beta). How topics are learned is in warp.h
// (Metropolis-Hastings), kernel.h (collapsed Gibbs sampling) and online.h (variational Bayes).

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "models/lda/config.h"
#include "models/lda/priors.h"
#include "models/lda/warp.h"
#include "models/topics/model.h"

namespace kith::lda {

class Lda final : public TopicModel {
 public:
  Section settings() override { return {"lda", config_}; }
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;

  // Read by tests.
  Config& config() { return config_; }
  Priors priors() const { return {alpha_, beta_}; }

 protected:
  size_t topics() const override { return static_cast<size_t>(config_.topics); }
  uint64_t memory(const Bags& data, const Job& job) const override;
  bool learn(const Bags& data, Job& job) override;

 private:
  friend class LdaCourse;
  friend class LdaTrainer;
  friend class WarpTrainer;
  friend class GibbsTrainer;
  friend class OnlineTrainer;
  void start(const Bags& data, const Job& job);
  void finish(const Bags& data, const Job& job);
  // word_topics_ as what was learned so far says.
  void estimate(const Bags& data, const Context& context);
  void check_state(const Bags& data) const;
  void set_priors(const Priors& priors) {
    alpha_ = priors.alpha;
    beta_ = priors.beta;
  }
  bool samples() const { return config_.method != Method::kOnline; }
  // Topics that are kept of each token.
  size_t stride() const {
    return config_.method == Method::kWarp ? static_cast<size_t>(config_.proposals) + 1 : 1;
  }
  WhichPriors learned_priors() const { return {!config_.alpha, !config_.beta}; }
  // The sweep from which on counts are added up.
  uint64_t first_averaged() const {
    return static_cast<uint64_t>(config_.sweeps() - config_.averaged());
  }

  Config config_;
  // Of a run:
  std::vector<uint32_t> packed_;  // topics of tokens, two in each; see Assignments
  PassCounts pass_;
  Matrix sums_;            // words x topics: counts of sweeps, added up; online: lambda
  uint64_t averaged_ = 0;  // how many sweeps they are of
};

// The way of training that the settings ask for.
std::unique_ptr<Trainer> make_trainer(Lda& model, const Bags& data, Job& job);

}  // namespace kith::lda
