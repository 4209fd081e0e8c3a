// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "kith/fields.h"

namespace kith::pmi {

enum class Solver { kSvd, kAls, kGradient };

struct Config {
  int dim = 100;
  bool positive = true;
  double shift = 1;
  double smoothing = 0.75;
  Solver solver = Solver::kSvd;
  double spectrum = 0.25;
  double penalty = 0;
  double observed = 1;
  std::optional<int> epochs{};
  std::optional<double> lr{};

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "length of each vector").between(1, 4096).tuned(32, 500),
      field("positive", &Config::positive, "leave out cells whose value is not above 0 (PPMI)"),
      field("shift", &Config::shift, "take log shift from every value, as so many noise words do")
          .between(1e-6, 1e6)
          .tuned(1, 15),
      field("smoothing", &Config::smoothing,
            "contexts are expected in proportion to count^smoothing, which lowers rare ones")
          .between(0, 1),
      field("solver", &Config::solver,
            "singular value decomposition, alternating least squares, or gradient descent"),
      field("spectrum", &Config::spectrum,
            "a vector's coordinates are multiplied by singular values to this power")
          .between(0, 1),
      field("penalty", &Config::penalty, "lambda (|U|^2 + |V|^2) is added to |P - U V'|^2")
          .between(0, 1e9)
          .tuned(0.1, 100),
      field("observed", &Config::observed,
            "als: a cell that was counted weighs this much, one that was not weighs 1")
          .between(1, 1e6),
      field("epochs", &Config::epochs, "passes over the matrix")
          .between(0, 100000)
          .automatic("svd 5, als 20, gradient 200"),
      field("lr", &Config::lr, "gradient: length of a step")
          .between(0, 100)
          .automatic("the longest that never raises the loss"),
  };
};

}  // namespace kith::pmi

template <>
struct kith::EnumNames<kith::pmi::Solver> {
  static constexpr std::array<std::string_view, 3> names{"svd", "als", "gradient"};
};
