// SPDX-License-Identifier: Apache-2.0
#pragma once
// Words that are the mean of their parts (fastText): skip-gram and CBOW as in words/, and a vector
// for words that nobody has seen.

#include <vector>

#include "io/fasttext_bin.h"
#include "models/fasttext/config.h"
#include "models/fasttext_origin.h"
#include "models/words/model.h"

namespace kith::fasttext {

class FastText final : public words::WordsModel, public Spells {
 public:
  Section settings() override { return {"fasttext", config_}; }
  void visit(Parts& parts) override;
  std::vector<VectorGroup> vectors(Side side) const override;
  void reopen() override;
  size_t dim() const override { return input_.cols(); }
  bool spell(std::string_view word, std::span<float> out) const override;

  // Takes what a file of fastText holds; `file` is of words.
  void take(FastTextFile file, const Context& context);

  Config& config() { return config_; }
  const Config& config() const { return config_; }
  const Matrix& word_vectors() const { return vectors_; }

 protected:
  const words::Config& common() const override { return config_; }
  double first_rate() const override;
  words::SubwordSettings parts_of_words() const override;
  void finish(const Context& context) override;
  uint64_t memory_of_finish(const Corpus& corpus) const override;
  void restore(FastTextHeader& header) const override { origin_.restore(header); }

 private:
  // Whether the output rows are nodes of fastText's tree over the words.
  bool has_tree() const { return origin_.loss() == FastTextHeader::Loss::kHs; }

  Config config_;
  FastTextOrigin origin_;  // until it is trained here
  Matrix vectors_;         // of the words: the means of their rows; empty until training is over
};

}  // namespace kith::fasttext
