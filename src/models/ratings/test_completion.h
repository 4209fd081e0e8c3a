// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrices whose truth is known, as ratings, for the models that complete matrices.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/ratings/completion.h"
#include "models/ratings/test_ratings.h"
#include "train/test_matrices.h"

namespace kith::test {

inline std::vector<Rating> triples(const Sparse& a) {
  std::vector<Rating> out;
  for (uint32_t r = 0; r < a.rows(); ++r) {
    const Sparse::Row row = a.row(r);
    for (size_t i = 0; i < row.size(); ++i) out.push_back({r, row.columns[i], row.values[i]});
  }
  return out;
}

// Every tenth rating is held out if `hold_out`.
inline Ratings ratings_of(const Sparse& a, bool hold_out = false) {
  std::vector<Rating> train, held;
  for (const Rating& r : triples(a)) {
    (hold_out && (train.size() + held.size()) % 10 == 9 ? held : train).push_back(r);
  }
  return Ratings::of(numbered(a.rows(), "u"), numbered(a.columns, "i"), std::move(train),
                     std::move(held));
}

// A matrix of rank k with singular values of the same order, incoherent.
inline Matrix low_rank(size_t rows, size_t cols, size_t k, uint64_t seed) {
  return product(random_matrix(rows, k, seed), random_matrix(cols, k, seed + 1));
}

// A truth of rank k with biases and noise, in part observed.
inline Ratings noisy_ratings(size_t rows, size_t cols, double share, bool hold_out) {
  Matrix a = low_rank(rows, cols, 2, 21);
  const Matrix noise = random_matrix(rows, cols, 23), bias = random_matrix(rows + cols, 1, 24);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < cols; ++c) {
      a.row(r)[c] += 5 + bias.row(r)[0] + bias.row(rows + c)[0] + 0.3f * noise.row(r)[c];
    }
  }
  return ratings_of(sampled(a, share, 25), hold_out);
}

// |M - A|_F / |A|_F over all entries, by what the model predicts.
inline double relative_error(const RatingsModel& model, const Matrix& a) {
  double error = 0;
  const Matrix &user = model.factors().user, &item = model.factors().item;
  for (size_t r = 0; r < a.rows(); ++r) {
    for (size_t c = 0; c < a.cols(); ++c) {
      error += std::pow(model.factors().mean + dot(user, r, item, c) - a.row(r)[c], 2);
    }
  }
  return std::sqrt(error / squared_norm(a));
}

// The row of somebody who was in training, from his ratings: predictions as near to his ratings.
inline double fold_in_error(const RatingsModel& model, const Sparse& ratings, uint32_t user) {
  const Sparse::Row row = ratings.row(user);
  const std::vector<float> folded = model.fold_in(Axis::kUser, row);
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const double told = model.rating(folded, model.factors().item.row(row.columns[i]));
    sum += std::pow(told - row.values[i], 2);
  }
  return std::sqrt(sum / static_cast<double>(row.size()));
}

}  // namespace kith::test
