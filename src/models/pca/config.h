// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "kith/fields.h"

namespace kith::pca {

enum class Method { kExact, kRandomised, kPower, kAutoencoder };

struct Config {
  std::optional<int> dim{};
  std::optional<Method> method{};
  bool centre = true;
  bool scale = false;
  bool whiten = false;
  std::optional<int> epochs{};
  std::optional<double> tolerance{};

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "number of components: length of each vector")
          .between(1, 65536)
          .automatic("50, or as many as there are"),
      field("method", &Config::method,
            "exact: the covariance and its eigenvectors; randomised: passes over the rows with a "
            "block of directions; power: one direction after another; autoencoder: gradient "
            "descent on what is left of x behind x -> W x -> V W x")
          .automatic("exact or randomised, whichever takes less work"),
      field("centre", &Config::centre, "subtract the mean of each column"),
      field("scale", &Config::scale, "divide each column by its standard deviation"),
      field("whiten", &Config::whiten,
            "divide each coordinate by its standard deviation: all directions count alike"),
      field("epochs", &Config::epochs,
            "iterations at most: of the block, of each direction, or gradient steps")
          .between(1, 1000000)
          .automatic("randomised 30, power 1,000, autoencoder 5,000"),
      field("tolerance", &Config::tolerance,
            "stop when an iteration keeps no more than this share of the variance in addition")
          .between(0, 1)
          .automatic("randomised 1e-8, power 1e-14, autoencoder 1e-11"),
  };
};

}  // namespace kith::pca

template <>
struct kith::EnumNames<kith::pca::Method> {
  static constexpr std::array<std::string_view, 4> names{"exact", "randomised", "power",
                                                         "autoencoder"};
};
