// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "kith/fields.h"
#include "train/optimiser.h"

namespace kith::classifier {

enum class LabelLoss { kSoftmax, kOneVsAll, kHierarchical };

struct Config {
  int dim = 100;
  int word_ngrams = 2;
  int64_t buckets = 2'000'000;
  LabelLoss loss = LabelLoss::kSoftmax;
  std::string class_weights = "none";
  int epochs = 10;
  std::optional<double> lr{};
  Optimiser optimiser = Optimiser::kRowAdaGrad;
  int early_stop = 0;
  bool refit = true;

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "length of each vector").between(1, 4096).tuned(16, 200),
      field("word-ngrams", &Config::word_ngrams,
            "runs of up to this many words have vectors as well; 1: only words")
          .between(1, 20)
          .tuned(1, 3),
      field("buckets", &Config::buckets,
            "runs of words share at most this many vectors, by their hash; only those that occur "
            "take memory")
          .between(1, 1e9),
      field("loss", &Config::loss,
            "one label is right (or hierarchical: the same by a tree, for very many labels), or "
            "each label is right or wrong for itself"),
      field("class-weights", &Config::class_weights,
            "how much texts of a label count: none, balanced (all labels the same), or a list: "
            "spam=5,ham=1"),
      field("epochs", &Config::epochs, "passes over the texts").between(0, 10000).tuned(5, 40),
      field("lr", &Config::lr, "first learning rate; falls linearly")
          .between(0, 1000)
          .tuned(0.1, 3)
          .automatic("0.8; sgd 0.5"),
      field("optimiser", &Config::optimiser, "how a vector follows its gradients")
          .among(Optimiser::kRowAdaGrad, Optimiser::kSgd),
      field("early-stop", &Config::early_stop,
            "stop after this many epochs without a better held-out loss; 0 for never")
          .between(0, 1000),
      field("refit", &Config::refit,
            "after an early stop, train once more with what was held out, as long as was best"),
  };
};

}  // namespace kith::classifier

template <>
struct kith::EnumNames<kith::classifier::LabelLoss> {
  static constexpr std::array<std::string_view, 3> names{"softmax", "one-vs-all", "hierarchical"};
};
