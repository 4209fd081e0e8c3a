// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip-gram and CBOW: what models of words share, and nothing else.

#include "models/words/model.h"

namespace kith::word2vec {

using words::Config;
using words::Gradient;
using words::Noise;
using words::Objective;

class Word2Vec final : public words::WordsModel {
 public:
  Section settings() override { return {"word2vec", config_}; }
  Config& config() { return config_; }
  const Config& config() const { return config_; }

 protected:
  const Config& common() const override { return config_; }
  double first_rate() const override;

 private:
  Config config_;
};

}  // namespace kith::word2vec
