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

// F: the features of columns, and, with choices, two columns more: with how many a row was rated,
// and with what (of an item who rated it, of a user what it rated), in equal parts whose squares
// sum to 1. People choose what they rate, so that they did says something of both sides, whatever
// the rating (Koren 2008). Of the choices nothing is stored: they are where the ratings are.
class FeatureRows final : public LinearOperator {
 public:
  // Refers to all of them. `by_other` is the transpose of `ratings`.
  FeatureRows(const RowFeatures& columns, const Sparse& ratings, const Sparse& by_other,
              bool choices);
  size_t rows() const override { return ratings_.rows(); }
  size_t cols() const override { return own() + (choices_ ? 1 + ratings_.columns : 0); }
  Matrix multiply(const Matrix& x, const Context& context) const override;
  Matrix multiply_transposed(const Matrix& y, const Context& context) const override;

  size_t own() const { return columns_.features.columns; }  // features of columns
  std::vector<uint32_t> ends() const;                       // where those of each column end
  const RowFeatures& columns() const { return columns_; }
  const CountScale& counts() const { return counts_; }
  bool choices() const { return choices_; }
  bool has_ratings(size_t row) const { return parts_[row] > 0; }
  // The diagonal of F^T W F.
  std::vector<float> diagonal(const std::vector<float>& weights) const;

 private:
  const RowFeatures& columns_;
  const Sparse &ratings_, &by_other_;
  bool choices_;
  CountScale counts_;
  Sparse columns_by_feature_;
  std::vector<float> parts_, scaled_, ones_;  // of a row: 1 / sqrt(n) or 0, and log(1 + n)
};

// W F: rows that count as much as their weights. After it multiply_transposed() gives F^T W F.
class WeightedFeatures final : public LinearOperator {
 public:
  WeightedFeatures(const FeatureRows& all, const std::vector<float>& weights)
      : all_(all), weights_(weights) {}
  size_t rows() const override { return all_.rows(); }
  size_t cols() const override { return all_.cols(); }
  Matrix multiply(const Matrix& x, const Context& context) const override;
  Matrix multiply_transposed(const Matrix& y, const Context& context) const override {
    return all_.multiply_transposed(y, context);
  }

 private:
  const FeatureRows& all_;
  const std::vector<float>& weights_;
};

// Of one axis, as a model keeps it, so that rows that come later are drawn to what their ratings
// say: the features that columns gave, and B.
struct RowMeans {
  Sparse columns;                    // rows x features; rows that came later have none
  Matrix effects;                    // B: features x (dim + 2), in the order of FeatureRows
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
  uint64_t rows, others;
  size_t cols;
};
FeaturesMemory memory_of(const RowFeatures& columns, bool choices, const FeaturesShape& shape);

// B as rows, weighted, want it: the least of sum_r w_r |x_r - B^T f_r|^2 + beta |B|^2, where the
// weights have mean 1.
class MeansFit {
 public:
  // Rows without ratings do not count, but are told what their features say. Where there is nothing
  // to learn from, features() is 0.
  MeansFit(FeatureRows rows, std::vector<float> weights);
  size_t features() const { return all_.cols(); }
  // From the start of a run.
  void start(RowMeans& means, size_t cols) const;
  // `one`: the coordinate of rows that is not learned. All or nothing.
  void fit(const Matrix& rows, size_t one, double beta, const Context& context,
           RowMeans& means) const;
  // m of all rows.
  Matrix means(const RowMeans& means, const Context& context) const {
    return all_.multiply(means.effects, context);
  }

 private:
  FeatureRows all_;
  std::vector<float> weights_, diagonal_;
};

}  // namespace kith
