// SPDX-License-Identifier: Apache-2.0
#pragma once
// Online variational Bayes (Hoffman, Blei and Bach 2010). Topics are Dirichlets lambda_k over
// words; a batch of documents gives, with B_wk = exp E[log phi_wk],
//
//   gamma_dk = alpha_k + sum_w n_dw theta_dk B_wk / sum_j theta_dj B_wj,   theta = e^psi(gamma_d)
//   lambda_wk <- (1 - rho) lambda_wk + rho (beta + D / |batch| sum_d n_dw theta_dk B_wk / sum_j ..)
//
// with rho = (tau0 + t)^-kappa at batch t. Documents are done in parallel, then words, each by one
// thread and in the order of the batch: the bits are the same for any number of threads.

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "data/sparse.h"
#include "kith/context.h"
#include "models/lda/priors.h"

namespace kith::lda {

struct OnlineRates {
  double kappa, tau0;
  double at(uint64_t batch) const;
};

class Online {
 public:
  // `lambda`: words x topics.
  Online(const Sparse& documents, Matrix& lambda, Priors& priors, const Context& context);

  void start(uint64_t seed);  // lambda from Gamma(100, 1 / 100)

  struct Done {
    double bound = 0;  // of the documents, the topics as they were before: of log p, in nats
    uint64_t words = 0;
  };
  // One step on these documents. Error(kCancelled) leaves everything as it was.
  Done learn(std::span<const uint32_t> batch, double rho, bool learns_alpha);
  // Of all documents and topics: what steps with rho = 1 on all documents, priors given, never
  // lower.
  double bound() const;

 private:
  struct Batch;
  void infer(Batch& batch) const;
  double infer_document(Batch& batch, size_t number, size_t worker) const;
  void take_step(const Batch& batch, double rho);
  void step_alpha(const Batch& batch, double rho);
  void sum_lambda() const;

  const Sparse& documents_;
  Matrix& lambda_;
  Priors& priors_;
  const Context& context_;
  uint64_t filled_ = 0;               // documents with a word
  mutable std::vector<double> sums_;  // of lambda, by topic
};

}  // namespace kith::lda
