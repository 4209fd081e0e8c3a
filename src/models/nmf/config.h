// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "kith/fields.h"
#include "train/loss.h"

namespace kith::nmf {

enum class Method { kHals, kMultiplicative };
enum class Unrated { kMissing, kZero };

struct Config {
  int dim = 20;
  int epochs = 100;
  Method method = Method::kHals;
  Loss loss = Loss::kSquared;
  std::optional<Unrated> unrated{};
  std::optional<double> penalty{};
  double sparsity = 0;
  bool biases = true;
  double tolerance = 1e-4;
  int early_stop = 3;
  bool refit = true;

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "number of parts: length of each vector").between(0, 4096),
      field("epochs", &Config::epochs, "sweeps over users and items, at most").between(1, 100000),
      field("method", &Config::method,
            "hals: one coordinate after another; multiplicative: Lee and Seung's updates"),
      field("loss", &Config::loss, "squared error, or kl (generalised Kullback-Leibler)")
          .among(Loss::kSquared, Loss::kKl),
      field("unrated", &Config::unrated, "take what was not rated as missing, or as zero")
          .automatic("missing, or zero for interactions")
          .formerly("unobserved"),
      field("penalty", &Config::penalty, "strength of L2 regularisation of the vectors")
          .between(0, 1e12)
          .automatic("found from the ratings' noise; none for --unrated zero")
          .formerly("penalty", -1),
      field("sparsity", &Config::sparsity,
            "strength of L1 regularisation of the vectors: the larger, the fewer parts a user or "
            "item has")
          .between(0, 1e12),
      field("biases", &Config::biases,
            "learn mean and biases, of either sign, beside the parts; with --loss squared and "
            "--unrated missing only"),
      field("tolerance", &Config::tolerance,
            "stop when a sweep lowers the error by no more than this share of it")
          .between(0, 1),
      field("early-stop", &Config::early_stop,
            "stop when the held-out error has not fallen for this many sweeps, and keep the best; "
            "0 for never")
          .between(0, 1000),
      field("refit", &Config::refit,
            "at the end train again with the held-out ratings included, for as long as was best"),
  };
};

}  // namespace kith::nmf

template <>
struct kith::EnumNames<kith::nmf::Method> {
  static constexpr std::array<std::string_view, 2> names{"hals", "multiplicative"};
};
template <>
struct kith::EnumNames<kith::nmf::Unrated> {
  static constexpr std::array<std::string_view, 2> names{"missing", "zero"};
};
