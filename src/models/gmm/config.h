// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "kith/fields.h"

namespace kith::gmm {

enum class Covariance { kSpherical, kDiagonal, kFull, kTied };
enum class Method { kEm, kKmeans };

struct Config {
  std::optional<int> components{};
  int max_components = 10;
  std::optional<Covariance> covariance{};
  Method method = Method::kEm;
  std::optional<int> restarts{};
  double regularise = 1e-6;
  double tolerance = 1e-6;
  int epochs = 1000;

  static constexpr std::tuple fields{
      field("components", &Config::components, "how many normal distributions are mixed")
          .between(1, 65536)
          .automatic("as many as have the best BIC, up to --max-components"),
      field("max-components", &Config::max_components,
            "where the number is not given: the most that are tried")
          .between(1, 65536),
      field("covariance", &Config::covariance,
            "of a component: the same in all directions, a variance for each column, any, or any "
            "but the same for all components")
          .automatic("full; spherical with kmeans"),
      field("method", &Config::method,
            "em: rows belong to components with probabilities; kmeans: to the nearest mean"),
      field("restarts", &Config::restarts, "starts by k-means++, of which the best is kept")
          .between(1, 100000)
          .automatic("50 for small data, else 10"),
      field("regularise", &Config::regularise,
            "no component varies less than this share of the data's variance, in any direction")
          .between(1e-12, 1),
      field("tolerance", &Config::tolerance,
            "stop when so little is expected to be left to gain: nats a row, or with kmeans a "
            "share of the variance")
          .between(0, 1),
      field("epochs", &Config::epochs, "sweeps over the data, at most, for a number of components")
          .between(1, 1000000),
  };
};

}  // namespace kith::gmm

template <>
struct kith::EnumNames<kith::gmm::Covariance> {
  static constexpr std::array<std::string_view, 4> names{"spherical", "diagonal", "full", "tied"};
};
template <>
struct kith::EnumNames<kith::gmm::Method> {
  static constexpr std::array<std::string_view, 2> names{"em", "kmeans"};
};
