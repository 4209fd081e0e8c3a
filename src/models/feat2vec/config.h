// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "config/fields.h"
#include "train/optimiser.h"

namespace kith::feat2vec {

enum class Loss {
  kAuto,
  kSoftmax,  // the rest: of observed values against noise
  kNce,
  kNs,
  kSquared,  // from here on: of a score against the target's number
  kAbsolute,
  kHuber,
  kTukey,
  kLogistic,
  kHinge,
};
enum class Intercepts { kGroup, kOne, kNone };

struct Config {
  int dim = 100;
  int epochs = 0;
  double lr = 0.1;
  int negatives = 20;
  Loss loss = Loss::kAuto;
  std::string target;
  double mix = 0;
  double alpha1 = 0.5;
  double alpha2 = 0.75;
  double dropout = 0.5;
  Intercepts intercepts = Intercepts::kGroup;
  bool biases = true;
  bool pair_weights = false;
  Optimiser optimiser = Optimiser::kRowAdaGrad;
  double l2 = 0;
  double init = 0.1;
  int early_stop = 0;
  bool paper = false;

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "length of each vector").between(0, 4096),
      field("epochs", &Config::epochs, "passes over the table; 0 for 5 to 40, fewer for long ones")
          .between(0, 10000),
      field("lr", &Config::lr, "first learning rate, falls linearly")
          .between(0, 100)
          .tuned(0.01, 0.5),
      field("negatives", &Config::negatives, "noise values per true one").between(1, 1000),
      field("loss", &Config::loss,
            "auto is softmax, or squared for a target that is a number; see the model's page"),
      field("target", &Config::target, "learn to predict this column; else all of them"),
      field("mix", &Config::mix, "with a target: share of the work for the other columns")
          .between(0, 1),
      field("alpha1", &Config::alpha1, "noise replaces a group by its parameters^alpha1")
          .between(0, 1),
      field("alpha2", &Config::alpha2, "... by a value drawn by count^alpha2").between(0, 1),
      field("dropout", &Config::dropout, "softmax: leave out each other group by this chance")
          .between(0, 0.99),
      field("intercepts", &Config::intercepts, "nce, ns: one for each group, or for all"),
      field("biases", &Config::biases, "a number for each value beside its vector"),
      field("pair-weights", &Config::pair_weights, "learn a weight for each pair of groups"),
      field("optimiser", &Config::optimiser, "how rows move along their gradients"),
      field("l2", &Config::l2, "penalty on the squares of what a step touches").between(0, 1e6),
      field("init", &Config::init, "standard deviation of the first vectors").between(0, 10),
      field("early-stop", &Config::early_stop,
            "stop after so many epochs without a better held-out loss; 0 for never")
          .between(0, 1000),
      field("paper", &Config::paper,
            "the published setting: nce, 5 negatives, sums, one intercept"),
  };
};

inline bool is_head(Loss loss) { return loss >= Loss::kSquared; }

}  // namespace kith::feat2vec

template <>
struct kith::EnumNames<kith::feat2vec::Loss> {
  static constexpr std::array<std::string_view, 10> names{
      "auto", "softmax", "nce", "ns", "squared", "absolute", "huber", "tukey", "logistic", "hinge"};
};
template <>
struct kith::EnumNames<kith::feat2vec::Intercepts> {
  static constexpr std::array<std::string_view, 3> names{"group", "one", "none"};
};
