// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "kith/fields.h"

namespace kith::softimpute {

enum class Method { kImpute, kAls, kShrink };

struct Config {
  std::optional<double> penalty{};
  int dim = 100;
  std::optional<Method> method{};
  double decay = 0.85;
  std::optional<int> epochs{};
  int iterations = 50;
  double tolerance = 1e-4;
  std::optional<double> step{};
  bool biases = true;
  bool debias = false;
  int early_stop = 3;
  bool refit = true;

  static constexpr std::tuple fields{
      field("penalty", &Config::penalty, "strength of nuclear-norm regularisation (shrink: tau)")
          .between(1e-12, 1e12)
          .automatic("the one with the least held-out error")
          .formerly("penalty", 0),
      field("dim", &Config::dim, "rank at most: length of each vector").between(0, 4096),
      field("method", &Config::method,
            "impute, als (the same with a cheaper step), or shrink (SVT: meets every rating)")
          .automatic("impute, or als for large data"),
      field("decay", &Config::decay, "each penalty of the path is so much of the one before")
          .between(0.01, 0.999),
      field("epochs", &Config::epochs, "values of the penalty at most, or steps of shrink")
          .between(1, 100000)
          .automatic("60 values, or 500 steps")
          .formerly("epochs", 0),
      field("iterations", &Config::iterations, "for each penalty at most").between(1, 100000),
      field("tolerance", &Config::tolerance,
            "a penalty is done when an iteration changes the objective by no more than this share")
          .between(0, 1),
      field("step", &Config::step, "of shrink: length of a step")
          .between(1e-9, 1e6)
          .automatic("1.2 / the largest share of a row or column that is known")
          .formerly("step", 0),
      field("biases", &Config::biases, "complete what mean and biases leave of the ratings"),
      field("debias", &Config::debias, "fit the singular values again in the end, without penalty"),
      field("early-stop", &Config::early_stop,
            "stop when the held-out error has not fallen for so many epochs, and take the best; 0: "
            "never")
          .between(0, 1000),
      field("refit", &Config::refit,
            "once the held-out error has told how long, train on what was held out as well"),
  };
};

}  // namespace kith::softimpute

template <>
struct kith::EnumNames<kith::softimpute::Method> {
  static constexpr std::array<std::string_view, 3> names{"impute", "als", "shrink"};
};
