// SPDX-License-Identifier: Apache-2.0
#pragma once
// What goes over all topics of a token or a word, by vectors: a draw from the weights of collapsed
// Gibbs sampling, and the steps of variational inference.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "core/rng.h"
#include "models/lda/assignments.h"

namespace kith::lda {

// Counts of collapsed Gibbs sampling, kept as the topics of tokens change. Floats hold whole
// numbers up to 2^24.
struct GibbsCounts {
  Matrix words;                  // c_wk, words x topics
  std::vector<uint64_t> totals;  // c_k
  std::vector<uint32_t> here;    // c_dk; 0 between documents
  Matrix rows;                   // by topic: c_dk + alpha_k, 1 / (c_k + V beta), weights; prior
  float beta = 0;
  double all_beta = 0;  // V beta
  enum Row : size_t { kHere, kInverse, kWeight, kPrior };
};

// Draws new topics for the tokens of a document, one after the other, each from
//   (c_dk + alpha_k) (c_wk + beta) / (c_k + V beta),   counts without the token.
// `words` and `topics`: of the tokens.
void gibbs_document(std::span<const uint32_t> words, Topic* topics, GibbsCounts& counts, Rng& rng);

// out_k = e^psi(x_k), of which psi = d log Gamma / dx, to 1e-5 of it or 1e-30; 0 where x_k is 0.
// `n`: a padded width.
void exp_digamma(const float* x, float* out, size_t n);

// out_k = scale e^psi(x_k).
void exp_digamma_scaled(const float* x, const float* scale, float* out, size_t n);

}  // namespace kith::lda
