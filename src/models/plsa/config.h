// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "kith/fields.h"

namespace kith::plsa {

struct Config {
  int topics = 20;
  int epochs = 100;
  double alpha = 0.1;
  double beta = 0.05;
  double temper = 0.9;
  double tolerance = 1e-5;
  int early_stop = 3;

  static constexpr std::tuple fields{
      field("topics", &Config::topics, "number of topics").between(1, 4096).tuned(10, 200),
      field("epochs", &Config::epochs, "steps of EM, at most").between(1, 100000),
      field("alpha", &Config::alpha,
            "words that each topic is thought to have in a document before it is seen; 0: none")
          .between(0, 1e6),
      field(
          "beta", &Config::beta,
          "times that each word is thought to be in a topic before it is seen; 0: none, and words "
          "may become impossible")
          .between(0, 1e6),
      field("temper", &Config::temper,
            "the power that the shares of topics are raised to in the E-step: 1 is plain EM, below "
            "it topics are held back from fitting chance")
          .between(0.01, 1),
      field("tolerance", &Config::tolerance,
            "stop when a step lowers the loss by no more than this share of it")
          .between(0, 1),
      field("early-stop", &Config::early_stop,
            "stop when the loss of held-out documents has not fallen for this many steps, and keep "
            "the best; 0 for never")
          .between(0, 1000),
  };
};

}  // namespace kith::plsa
