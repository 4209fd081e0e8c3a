// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "kith/fields.h"

namespace kith::svp {

// How the projection finds the first singular vectors: all at once from a random block, or one
// after the other by the power method.
enum class Decomposition { kBlock, kPower };

struct Config {
  int dim = 10;
  int epochs = 200;
  std::optional<double> step{};
  bool biases = true;
  double tolerance = 1e-5;
  int early_stop = 3;
  bool refit = true;
  Decomposition svd = Decomposition::kBlock;

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "rank of the completed matrix: length of each vector")
          .between(0, 4096),
      field("epochs", &Config::epochs, "steps, at most; each is a pass over the ratings")
          .between(1, 100000),
      field("step", &Config::step, "length of a step along the gradient")
          .between(1e-9, 1e6)
          .automatic("1 at first, then the one that gains most")
          .formerly("step", 0),
      field("biases", &Config::biases,
            "subtract mean and biases, and complete the rest of the ratings"),
      field("tolerance", &Config::tolerance,
            "stop when a step lowers the squared error by no more than this share of it")
          .between(0, 1),
      field("early-stop", &Config::early_stop,
            "stop when the held-out error has not fallen for this many steps, and keep the best; 0 "
            "for never")
          .between(0, 1000),
      field("refit", &Config::refit,
            "at the end train again with the held-out ratings included, for as long as was best"),
      field("svd", &Config::svd,
            "block: all singular vectors at once, from a random start; power: one after another by "
            "the power method, much slower, for comparison"),
  };
};

}  // namespace kith::svp

template <>
struct kith::EnumNames<kith::svp::Decomposition> {
  static constexpr std::array<std::string_view, 2> names{"block", "power"};
};
