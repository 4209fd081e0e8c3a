// SPDX-License-Identifier: Apache-2.0
#include "models/word2vec/model.h"

namespace kith::word2vec {

double Word2Vec::first_rate() const {
  if (config_.lr) return *config_.lr;
  if (config_.loss == words::WordLoss::kSoftmax) return 0.1;
  if (config_.optimiser == Optimiser::kAdaGrad) return 0.2;
  if (config_.optimiser == Optimiser::kAdam) return 0.015;
  // Of steps that go on, each gradient moves its row some ten times.
  const double share = keeps_going(config_.optimiser) ? 0.1 : 1;
  if (config_.objective == Objective::kSkipGram) return share * 0.08;
  return share * (config_.gradient == Gradient::kExact ? 0.2 : 0.05);
}

ModelInfo info() { return model_info<Word2Vec>("word2vec", "words of a text: skip-gram and CBOW"); }

}  // namespace kith::word2vec
