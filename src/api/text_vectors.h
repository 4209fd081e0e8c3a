// SPDX-License-Identifier: Apache-2.0
#pragma once
// The vectors of texts from those of their words: weighted means, less what all texts share (Arora,
// Liang and Ma 2017, "A simple but tough-to-beat baseline for sentence embeddings"):
//
//   v(text) = (1 / n) sum over its n known words of weight(w) v_w,   weight(w) = a / (a + p(w))
//   v(text) - u (u . v(text))
//
// The paper's u is the first singular vector of all texts that are embedded, so that the vector of
// a text depends on the others (`texts`). By default it is what that vector tends to for long texts
// of independent words: the direction of sum over w of p(w) weight(w) v_w. It comes from the model
// alone, so the same text always has the same vector.
//
// Models of documents infer the vector of a text instead. That of a classifier is the mean of the
// rows that it has for the text, of words and of runs of them, as fastText's
// print-sentence-vectors.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/opened.h"
#include "data/labelled/text_words.h"
#include "kith/embed.h"
#include "models/text_inference.h"

namespace kith {

// How the model's text was cut into words; what the caller says wins.
LabelledOptions cut_like(const Model::Impl& model, std::optional<Tokens> said);

// Error(kUsage) for what is said about the means of words, to a model that has none.
void refuse_weights(const EmbedOptions& options);

class TextVectors {
 public:
  // `name` is what messages call the texts. Notes of what was chosen go to the observer.
  TextVectors(const Model::Impl& model, const EmbedOptions& options, std::string name,
              Observer* observer);

  size_t dim() const { return dim_; }
  // False, and zeros, if no word of the text is known.
  bool embed(std::string_view text, std::span<float> out);
  // When all texts are there: takes out what they share, if that was asked for. How many have
  // nothing else, and are zero now.
  size_t finish(Matrix& texts, const Context& context) const;
  // Says how many words were not known, and how many were not UTF-8.
  void tell(Observer* observer) const;
  uint64_t words() const { return words_; }

 private:
  void choose_weights(const EmbedOptions& options, Observer* observer);
  void find_common();
  float weight_of(uint32_t row) const;
  // Adds what a word says; false if it is not known.
  bool add(std::string_view word, std::span<double> sum);

  bool infer(std::string_view text, std::span<float> out);
  bool average(std::string_view text, std::span<float> out);

  const InfersTexts* infers_;  // null: the mean of its words
  std::unique_ptr<TextInferrer> inferrer_;
  const AveragesTexts* averages_;  // of a classifier; else null
  const Classifies* classifies_ = nullptr;
  NumberWords numbering_;
  const CountsWords* counts_ = nullptr;
  const Spells* speller_ = nullptr;  // null if the model has none
  VectorGroup vectors_;
  size_t dim_ = 0;
  TextWords text_;
  WordWeights weights_ = WordWeights::kSif;
  CommonDirection common_ = CommonDirection::kModel;
  double smooth_, all_ = 0;        // a; the sum of all counts
  std::vector<double> direction_;  // u, if it is the model's
  Matrix row_;                     // scratch: one
  std::vector<float> spelled_;     // scratch
  std::vector<uint32_t> known_;    // scratch
  uint64_t words_ = 0, unknown_ = 0;
};

}  // namespace kith
