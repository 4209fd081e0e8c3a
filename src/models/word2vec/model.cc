// SPDX-License-Identifier: Apache-2.0
#include "models/word2vec/model.h"

namespace kith::word2vec {

double Word2Vec::first_rate() const {
  if (config_.lr) return *config_.lr;
  if (config_.loss == words::WordLoss::kSoftmax) return 0.1;
  if (config_.objective == Objective::kSkipGram) return 0.08;
  return config_.gradient == Gradient::kExact ? 0.2 : 0.05;
}

ModelInfo info() { return model_info<Word2Vec>("word2vec", "words of a text: skip-gram and CBOW"); }

}  // namespace kith::word2vec
