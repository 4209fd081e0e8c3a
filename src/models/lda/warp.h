// SPDX-License-Identifier: Apache-2.0
#pragma once
// WarpLDA (Chen, Li, Zhu and Chen 2016), a sampler of the topics z of all tokens. The target is
// that of collapsed Gibbs sampling,
//
//   p(z_i = k) ~ (c_dk + alpha_k) (c_wk + beta) / (c_k + V beta),   counts without token i,
//
// met by Metropolis-Hastings steps with two kinds of proposals, from c_dk + alpha_k and from
// c_wk + beta. Each cancels against its factor of the target: what a word proposed is accepted by
// counts of the document alone, what a document proposed by counts of the word alone. So a sweep is
// a pass by document (accept what words proposed, propose) and one by word (accept what documents
// proposed, propose), and either needs the counts of one row, in a cache. Counts of the other side
// and c_k are those of the last pass. Unlike the paper, a token is left out of the counts that
// decide about it, in proposals too: without that, topics move much more slowly.
//
// Rows do not depend on each other within a pass, and each has random numbers of its own: the bits
// are the same for any number of threads.

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "core/rng.h"
#include "models/lda/assignments.h"
#include "models/lda/priors.h"
#include "train/alias.h"

namespace kith::lda {

// What the rest of a pass depends on, besides topics, priors and seed: counts as they were when it
// began.
struct PassCounts {
  std::vector<uint64_t> totals;  // c_k
  std::vector<uint32_t> longs;   // c_wk of words with many tokens
};

class Warp {
 public:
  // `state`: of each token its topic, and one that is proposed to it for each step.
  Warp(Assignments& state, PassCounts& counts, uint64_t seed);

  // Before the first shard of a pass.
  void begin_pass(bool by_word);
  // Before any shard of a pass, or of the rest of one.
  void set_priors(const Priors& priors, bool by_word);
  // A shard of a pass. Each returns its part of log p(words, topics) of the state between the
  // passes; together with log_of_totals(), of the pass by word, that is all of it.
  double visit_documents(const Shard& shard, uint64_t epoch, size_t worker);
  // Adds the counts to `sums` (words x topics), unless it is null.
  double visit_words(const Shard& shard, uint64_t epoch, size_t worker, Matrix* sums);
  double log_of_totals() const { return log_of_totals_; }

  static size_t long_words(std::span<const uint64_t> word_counts);

 private:
  struct Scratch {
    std::vector<uint32_t> counts;   // of the row; 0 between rows
    std::vector<uint16_t> records;  // of a document, side by side
  };
  double visit_document(uint32_t document, Rng& rng, Scratch& scratch);
  double visit_word(uint32_t word, Rng& rng, Scratch& scratch, Matrix* sums);
  double visit_part(const Shard& part, Rng& rng, Scratch& scratch, Matrix* sums);
  template <class Prior>
  uint32_t settle(const Topic* record, uint32_t* counts, const Prior& prior, Rng& rng) const;
  void propose_from_word(Topic* records, uint64_t size, Rng& rng) const;

  Assignments& state_;
  PassCounts& counts_;
  const Layout& layout_;
  const size_t topics_, stride_;
  const uint64_t seed_;
  std::vector<uint32_t> long_words_;
  std::vector<AliasSampler> long_samplers_;  // from c_wk
  std::vector<Scratch> scratch_;

  // Of the priors and totals of a pass.
  std::vector<double> alpha_;
  std::vector<float> alpha_float_;
  double alpha_sum_ = 0, beta_ = 0, log_of_totals_ = 0;
  AliasSampler alpha_sampler_;
  std::vector<float> inverse_, inverse_without_;  // 1 / (c_k + V beta), and with c_k - 1
};

}  // namespace kith::lda
