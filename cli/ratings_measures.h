// SPDX-License-Identifier: Apache-2.0
#pragma once
// How good a model of ratings is on ratings that it has not seen, with what simpler ways reach.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/ratings_model.h"

namespace kith::cli {

struct MeasureOptions {
  size_t top = 10;
  // Of explicit ratings, those at or above this are what should be recommended; else those at or
  // above the mean of what the user rated in training.
  std::optional<double> relevant;
  int threads = 1;
};

// One way to answer: the model, or something simpler. Measures have the same names for all.
struct Way {
  std::string name;
  std::vector<std::pair<std::string, double>> measures;
};

struct Measured {
  uint64_t ratings = 0;        // that were predicted
  uint64_t users = 0;          // that had something to be recommended
  uint64_t unknown_users = 0;  // ratings of users that the model does not know
  uint64_t unknown_items = 0;  // and of items
  uint64_t trained_on = 0;     // ratings that the model has seen, which flatter it
  std::vector<Way> errors;     // rmse and mae of the model, the mean, biases; explicit only
  std::vector<Way> rankings;   // recall, ndcg, map of the model, popularity, chance
};

// `test` has the numbers of the model; higher ones are users and items that it does not know. Rank
// is taken among all items that the user did not rate in training. With R relevant items of a user
// and h_i = 1 if the item in place i is one, for the first k = top places:
//   recall = sum h_i / R,  ndcg = sum h_i / log2(i + 1) / sum_{i <= min(k, R)} 1 / log2(i + 1),
//   map = sum h_i (h_1 + ... + h_i) / i / min(k, R),  each the mean over users with R > 0.
Measured measure(const RatingsModel& model, const Sparse& test, const MeasureOptions& options);

}  // namespace kith::cli
