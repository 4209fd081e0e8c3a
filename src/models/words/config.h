// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "kith/fields.h"
#include "train/optimiser.h"

namespace kith::words {

enum class Objective { kSkipGram, kCbow };
enum class Noise { kPool, kWindow, kPair, kCentre };
enum class Gradient { kExact, kReference };
enum class WordLoss { kNs, kNce, kSoftmax, kHierarchical };
enum class Neighbours { kBoth, kLeft, kRight };
enum class Form { kNone, kDiagonal, kFull };
enum class Relations { kOne, kSide, kPlace };

// Optimisers with a state for every number of a row. The others take steps of the kernel's own: at
// one rate, or at one for each row (adapt_rate).
constexpr bool has_state(Optimiser optimiser) {
  return optimiser != Optimiser::kSgd && optimiser != Optimiser::kRowAdaGrad;
}

struct Config {
  Objective objective = Objective::kSkipGram;
  int dim = 100;
  int window = 5;
  bool fixed_window = false;
  int negatives = 5;
  double alpha = 0.5;
  Noise noise = Noise::kPool;
  double sample = 1e-4;
  int epochs = 5;
  std::optional<double> lr{};
  double adapt_rate = 0.005;
  Gradient gradient = Gradient::kExact;
  int early_stop = 0;
  WordLoss loss = WordLoss::kNs;
  Neighbours side = Neighbours::kBoth;
  Form form = Form::kNone;
  double form_rate = 0.01;
  Relations relations = Relations::kOne;
  Optimiser optimiser = Optimiser::kRowAdaGrad;

  // Those that models of words and of their parts have.
  static constexpr std::tuple shared_fields{
      field("objective", &Config::objective,
            "predict each neighbour of a word, or the word from the mean of its neighbours"),
      field("dim", &Config::dim, "length of each vector").between(1, 4096).tuned(32, 300),
      field("window", &Config::window, "words on each side of the centre, at most").between(1, 100),
      field("fixed-window", &Config::fixed_window, "always use the whole window"),
      field("negatives", &Config::negatives, "noise words per true one").between(1, 100),
      field("alpha", &Config::alpha, "noise words are drawn in proportion to count^alpha")
          .between(-2, 2),
      field("noise", &Config::noise, "how noise words are shared; see the model's page"),
      field("sample", &Config::sample,
            "leave out some occurrences of words above this share of the text; 0 for none")
          .between(0, 1),
      field("epochs", &Config::epochs, "passes over the text").between(0, 10000).tuned(2, 20),
      field("lr", &Config::lr, "first learning rate; falls linearly")
          .between(0, 100)
          .tuned(0.01, 0.3)
          .automatic("0.08; cbow 0.2, or 0.05 with the reference gradient; a tenth with momentum; "
                     "adagrad 0.2, adam 0.015, softmax 0.1")
          .formerly("lr", 0),
      field("adapt-rate", &Config::adapt_rate,
            "how fast the step of a vector shrinks with its gradients (AdaGrad); 0: not at all")
          .between(0, 1e6)
          .formerly("adapt"),
      field("gradient", &Config::gradient,
            "cbow: exact gradient of the mean, or undivided as in other tools"),
      field("early-stop", &Config::early_stop,
            "stop after this many epochs without a better held-out loss; 0 for never")
          .between(0, 1000),
  };
  static constexpr auto fields = std::tuple_cat(
      shared_fields,
      std::tuple{
          field("loss", &Config::loss,
                "negative sampling, noise-contrastive estimation, softmax over all words, or over "
                "a tree of them"),
          field("side", &Config::side,
                "predict a word from neighbours on both sides, or from those left or right of it"),
          field("form", &Config::form, "score two vectors by x'y, or by x'By with a learned B"),
          field("form-rate", &Config::form_rate, "rate of B beside that of vectors; 0 keeps B = I")
              .between(0, 100),
          field("relations", &Config::relations,
                "form: one B for all neighbours, one for each side of a word, or one for each "
                "place in its window"),
          field("optimiser", &Config::optimiser, "how vectors move along their gradients"),
      });
};

}  // namespace kith::words

template <>
struct kith::EnumNames<kith::words::Objective> {
  static constexpr std::array<std::string_view, 2> names{"skipgram", "cbow"};
};
template <>
struct kith::EnumNames<kith::words::Noise> {
  static constexpr std::array<std::string_view, 4> names{"pool", "window", "pair", "centre"};
};
template <>
struct kith::EnumNames<kith::words::Gradient> {
  static constexpr std::array<std::string_view, 2> names{"exact", "reference"};
};
template <>
struct kith::EnumNames<kith::words::WordLoss> {
  static constexpr std::array<std::string_view, 4> names{"ns", "nce", "softmax", "hierarchical"};
};
template <>
struct kith::EnumNames<kith::words::Neighbours> {
  static constexpr std::array<std::string_view, 3> names{"both", "left", "right"};
};
template <>
struct kith::EnumNames<kith::words::Form> {
  static constexpr std::array<std::string_view, 3> names{"none", "diagonal", "full"};
};
template <>
struct kith::EnumNames<kith::words::Relations> {
  static constexpr std::array<std::string_view, 3> names{"one", "side", "place"};
};
