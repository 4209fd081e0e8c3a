// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of users and items besides their ratings: features of each row, of which what other
// columns say is one part and what it was rated with another. Factorisations draw the vector of a
// row to what its features say, m_r = B^T f_r, instead of to 0.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"
#include "data/ratings/row_features.h"
#include "data/sparse.h"
#include "models/parts.h"
#include "train/linear_operator.h"

namespace kith {

// log(1 + n) in standard units, over rows that have ratings; of a row without any 0.
struct CountScale {
  double mean = 0, spread = 0;
  static CountScale of(const Sparse& ratings);
  float scaled(size_t n) const;
};

// The features of columns, and two columns more: with how many a row was rated, and with what (of
// an item who rated it, of a user what it rated), in equal parts whose squares sum to 1. People
// choose what they rate, so that they did says something of both sides, whatever the rating (Koren
// 2008).
RowFeatures with_choices(const RowFeatures& columns, const Sparse& ratings);

// F whose rows count as much as their weights: multiply() gives W F x and multiply_transposed()
// F^T y, so that one after the other is F^T W F.
class WeightedRows final : public LinearOperator {
 public:
  WeightedRows(const Sparse& features, const Sparse& transposed, const std::vector<float>& weights)
      : all_(features, transposed), weights_(weights) {}
  size_t rows() const override { return all_.rows(); }
  size_t cols() const override { return all_.cols(); }
  Matrix multiply(const Matrix& x, const Context& context) const override;
  Matrix multiply_transposed(const Matrix& y, const Context& context) const override {
    return all_.multiply_transposed(y, context);
  }

 private:
  SparsePlusLowRank all_;
  const std::vector<float>& weights_;
};
// The diagonal of F^T W F.
std::vector<float> weighted_diagonal(const Sparse& features, const std::vector<float>& weights);

// Of one axis, as a model keeps it, so that rows that come later are drawn to what their ratings
// say: the features that columns gave, and B.
struct RowMeans {
  Sparse columns;                    // rows x features; rows that came later have none
  Matrix effects;                    // B: features x (dim + 2), in the order of with_choices
  std::optional<uint64_t> features;  // rows of B; none: nothing is known
  CountScale counts;
  bool choices = false;

  // Of a row with these ratings; `number`: one whose columns may be known. Empty if nothing is.
  std::vector<float> of(Sparse::Row ratings, std::optional<uint32_t> number) const;
  // Rows of both axes that came later say nothing.
  void grow(size_t rows, size_t others);
  void visit(Parts& parts, const std::string& name, size_t rows, size_t others, size_t cols);
};

// What learning from features takes: all the time, of the model's own numbers, and for moments.
struct FeaturesMemory {
  uint64_t features = 0;  // how many
  uint64_t effects = 0;   // bytes of B
  uint64_t kept = 0, passing = 0;
};
struct FeaturesShape {
  uint64_t rows, others, ratings;
  size_t cols;
};
FeaturesMemory memory_of(const RowFeatures& columns, bool choices, const FeaturesShape& shape);

// B as rows, weighted, want it: the least of sum_r w_r |x_r - B^T f_r|^2 + beta |B|^2, where the
// weights have mean 1.
class MeansFit {
 public:
  // Of rows with these ratings. Rows without ratings do not count, but are told what their features
  // say. Where there is nothing to learn from, features() is 0.
  MeansFit(const RowFeatures& columns, const Sparse& ratings, bool choices,
           std::vector<float> weights);
  size_t features() const { return features_.features.columns; }
  // From the start of a run.
  void start(RowMeans& means, size_t cols) const;
  // `one`: the coordinate of rows that is not learned. All or nothing.
  void fit(const Matrix& rows, size_t one, double beta, const Context& context,
           RowMeans& means) const;
  // m of all rows.
  Matrix means(const RowMeans& means, const Context& context) const;

 private:
  RowFeatures features_;
  Sparse columns_, transposed_;
  CountScale counts_;
  bool choices_;
  std::vector<float> weights_, diagonal_;
};

}  // namespace kith
