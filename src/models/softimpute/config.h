// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "config/fields.h"

namespace kith::softimpute {

enum class Method { kAuto, kImpute, kAls, kShrink };

struct Config {
  double penalty = 0;
  int dim = 100;
  Method method = Method::kAuto;
  double decay = 0.85;
  int epochs = 0;
  int iterations = 50;
  double tolerance = 1e-4;
  double step = 0;
  bool biases = true;
  bool debias = false;
  int early_stop = 3;
  bool refit = true;

  static constexpr std::tuple fields{
      field("penalty", &Config::penalty,
            "lambda, of the nuclear norm (shrink: tau); 0: the one with the least held-out error")
          .between(0, 1e12),
      field("dim", &Config::dim, "rank at most: length of each vector").between(0, 4096),
      field("method", &Config::method,
            "impute, als (the same with a cheaper step), or shrink (SVT: meets every rating)"),
      field("decay", &Config::decay, "each lambda of the path is so much of the one before")
          .between(0.01, 0.999),
      field("epochs", &Config::epochs,
            "values of lambda at most, or steps of shrink; 0: 60, or 500 steps")
          .between(0, 100000),
      field("iterations", &Config::iterations, "for each lambda at most").between(1, 100000),
      field("tolerance", &Config::tolerance,
            "a lambda is done when an iteration changes the objective by no more than this share")
          .between(0, 1),
      field("step", &Config::step,
            "of shrink; 0: 1.2 / the largest share of a row or column that is known")
          .between(0, 1e6),
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
  static constexpr std::array<std::string_view, 4> names{"auto", "impute", "als", "shrink"};
};
