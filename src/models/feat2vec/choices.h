// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a value stands with, as something that is known of it: which films a user chose, and who
// chose a film, say something of both whatever the target (Koren 2008). The penalty draws the
// vector of a value to what its company says, and not to 0. See models/ratings/row_means.h, where
// ratings do the same.

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "data/sparse.h"
#include "data/table/table.h"
#include "models/feat2vec/config.h"
#include "models/ratings/row_means.h"

namespace kith::feat2vec {

constexpr uint64_t kValuesOfChoices = 100;  // of a column: where there are fewer, all meet all

// What company says is learned from vectors that have moved, so they had better do so soon.
constexpr double kLrOfChoices = 0.1;

// Error(kUsage) for resolved settings with which there is nothing to draw vectors to.
void check_choices(const Config& config);

// The columns whose values are chosen: categories of many values, which do not all stand with one
// another. Fewer than two of them: nothing is chosen.
std::vector<uint32_t> columns_of_choices(const Table& table, const Config& config);

class Choices {
 public:
  // Of the first so many rows of any_row(). Refers to nothing.
  Choices(const Table& table, std::span<const uint32_t> columns, uint64_t rows);
  Choices(const Choices&) = delete;  // the fit refers to the members
  Choices& operator=(const Choices&) = delete;

  // Two steps towards the effects B that the vectors want, from where it was; none: from 0. `cols`:
  // numbers of a vector, its bias included. All or nothing.
  void fit(const Matrix& theta, size_t cols, const Context& context, Matrix& effects) const;
  // What all company says, by row of the vectors; 0 for what is not chosen.
  Matrix means(const Matrix& effects, uint64_t rows, size_t width, const Context& context) const;
  size_t features() const { return fit_.features(); }

  static uint64_t memory(const Table& table, const Config& config, size_t width);

 private:
  std::vector<uint32_t> row_of_;  // of the vectors, by value
  RowFeatures none_;
  Sparse with_;  // symmetric: a value by what it stands with
  MeansFit fit_;
};

}  // namespace kith::feat2vec
