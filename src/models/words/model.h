// SPDX-License-Identifier: Apache-2.0
#pragma once
// What models of the words of a text share: two tables with a row for each word, in the first one
// rows for parts of words behind them if the model has such, and how both are trained (trainer.cc).

#include <span>
#include <string>
#include <vector>

#include "data/text/corpus.h"
#include "models/capabilities.h"
#include "models/model.h"
#include "models/words/config.h"
#include "models/words/subwords.h"

namespace kith {
struct FastTextHeader;
}

namespace kith::words {

// The same noise at every scoring, for every seed.
inline constexpr uint64_t kHeldOutSeed = 0x68656c64;

class WordsModel : public Learns<Corpus>,
                   public HasVectors,
                   public CountsWords,
                   public Continues,
                   public WritesFastText {
 public:
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;
  std::vector<VectorGroup> vectors(Side side) const override;
  std::span<const uint64_t> word_counts() const override { return counts_; }
  std::any known() const override { return Vocabulary{names_, counts_}; }
  void reopen() override;
  void write_fasttext(const std::string& path, const Context& context) const override;

  // Read by the trainer and by tests.
  const Names& names() const { return names_; }
  const Matrix& input() const { return input_; }
  const Matrix& output() const { return output_; }
  std::span<const float> biases() const { return output_bias_; }
  const Matrix& form() const { return form_; }
  const Subwords& subwords() const { return subwords_; }
  uint64_t words_seen() const { return words_; }
  uint64_t windows() const { return windows_; }
  uint64_t pairs() const { return pairs_; }

 protected:
  WordsModel() = default;
  virtual const Config& common() const = 0;  // the settings that all of them have
  virtual double first_rate() const = 0;
  // The parts that words are made of besides themselves; none but for models that say so.
  virtual SubwordSettings parts_of_words() const { return {}; }
  // Error(kUsage) if settings do not go together, or not with so many words.
  void check_settings(size_t words) const;
  // Once training is over and the tables are as they stay.
  virtual void finish(const Context&) {}
  // What a file of fastText says besides, if the model came from one.
  virtual void restore(FastTextHeader&) const {}
  // Bytes that the finished model has besides the tables.
  virtual uint64_t memory_of_finish(const Corpus&) const { return 0; }

  // What another tool learned, as if it had been learned here.
  void take(Vocabulary vocabulary, Subwords subwords, Matrix input, Matrix output);

  uint64_t memory(const Corpus& corpus, const Job& job) const final;
  bool learn(const Corpus& corpus, Job& job) final;

  uint64_t rows_ = 0;  // words
  Names names_;
  std::vector<uint64_t> counts_;
  Subwords subwords_;
  Matrix input_, output_;  // the rows of parts of words stand behind those of words

 private:
  friend class WordTrainer;
  friend class SoftmaxTrainer;
  friend class WordCourse;
  // Rows of words from `words` on, and of parts that are not known, as they are before training.
  void initialise(uint64_t seed, size_t words, const std::vector<bool>& known);
  void initialise_row(uint64_t seed, size_t row);
  // Takes the vocabulary of the corpus; rows that are there keep what they learned. Error(kInput)
  // if it does not begin with the words of this model, Error(kUsage) if --dim is another one.
  void grow(const Vocabulary& vocabulary, uint64_t seed);
  void visit_tables(Parts& parts);
  void check_goes_on(const Vocabulary& vocabulary) const;
  bool has_biases() const;
  size_t form_rows() const;
  size_t state_floats() const;  // of a row, for its optimiser

  std::vector<float> input_energy_, output_energy_;
  Matrix form_;  // B of the score x'By, or one row: its diagonal; one below the other for relations
  Matrix input_state_, output_state_;                  // of an optimiser: a row for each row
  std::vector<float> output_bias_;                     // of nce and softmax
  std::vector<float> input_squares_, output_squares_;  // of softmax, for AdaGrad's steps
  uint64_t words_ = 0;                                 // seen, before thinning
  uint64_t windows_ = 0, pairs_ = 0;                   // trained
  // Rows that came from an earlier run: a restart must not reset them.
  uint64_t learned_rows_ = 0;
  Config before_;  // of the run that this one goes on from
};

}  // namespace kith::words
