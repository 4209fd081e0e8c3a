// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "kith/fields.h"

namespace kith::als {

enum class Solver { kCg, kCholesky, kBlocks };

struct Config {
  int dim = 64;
  int epochs = 30;
  std::optional<double> penalty{};
  std::optional<double> frequency{};
  std::optional<double> bias_penalty{};
  bool biases = true;
  std::optional<bool> choices{};
  bool columns = true;
  std::optional<bool> days{};
  double column_penalty = 20;
  double unobserved = 0.2;
  Solver solver = Solver::kCg;
  int steps = 3;
  int block = 64;
  int early_stop = 3;
  bool refit = true;

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "length of each vector").between(0, 4096).tuned(8, 128),
      field("epochs", &Config::epochs, "sweeps over users and items, at most").between(1, 10000),
      field("penalty", &Config::penalty, "strength of L2 regularisation of the vectors")
          .between(0, 1e6)
          .tuned(0.001, 0.5)
          .automatic("0.1; for interactions the one with the least held-out error, or 0.01 if "
                     "nothing is held out")
          .formerly("penalty", -1),
      field("frequency", &Config::frequency,
            "the penalty of a row with n ratings grows as n to this power: 1 is ALS-WR, 0 the same "
            "for all")
          .between(0, 2)
          .automatic("0.6, or 1 for interactions")
          .formerly("frequency", -1),
      field("bias-penalty", &Config::bias_penalty, "strength of L2 regularisation of the biases")
          .between(0, 1e9)
          .automatic("found from the data, or 1 for interactions")
          .formerly("bias-penalty", -1),
      field("biases", &Config::biases,
            "learn a bias for each user and item; for interactions, for items only"),
      field("choices", &Config::choices,
            "learn about users and items from who rated what as well, whatever the rating")
          .automatic("on, except for interactions"),
      field("columns", &Config::columns, "learn from other columns about users and items as well"),
      field("column-penalty", &Config::column_penalty,
            "strength of L2 regularisation of what is learned from columns and choices")
          .between(1e-6, 1e9)
          .tuned(3, 100),
      field("days", &Config::days,
            "where times are known: learn what the ratings that a user gave on one day have in "
            "common")
          .automatic("on unless that raises the held-out error of biases"),
      field("unobserved", &Config::unobserved,
            "interactions: weight of a pair that was not seen; one that was seen weighs 1")
          .between(0, 1e6)
          .tuned(0.01, 1),
      field("solver", &Config::solver,
            "how the equations of a row are solved: conjugate gradients, Cholesky, or blocks of "
            "dimensions (iALS++)"),
      field("steps", &Config::steps,
            "steps of conjugate gradients in each sweep, from where the last sweep ended")
          .between(1, 1000),
      field("block", &Config::block, "dimensions that --solver blocks solves for at once")
          .between(1, 4096),
      field("early-stop", &Config::early_stop,
            "stop when the held-out error has not fallen for this many sweeps, and keep the best; "
            "0 for never")
          .between(0, 1000),
      field("refit", &Config::refit,
            "at the end train again with the held-out ratings included, for the best number of "
            "sweeps"),
  };
};

}  // namespace kith::als

template <>
struct kith::EnumNames<kith::als::Solver> {
  static constexpr std::array<std::string_view, 3> names{"cg", "cholesky", "blocks"};
};
