// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all models of topics are to everyone else: words and documents by topics. Top words,
// mixtures of new documents, neighbours and saving are written once; a model is how its topics are
// learned.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/bags/bags.h"
#include "eval/topic_mixtures.h"
#include "models/capabilities.h"
#include "models/model.h"
#include "models/text_inference.h"

namespace kith {

class TopicModel : public Learns<Bags>, public HasVectors, public InfersTexts, public Topics {
 public:
  // ModelBase: names, word_topics_, mixtures_ and what finish_topics() finds. A model adds its own.
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;
  // HasVectors: of documents, topics and words, all in the space of topics: a document is its
  // mixture, a word p(topic | word), a topic the mean of its words.
  std::vector<VectorGroup> vectors(Side side) const override;
  // InfersTexts
  const Names& text_words() const final { return words_; }
  Tokens usual_tokens() const final { return Tokens::kWords; }
  std::unique_ptr<TextInferrer> inferrer() const override;
  // Topics
  const Names& topic_words() const final { return words_; }
  const Names& topic_names() const final { return topic_names_; }
  const Matrix& word_topics() const final { return word_topics_; }
  std::span<const double> topic_prior() const final { return alpha_; }
  std::span<const double> topic_sizes() const final { return sizes_; }
  std::span<const double> topic_coherence() const final { return coherence_; }
  std::span<const uint64_t> trained_counts() const final { return counts_; }
  void find_mixtures(const Sparse& documents, const Context& context, Matrix& out) const override;

  // Read by tests.
  const Names& documents() const { return documents_; }
  const Matrix& mixtures() const { return mixtures_; }
  double beta() const { return beta_; }

 protected:
  TopicModel() = default;
  virtual size_t topics() const = 0;  // as its settings say

  // --- For a model that learns ---

  // At the start of a run: names and counts of the data, and tables of their size, all zero.
  void take(const Bags& data);
  // Error(kInput) if a checkpoint is not of such data.
  void check_same(const Bags& data) const;
  // The mean loss of a word of the held-out documents, by the estimator of eval/completion.h;
  // nothing if none is held out.
  std::optional<double> held_out_loss(const Bags& data, const Context& context) const;
  // At the end: sizes and coherence of topics, and mixtures of documents that were held out. Before
  // it, word_topics_, mixtures_ (of documents that were learned from), alpha_ and beta_ are set.
  void finish_topics(const Bags& data, const Context& context);
  // Part of memory(): the tables, names, and what the end takes.
  // `while_training`: what the model takes besides, and gives up before the end.
  uint64_t memory_of_topics(const Bags& data, const Job& job, bool keeps_best,
                            uint64_t while_training = 0) const;
  eval::TopicView view() const { return {word_topics_, alpha_}; }

  // p(word | topic), words x topics: columns sum to 1. Smoothed, so that no word is impossible.
  Matrix word_topics_;
  Matrix mixtures_;            // p(topic | document), documents x topics: rows sum to 1
  std::vector<double> alpha_;  // of the Dirichlet that mixtures come from, by topic; 0: none
  double beta_ = 0;            // of that of words in a topic, each the same; 0: none

 private:
  void find_overlaps(const Context& context);
  Names words_, documents_, topic_names_;
  std::vector<uint64_t> counts_;   // of words in training
  uint64_t rows_ = 0, texts_ = 0;  // words, documents
  std::vector<double> sizes_;      // share of the words of the documents that each topic has
  std::vector<double> coherence_;
  Matrix topic_topics_;  // topics x topics: sum over words of p(w | z) p(z' | w)
};

}  // namespace kith
