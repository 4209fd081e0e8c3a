// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "kith/fields.h"

namespace kith::lda {

enum class Method { kWarp, kGibbs, kOnline };

struct Config {
  int topics = 20;
  Method method = Method::kWarp;
  std::optional<int> epochs{};
  std::optional<double> alpha{}, beta{};
  std::optional<int> burn_in{}, average{};
  int proposals = 1;
  int batch = 256;
  double kappa = 0.5, tau0 = 16;

  static constexpr std::tuple fields{
      field("topics", &Config::topics, "number of topics").between(1, 65535).tuned(10, 200),
      field("method", &Config::method,
            "warp: Metropolis-Hastings, as fast for many topics as for few; gibbs: collapsed Gibbs "
            "sampling, on one thread; online: variational Bayes, by batches"),
      field("epochs", &Config::epochs, "sweeps over the documents")
          .between(0, 1000000)
          .automatic("500; gibbs 300, online 60"),
      field("alpha", &Config::alpha,
            "prior of topics in documents: the smaller, the fewer topics a document has")
          .between(1e-6, 1e6)
          .automatic("learned, one for each topic"),
      field("beta", &Config::beta,
            "prior of words in topics: the smaller, the fewer words a topic has")
          .between(1e-6, 1e6)
          .automatic("learned; online 0.02"),
      field("burn-in", &Config::burn_in, "sweeps before alpha and beta are learned")
          .between(0, 1000000)
          .automatic("a tenth of the sweeps, at most 50; none for online"),
      field("average", &Config::average,
            "warp and gibbs: topics are the mean of so many of the last sweeps")
          .between(1, 1000000)
          .automatic("two fifths of the sweeps"),
      field("proposals", &Config::proposals,
            "warp: topics that are proposed to a word by each of the two passes of a sweep")
          .between(1, 16),
      field("batch", &Config::batch, "online: documents between two steps").between(1, 1e9),
      field("kappa", &Config::kappa,
            "online: step t is (tau0 + t)^-kappa; 0 for whole steps, as with all documents in a "
            "batch")
          .between(0, 1),
      field("tau0", &Config::tau0, "online: the larger, the smaller are the first steps")
          .between(1, 1e9),
  };

  int sweeps() const {
    if (epochs) return *epochs;
    return method == Method::kWarp ? 500 : method == Method::kGibbs ? 300 : 60;
  }
  int learns_after() const {
    if (burn_in) return *burn_in;
    return method == Method::kOnline ? 0 : std::min(sweeps() / 10, 50);
  }
  // How many of the last sweeps are averaged: 1 or more.
  int averaged() const {
    return std::min(average.value_or(std::max(1, sweeps() * 2 / 5)), std::max(1, sweeps()));
  }
};

}  // namespace kith::lda

template <>
struct kith::EnumNames<kith::lda::Method> {
  static constexpr std::array<std::string_view, 3> names{"warp", "gibbs", "online"};
};
