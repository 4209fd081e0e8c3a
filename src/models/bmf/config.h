// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "kith/fields.h"

namespace kith::bmf {

struct Config {
  int dim = 16;
  int epochs = 240;
  int burn_in = 30;
  int samples = 32;
  double noise_prior = 40;
  bool choices = true;
  bool columns = true;
  std::optional<bool> days{};
  bool refit = true;

  static constexpr std::tuple fields{
      field("dim", &Config::dim, "length of the vectors of one sample")
          .between(0, 512)
          .tuned(4, 48),
      field("epochs", &Config::epochs, "sweeps of the Gibbs sampler").between(2, 100000),
      field("burn-in", &Config::burn_in, "sweeps before the first sample counts")
          .between(0, 100000),
      field("samples", &Config::samples,
            "samples to keep for predictions, evenly spread over the sweeps; the model has samples "
            "* (dim + 2) numbers per user and item")
          .between(1, 1000),
      field("noise-prior", &Config::noise_prior,
            "some users and items are noisier than others: how many ratings it takes for their own "
            "noise to weigh as much as the average noise; 0: the same noise for all")
          .between(0, 1e9)
          .tuned(5, 200),
      field("choices", &Config::choices,
            "learn about users and items from who rated what as well, whatever the rating"),
      field("columns", &Config::columns, "learn from other columns about users and items as well"),
      field("days", &Config::days,
            "where times are known: learn what the ratings that a user gave on one day have in "
            "common")
          .automatic("on unless that raises the held-out error of biases"),
      field("refit", &Config::refit,
            "after a third of the sweeps, learn from the held-out ratings as well"),
  };
};

}  // namespace kith::bmf
