// SPDX-License-Identifier: Apache-2.0
#pragma once
// Simpler ways to fill the column that a model of tables learned to fill, trained on the same rows:
// what the model adds to them is seen beside it.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/biases.h"
#include "models/capabilities.h"
#include "models/model.h"

namespace kith {

// The table that the model learned from, and how it is read.
struct TrainedOn {
  const CompletesRows& like;  // the model
  const std::string& source;
  std::span<const Setting> reading;
  const Context& context;
  Observer* observer;
};

// Adds up a number for each value of a row. Of several classes, one against the rest for each.
class LinearRows {
 public:
  // `tell`: the share done.
  LinearRows(const TrainedOn& on, const std::function<void(double)>& tell);
  ~LinearRows();
  // Why it would take too long; "" if it would not.
  static std::string too_large(const CompletesRows& like);
  // Of a row whose cells stand by group of the model: the number, or how likely each name is.
  double number(std::span<const Cell> cells);
  std::vector<double> shares(std::span<const Cell> cells);

 private:
  class Sum;
  const CompletesRows& like_;
  std::vector<std::unique_ptr<Sum>> sums_;  // one, or one for each name of the target
};

// The mean of a number with a bias for each value of two columns, such as user and film.
class BiasesOfRows {
 public:
  // The two columns of categories among `given` with most values, each of them with many; nothing
  // if there are not two.
  static std::optional<BiasesOfRows> of(const TrainedOn& on, std::span<const uint8_t> given);
  double number(std::span<const Cell> cells) const;

 private:
  BiasesOfRows(const CompletesRows& like, size_t first, size_t second, const Sparse& ratings)
      : like_(&like), first_(first), second_(second), biases_(ratings) {}
  static uint32_t number_of(const Encoding& encoding, size_t group, const Cell& cell);
  const CompletesRows* like_;
  size_t first_, second_;  // groups
  RatingBaselines biases_;
};

}  // namespace kith
