// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which topics a document is made of, the topics as they are: fixed-point sweeps of
//
//   gamma_k = alpha_k + sum over words w of n_w theta_k phi_wk / sum_j theta_j phi_wj
//   theta = gamma / sum gamma
//
// from theta = 1 / K. With alpha = 0 these are the steps of EM for p(topic | document).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "data/sparse.h"
#include "kith/context.h"

namespace kith::eval {

struct TopicView {
  const Matrix& words;            // words x topics: phi, the probability of a word in a topic
  std::span<const double> alpha;  // of each topic
};

struct MixtureSweeps {
  int most = 100;
  // Stops when no theta moved further than this in a sweep; 0: never before `most`.
  float tolerance = 0;
};

// With buffers of its own: one for each thread.
class MixtureFinder {
 public:
  explicit MixtureFinder(const TopicView& topics);
  // `document`: words (rows of phi) and how often each is there. `theta`: a probability for each
  // topic; that of a document without words is the mean that alpha says. Sweeps that it took.
  int find(Sparse::Row document, const MixtureSweeps& sweeps, std::span<float> theta);

 private:
  int sweep(Sparse::Row document, const MixtureSweeps& sweeps);
  TopicView topics_;
  Matrix tile_;                  // the rows of the document's words, side by side
  std::vector<uint32_t> order_;  // 0, 1, 2, ...
  std::vector<float> ratios_;
  Matrix theta_;  // of now, and sums
  std::vector<float> prior_;
  double prior_sum_ = 0;
};

// Of each document, into rows of `out` (documents x topics).
void find_mixtures(const TopicView& topics, const Sparse& documents, const MixtureSweeps& sweeps,
                   const Context& context, Matrix& out);

}  // namespace kith::eval
