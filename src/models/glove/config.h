// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "kith/fields.h"
#include "train/optimiser.h"

namespace kith::glove {

struct Config {
  int dim = 100;
  int epochs = 15;
  std::optional<double> lr{};
  double x_max = 10;
  double alpha = 0.75;
  bool biases = true;
  Optimiser optimiser = Optimiser::kAdaGrad;
  int early_stop = 0;

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "length of each vector").between(1, 4096).tuned(32, 300),
      field("epochs", &Config::epochs, "passes over the counts").between(0, 10000),
      field("lr", &Config::lr, "first learning rate; falls linearly")
          .between(0, 100)
          .tuned(0.1, 2)
          .automatic("0.6; sgd 0.01"),
      field("x-max", &Config::x_max, "counts from here on have the full weight of 1")
          .between(1e-6, 1e15),  // the held-out loss has it in it, so a search cannot choose it
      field("alpha", &Config::alpha, "a smaller count N has the weight (N / x-max)^alpha")
          .between(0, 2),
      field("biases", &Config::biases, "a number for each word and context beside their vectors"),
      field("optimiser", &Config::optimiser, "how a vector follows its gradients")
          .among(Optimiser::kAdaGrad, Optimiser::kSgd),
      field("early-stop", &Config::early_stop,
            "stop after this many epochs without a better held-out loss; 0 for never")
          .between(0, 1000),
  };
};

}  // namespace kith::glove
