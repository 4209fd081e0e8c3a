// SPDX-License-Identifier: Apache-2.0
#pragma once
// How well topics foretell documents that they were not learned from: document completion (Wallach,
// Murray, Salakhutdinov and Mimno 2009, section 5). Published perplexities can be compared only if
// the estimator is the same, so there is one:
//
//   The words of a document are put in the order of their numbers, each as often as it is there;
//   those that training never saw are left out first. Words at even places (0, 2, ...) say what the
//   mixture theta is, by 100 sweeps (topic_mixtures.h). Those at odd places are foretold:
//   perplexity = exp(- mean log sum_k theta_k phi_wk), over all documents.

#include <cstdint>
#include <span>

#include "data/sparse.h"
#include "eval/topic_mixtures.h"
#include "kith/context.h"

namespace kith::eval {

inline constexpr int kCompletionSweeps = 100;

struct Completion {
  double loss = 0, unigram_loss = 0;  // sums of - log p over the words that are foretold
  uint64_t words = 0;                 // that are
  uint64_t unseen = 0;                // of all documents: that training never saw
  uint64_t documents = 0;             // with a word that is foretold
  double perplexity() const;          // 0 if no word is foretold
  // Of words alone, by how often training saw them: n_w / N.
  double unigram_perplexity() const;
};

// `seen`: how often each word was there in training.
Completion complete(const TopicView& topics, std::span<const uint64_t> seen,
                    const Sparse& documents, const Context& context,
                    const MixtureSweeps& sweeps = {.most = kCompletionSweeps});

// The two halves of a document.
struct Halves {
  std::vector<uint32_t> words, foretold;
  std::vector<float> counts, foretold_counts;
  uint64_t unseen = 0;
};
void halve(Sparse::Row document, std::span<const uint64_t> seen, Halves& out);

}  // namespace kith::eval
