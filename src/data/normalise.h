// SPDX-License-Identifier: Apache-2.0
#pragma once
// Means and variances of the rows and columns of a sparse matrix, over the entries that are there,
// and a matrix without them: each row, each column, or both with mean 0 and variance 1.

#include <array>
#include <cstdint>
#include <vector>

#include "config/fields.h"
#include "data/sparse.h"

namespace kith {

enum class Normalise { kNone, kRows, kColumns, kBoth };  // both: rows, then columns of what is left

struct Moments {
  double mean = 0, variance = 0;  // over n, not n - 1; 0 of nothing
};
std::vector<Moments> row_moments(const Sparse& a);
std::vector<Moments> column_moments(const Sparse& a);

// What was taken out of a matrix, so that it can be put back.
class Normalised {
 public:
  Normalised(Sparse a, Normalise by);
  const Sparse& matrix() const { return matrix_; }
  // The unit of the first matrix and back, for any place of it. A row or column whose entries are
  // all the same, or that has none, is only moved: it has no scale to take out.
  double normalised(uint32_t row, uint32_t column, double value) const;
  double original(uint32_t row, uint32_t column, double value) const;

 private:
  struct Shift {
    double mean = 0, scale = 1;
  };
  static std::vector<Shift> shifts_of(const std::vector<Moments>& moments);
  Sparse matrix_;
  std::vector<Shift> rows_, columns_;  // empty if they were left alone
};

Sparse normalised(const Sparse& a, Normalise by);

}  // namespace kith

template <>
struct kith::EnumNames<kith::Normalise> {
  static constexpr std::array<std::string_view, 4> names{"none", "rows", "columns", "both"};
};
