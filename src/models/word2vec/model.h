// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip-gram and CBOW with negative sampling as a model: its tables, how it is saved, what it says.
// How it learns is in trainer.cc.

#include <memory>
#include <string>
#include <vector>

#include "models/model.h"
#include "models/word2vec/config.h"
#include "models/word2vec/kernel.h"
#include "train/run.h"

namespace kith::word2vec {

struct State : RunState {
  uint64_t words = 0;               // seen, before thinning
  uint64_t windows = 0, pairs = 0;  // trained
};

class Word2Vec final : public TextModel {
 public:
  Section settings() override { return {"word2vec", config_}; }
  uint64_t memory_needed(const Corpus& corpus, const Job& job) const override;
  void train(const Corpus& corpus, Job& job) override;
  bool finished() const override { return state_.finished; }
  void reopen() override;
  void pack(ArchiveWriter& out, bool checkpoint) const override;
  void restore(const Archive& in) override;
  const Names& names() const override { return names_; }
  std::span<const uint64_t> counts() const override { return counts_; }
  Matrix vectors(Side side) const override;
  std::vector<Fact> info() const override;

  // Read by the trainer and by tests.
  const Config& config() const { return config_; }
  Config& config() { return config_; }
  const State& state() const { return state_; }
  const Matrix& input() const { return input_; }
  const Matrix& output() const { return output_; }

 private:
  friend class Trainer;
  // Rows [from, size) of the tables as they are before any training.
  void initialise(uint64_t seed, size_t from);
  // Takes the vocabulary of the corpus; rows that are there keep what they learned.
  void grow(const Vocabulary& vocabulary, uint64_t seed);
  bool finite() const;

  Config config_;
  Names names_;
  std::vector<uint64_t> counts_;
  Matrix input_, output_;
  std::vector<float> input_energy_, output_energy_;
  State state_;
  Matrix best_input_, best_output_;  // of the best epoch so far, when early stopping is on
  size_t learned_rows_ = 0;  // rows that came from an earlier run: a restart must not reset them
};

}  // namespace kith::word2vec
