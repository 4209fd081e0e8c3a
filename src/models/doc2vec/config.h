// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "kith/fields.h"
#include "models/words/config.h"

namespace kith::doc2vec {

enum class Method { kDbow, kDm };

struct Config {
  Method method = Method::kDbow;
  bool words = false;
  int dim = 100;
  int window = 5;
  bool fixed_window = false;
  int negatives = 5;
  double alpha = 0.5;
  words::Noise noise = words::Noise::kWindow;
  double sample = 1e-3;
  int epochs = 20;
  std::optional<double> lr{};
  double adapt_rate = 0.005;
  words::Gradient gradient = words::Gradient::kReference;
  int early_stop = 0;
  std::optional<int> infer_epochs{};

  static constexpr std::tuple fields{
      field("method", &Config::method,
            "dbow: a document predicts each of its words; dm: with the words around it"),
      field("words", &Config::words, "dbow: learn vectors of words as well, by skip-gram"),
      field("dim", &Config::dim, "length of each vector").between(1, 4096).tuned(32, 300),
      field("window", &Config::window, "dm, or with words: words on each side, at most")
          .between(1, 100),
      field("fixed-window", &Config::fixed_window, "always use the whole window"),
      field("negatives", &Config::negatives, "noise words per true one").between(1, 100),
      field("alpha", &Config::alpha, "noise words are drawn in proportion to count^alpha")
          .between(-2, 2),
      field("noise", &Config::noise, "how noise words are shared; see the page of word2vec")
          .among(words::Noise::kPool, words::Noise::kWindow, words::Noise::kPair),
      field("sample", &Config::sample,
            "leave out some occurrences of words above this share of the text; 0 for none")
          .between(0, 1),
      field("epochs", &Config::epochs, "passes over the documents").between(0, 10000),
      field("lr", &Config::lr, "first learning rate; falls linearly")
          .between(0, 100)
          .tuned(0.01, 0.3)
          .automatic("0.1; dm 0.05, or 0.2 with the exact gradient"),
      field("adapt-rate", &Config::adapt_rate,
            "how fast the step of a vector shrinks with its gradients (AdaGrad); 0: not at all")
          .between(0, 1e6),
      field("gradient", &Config::gradient,
            "dm: exact gradient of the mean, or undivided as in other tools"),
      field("early-stop", &Config::early_stop,
            "stop after this many epochs without a better held-out loss; 0 for never")
          .between(0, 1000),
      field("infer-epochs", &Config::infer_epochs, "passes over a new text to find its vector")
          .between(1, 10000)
          .automatic("as many as in training"),
  };

  double first_rate() const {
    if (lr) return *lr;
    if (method == Method::kDbow) return 0.1;
    return gradient == words::Gradient::kExact ? 0.2 : 0.05;
  }
  // Whether words get vectors of their own.
  bool learns_words() const { return words || method == Method::kDm; }

  // As the kernel of words knows it: the document is one more context in every window.
  words::Config kernel() const {
    words::Config out;
    out.objective = method == Method::kDm ? words::Objective::kCbow : words::Objective::kSkipGram;
    out.dim = dim;
    out.window = window;
    out.fixed_window = fixed_window;
    out.negatives = negatives;
    out.alpha = alpha;
    out.noise = noise;
    out.sample = sample;
    out.adapt_rate = adapt_rate;
    out.gradient = gradient;
    return out;
  }
};

}  // namespace kith::doc2vec

template <>
struct kith::EnumNames<kith::doc2vec::Method> {
  static constexpr std::array<std::string_view, 2> names{"dbow", "dm"};
};
