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
      field("dim", &Config::dim, "largest rank: length of each vector").between(0, 4096),
      field("method", &Config::method,
            "impute, als (the same with a cheaper step), or shrink (SVT: meets every rating)")
          .automatic("impute, or als for large data"),
      field("decay", &Config::decay, "each penalty of the path is this fraction of the one before")
          .between(0.01, 0.999),
      field("epochs", &Config::epochs, "penalties to try at most, or steps of shrink")
          .between(1, 100000)
          .automatic("60 penalties, or 500 steps")
          .formerly("epochs", 0),
      field("iterations", &Config::iterations, "iterations for each penalty, at most")
          .between(1, 100000),
      field("tolerance", &Config::tolerance,
            "a penalty is done when an iteration changes the objective by no more than this share")
          .between(0, 1),
      field("step", &Config::step, "shrink: length of a step")
          .between(1e-9, 1e6)
          .automatic("1.2 / the largest share of a row or column that is known")
          .formerly("step", 0),
      field("biases", &Config::biases,
            "subtract mean and biases, and complete the rest of the ratings"),
      field("debias", &Config::debias, "fit the singular values again at the end, without penalty"),
      field("early-stop", &Config::early_stop,
            "stop when the held-out error has not fallen for this many epochs, and keep the best; "
            "0 for never")
          .between(0, 1000),
      field("refit", &Config::refit,
            "at the end train again with the held-out ratings included, for as long as was best"),
  };
};

}  // namespace kith::softimpute

template <>
struct kith::EnumNames<kith::softimpute::Method> {
  static constexpr std::array<std::string_view, 3> names{"impute", "als", "shrink"};
};
