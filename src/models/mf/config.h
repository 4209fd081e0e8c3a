// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "config/fields.h"

namespace kith::mf {

enum class Loss { kAuto, kSquared, kAbsolute, kHuber, kTukey, kLogistic, kHinge, kKl, kBpr };

struct Config {
  int dim = 64;
  int epochs = 40;
  double lr = -1;
  Loss loss = Loss::kAuto;
  double penalty = -1;
  double bias_penalty = 0.02;
  bool biases = true;
  bool adapt = true;
  int early_stop = -1;
  bool refit = true;

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "length of each vector").between(0, 4096).tuned(8, 128),
      field("epochs", &Config::epochs, "passes over the ratings, at most").between(1, 100000),
      field("lr", &Config::lr,
            "first learning rate; falls linearly over the epochs; negative: 0.1, or 1 for bpr")
          .between(-1, 10)
          .tuned(0.02, 1),
      field("loss", &Config::loss,
            "squared, absolute, huber, tukey; logistic or hinge (ratings of two values); kl "
            "(counts); bpr (what was seen above what was not); auto: squared, or bpr if implicit"),
      field("penalty", &Config::penalty,
            "of the squared length of both vectors, for each rating; ratings have variance 1; "
            "negative: 0.08, or 0.02 for bpr")
          .between(-1, 1e6)
          .tuned(0.01, 0.3),
      field("bias-penalty", &Config::bias_penalty, "the same of the squares of both biases")
          .between(0, 1e6)
          .tuned(0.001, 0.1),
      field("biases", &Config::biases, "whether users and items have one"),
      field("adapt", &Config::adapt,
            "a step of its own for each row, smaller the more it has been moved (AdaGrad)"),
      field("early-stop", &Config::early_stop,
            "stop when the held-out error has not fallen for so many epochs, and take the best; 0: "
            "never; negative: 3, or never for bpr, which is good once the rate has fallen")
          .between(-1, 1000),
      field(
          "refit", &Config::refit,
          "at the end learn from the held-out ratings too: anew, for as many epochs as were best"),
  };
};

}  // namespace kith::mf

template <>
struct kith::EnumNames<kith::mf::Loss> {
  static constexpr std::array<std::string_view, 9> names{
      "auto", "squared", "absolute", "huber", "tukey", "logistic", "hinge", "kl", "bpr"};
};
