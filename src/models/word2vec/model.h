// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip-gram and CBOW with negative sampling as a model: its tables, what it says. How it learns is
// in trainer.cc.

#include <string>
#include <vector>

#include "data/text/corpus.h"
#include "models/capabilities.h"
#include "models/model.h"
#include "models/word2vec/config.h"

namespace kith::word2vec {

class Word2Vec final : public Learns<Corpus>, public HasVectors, public Continues {
 public:
  Section settings() override { return {"word2vec", config_}; }
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;
  std::vector<VectorGroup> vectors(Side side) const override;
  std::any known() const override { return Vocabulary{names_, counts_}; }
  void reopen() override;

  // Read by the trainer and by tests.
  const Config& config() const { return config_; }
  Config& config() { return config_; }
  const Names& names() const { return names_; }
  const Matrix& input() const { return input_; }
  const Matrix& output() const { return output_; }
  uint64_t words_seen() const { return words_; }
  uint64_t windows() const { return windows_; }
  uint64_t pairs() const { return pairs_; }

 protected:
  uint64_t memory(const Corpus& corpus, const Job& job) const override;
  bool learn(const Corpus& corpus, Job& job) override;

 private:
  friend class WordTrainer;
  friend class WordCourse;
  // Rows [from, size) of the tables as they are before any training.
  void initialise(uint64_t seed, size_t from);
  // Takes the vocabulary of the corpus; rows that are there keep what they learned. Error(kInput)
  // if it does not begin with the words of this model, Error(kUsage) if --dim is another one.
  void grow(const Vocabulary& vocabulary, uint64_t seed);

  Config config_;
  uint64_t rows_ = 0;  // words
  Names names_;
  std::vector<uint64_t> counts_;
  Matrix input_, output_;
  std::vector<float> input_energy_, output_energy_;
  uint64_t words_ = 0;                // seen, before thinning
  uint64_t windows_ = 0, pairs_ = 0;  // trained
  // Rows that came from an earlier run: a restart must not reset them.
  uint64_t learned_rows_ = 0;
};

}  // namespace kith::word2vec
