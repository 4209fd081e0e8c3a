// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "kith/fields.h"
#include "train/loss.h"

namespace kith::mf {

struct Config {
  int dim = 64;
  int epochs = 40;
  std::optional<double> lr{};
  std::optional<Loss> loss{};
  std::optional<double> penalty{};
  std::optional<double> frequency{};
  std::optional<double> bias_penalty{};
  bool biases = true;
  std::optional<bool> choices{};
  std::optional<bool> columns{};
  std::optional<bool> days{};
  double column_penalty = 20;
  bool adapt = true;
  std::optional<int> early_stop{};
  bool refit = true;

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "length of each vector").between(0, 4096).tuned(8, 128),
      field("epochs", &Config::epochs, "passes over the ratings, at most").between(1, 100000),
      field("lr", &Config::lr, "first learning rate; falls linearly over the epochs")
          .between(0, 10)
          .tuned(0.02, 1)
          .automatic("0.1, or 1 for bpr")
          .formerly("lr", -1),
      field("loss", &Config::loss,
            "logistic and hinge are for ratings of two values, kl for counts; bpr ranks what was "
            "seen above what was not")
          .among(Loss::kSquared, Loss::kAbsolute, Loss::kHuber, Loss::kTukey, Loss::kLogistic,
                 Loss::kHinge, Loss::kKl, Loss::kBpr)
          .automatic("squared, or bpr for interactions"),
      field("penalty", &Config::penalty,
            "strength of L2 regularisation of the vectors, for ratings scaled to variance 1")
          .between(0, 1e6)
          .tuned(0.01, 0.3)
          .automatic("0.08, or 0.02 for bpr")
          .formerly("penalty", -1),
      field("frequency", &Config::frequency,
            "the penalty of a row with n ratings grows as n to this power: 1 is the same for each "
            "rating, 0 the same for all rows")
          .between(0, 2)
          .automatic("0.8; 1 for logistic, hinge, kl and bpr"),
      field("bias-penalty", &Config::bias_penalty,
            "strength of L2 regularisation of the biases, with each rating")
          .between(0, 1e6)
          .tuned(0.001, 0.1)
          .automatic("found from the data; 0.02 for logistic, hinge, kl and bpr"),
      field("biases", &Config::biases, "learn a bias for each user and item"),
      field("choices", &Config::choices,
            "learn about users and items from who rated what as well, whatever the rating")
          .automatic("on; off for logistic, hinge, kl and bpr"),
      field("columns", &Config::columns, "learn from other columns about users and items as well")
          .automatic("on; off for logistic, hinge, kl and bpr"),
      field("column-penalty", &Config::column_penalty,
            "strength of L2 regularisation of what is learned from columns and choices")
          .between(1e-6, 1e9)
          .tuned(3, 100),
      field("days", &Config::days,
            "where times are known: learn what the ratings that a user gave on one day have in "
            "common")
          .automatic(
              "on unless that raises the held-out error of biases; off for logistic, hinge, kl "
              "and bpr"),
      field("adapt", &Config::adapt,
            "each user and item has its own step, smaller the more it has moved (AdaGrad)"),
      field("early-stop", &Config::early_stop,
            "stop when the held-out error has not fallen for this many epochs, and keep the best; "
            "0 for never")
          .between(0, 1000)
          .automatic("3; never for bpr, which is best once the learning rate has fallen")
          .formerly("early-stop", -1),
      field("refit", &Config::refit,
            "at the end train again with the held-out ratings included, for the best number of "
            "epochs"),
  };
};

}  // namespace kith::mf
