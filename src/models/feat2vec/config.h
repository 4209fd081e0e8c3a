// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "kith/fields.h"
#include "train/loss.h"
#include "train/optimiser.h"

namespace kith::feat2vec {

enum class Intercepts { kGroup, kOne, kNone };

// As given. What is not given is worked out for a table by resolved() in problem.h.
struct Config {
  std::optional<int> dim{};
  std::optional<int> epochs{};
  std::optional<double> lr{};
  std::optional<int> negatives{};
  std::optional<Loss> loss{};
  std::string target{};
  double mix = 0;
  std::optional<double> alpha1{};
  double alpha2 = 0.75;
  std::optional<double> dropout{};
  std::optional<Intercepts> intercepts{};
  std::optional<bool> biases{};
  bool pair_weights = false;
  std::optional<Optimiser> optimiser{};
  std::optional<double> l2{};
  std::optional<bool> choices{};
  std::optional<double> init{};
  std::optional<int> early_stop{};
  bool paper = false;

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "length of each vector")
          .between(0, 4096)
          .tuned(16, 200)
          .automatic("100"),
      field("epochs", &Config::epochs, "passes over the table")
          .between(1, 10000)
          .automatic("5 to 40, fewer for long tables; at most 15 to 200 with a target of few "
                     "values, 15 to 40 with a numeric target")
          .formerly("epochs", 0),
      field("lr", &Config::lr, "first learning rate; falls linearly")
          .between(0, 100)
          .tuned(0.003, 0.5)
          .automatic("0.1; with a target of few values 0.05, of two values 0.01, with a numeric "
                     "target 0.03, or 0.1 with choices; 0.01 for momentum, nesterov and adam"),
      field("negatives", &Config::negatives, "noise values per true one")
          .between(1, 1000)
          .automatic("20; with a target of up to 4,096 values: all of them; 60 where softmax is "
                     "the loss of a numeric one"),
      field("loss", &Config::loss, "the loss of a score; see the model's page")
          .among(Loss::kSoftmax, Loss::kNce, Loss::kNs, Loss::kSquared, Loss::kAbsolute,
                 Loss::kHuber, Loss::kTukey, Loss::kLogistic, Loss::kHinge)
          .automatic("softmax; logistic for a target of two values; for a numeric one squared or "
                     "softmax, whichever guesses what is held out better"),
      field("target", &Config::target, "learn to predict this column; else all of them"),
      field("mix", &Config::mix, "with a target: share of the training spent on the other columns")
          .between(0, 1),
      field("alpha1", &Config::alpha1,
            "noise picks the group that it replaces by (number of parameters)^alpha1")
          .between(0, 1)
          .automatic("0.5"),
      field("alpha2", &Config::alpha2, "noise picks the value in its place by count^alpha2")
          .between(0, 1),
      field("dropout", &Config::dropout,
            "softmax: chance that each other group of a row is left out")
          .between(0, 0.99)
          .automatic("0.5; 0 with a numeric target or one of few values"),
      field("intercepts", &Config::intercepts,
            "nce, ns: an intercept for each group, one for all, or none")
          .automatic("group"),
      field("biases", &Config::biases, "learn a bias for each value beside its vector")
          .automatic("true"),
      field("pair-weights", &Config::pair_weights, "learn a weight for each pair of groups"),
      field("optimiser", &Config::optimiser, "how vectors move along their gradients")
          .automatic("adagrad-row"),
      field("l2", &Config::l2, "strength of L2 regularisation of each value's vector")
          .between(0, 1e6)
          .tuned(0.01, 300)
          .automatic("30 or 10 with a numeric target, whichever is better for what is held out, "
                     "else 0"),
      field("choices", &Config::choices,
            "draw the vector of a value to what the values that it stands with say; wants --l2 and "
            "a target that the score meets")
          .automatic("with a numeric target and two columns of many categories: if that is better "
                     "for what is held out"),
      field("init", &Config::init, "standard deviation of the initial vectors")
          .between(0, 10)
          .automatic("0.1; 0.01 with a numeric target or one of two values"),
      field("early-stop", &Config::early_stop,
            "stop after this many epochs without a better held-out loss; 0 for never")
          .between(0, 1000)
          .automatic("5 with a numeric target or one of few values, else 0"),
      field("paper", &Config::paper,
            "use the published settings for all that is not given: nce, dim 50, 5 negatives, sums, "
            "one intercept, no biases"),
  };
};

// Of a score against the target's number, or its two values.
inline bool is_head(Loss loss) { return is_of_numbers(loss); }

}  // namespace kith::feat2vec

template <>
struct kith::EnumNames<kith::feat2vec::Intercepts> {
  static constexpr std::array<std::string_view, 3> names{"group", "one", "none"};
};
