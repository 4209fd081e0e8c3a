// SPDX-License-Identifier: Apache-2.0
// A row that came after training. Losses with a closed form, or near one, take it. Of the others,
// steps on this row alone: the other rows are put back before each pass.
#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "models/mf/kernel.h"
#include "models/mf/model.h"

namespace kith::mf {
namespace {

constexpr int kFoldEpochs = 60;
constexpr float kStill = 1e30f;  // the energy of a row that does not move

// The row as if it were the only user, and what it meets as if that were all items.
struct Alone {
  Matrix row, others;
  std::vector<uint32_t> numbers;  // of the others, in the model
  std::vector<uint32_t> unseen;   // those of them that the row did not rate: noise for pairs
  std::vector<Entry> steps;
  Sparse seen;
};

void draw_unseen(const Sparse::Row& ratings, size_t rows, Rng& rng, Alone& a) {
  for (size_t k = 0; k < 4 * ratings.size() + 100; ++k) {
    const uint32_t row = rng.below(static_cast<uint32_t>(rows));
    if (std::ranges::binary_search(ratings.columns, row)) continue;
    a.unseen.push_back(static_cast<uint32_t>(a.numbers.size()));
    a.numbers.push_back(row);
  }
}

template <class Value>
void make_steps(const Sparse::Row& ratings, const Value& value_of, Alone& a) {
  a.seen.columns = static_cast<uint32_t>(a.numbers.size());
  for (uint32_t k = 0; k < ratings.size(); ++k) {
    a.steps.push_back({0, k, value_of(ratings.values[k])});
    a.seen.column.push_back(k);
    a.seen.value.push_back(1);
  }
  a.seen.offsets.push_back(ratings.size());
}

}  // namespace

// The other rows as they were learned, as working rows that stay where they are.
void Mf::put_back(Axis axis, std::span<const uint32_t> numbers, Matrix& working) const {
  const Matrix& known = f_.rows(axis);
  const auto root = static_cast<float>(std::sqrt(scale_)), whole = static_cast<float>(scale_);
  for (size_t k = 0; k < numbers.size(); ++k) {
    const auto from = known.row(numbers[k]);
    const auto to = working.row(k);
    for (size_t j = 0; j < f_.dim; ++j) to[j] = from[j] / root;
    to[padded(f_.dim) + kBias] = from[f_.own(axis)] / whole;
    start_row(working.view().row(k), f_.dim);
    to[padded(f_.dim) + kEnergy] = to[padded(f_.dim) + kBiasEnergy] = kStill;
  }
}

// Where the row starts, and with `mean` (not empty) what it is drawn to.
void Mf::start_alone(Axis axis, size_t ratings, std::span<const float> mean, Matrix& row,
                     Matrix& drawn_to) const {
  const size_t width = padded(f_.dim);
  const auto root = static_cast<float>(std::sqrt(scale_)), whole = static_cast<float>(scale_);
  if (!mean.empty()) {
    for (size_t k = 0; k < f_.dim; ++k) row.row(0)[k] = drawn_to.row(0)[k] = mean[k] / root;
    row.row(0)[width + kDrawnBias] = mean[f_.own(axis)] / whole;
  }
  start_row(row.view().row(0), f_.dim);
  row.row(0)[width + kHold] = static_cast<float>(hold(ratings));
  row.row(0)[width + kBiasHold] = static_cast<float>(bias_hold(axis, ratings));
  if (loss() == Loss::kKl && config_.biases) row.row(0)[width + kBias] = 0.5f;
}

std::vector<float> Mf::fold(Axis axis, const Folding& row_of) const {
  const Sparse::Row& ratings = row_of.ratings;
  const Loss loss = this->loss();
  if (is_of_differences(loss) || ratings.size() == 0) return RatingsModel::fold(axis, row_of);
  Rng rng(1, 0);
  Alone a;
  a.numbers.assign(ratings.columns.begin(), ratings.columns.end());
  if (loss == Loss::kBpr) {
    draw_unseen(ratings, f_.rows(other(axis)).rows(), rng, a);
    if (a.unseen.empty()) return RatingsModel::fold(axis, row_of);
  }
  make_steps(
      ratings, [&](float rating) { return value_of(rating); }, a);
  const size_t dim = f_.dim;
  a.row = Matrix(1, row_width(dim));
  a.others = Matrix(a.numbers.size(), row_width(dim));
  Moving moving{a.row.view(), a.others.view()};
  const std::vector<float> mean = known_.of(axis).of(ratings, row_of.number);
  Matrix drawn_to(1, dim), nowhere;
  if (!mean.empty()) {
    nowhere = Matrix(a.numbers.size(), dim);
    moving.user_means = std::as_const(drawn_to).view();
    moving.item_means = std::as_const(nowhere).view();
  }
  start_alone(axis, ratings.size(), mean, a.row, drawn_to);
  for (int epoch = 0; epoch < kFoldEpochs; ++epoch) {
    put_back(other(axis), a.numbers, a.others);
    const auto lr = static_cast<float>(this->lr() * (1 - static_cast<double>(epoch) / kFoldEpochs));
    const Rates rates{lr, config_.biases, config_.adapt};
    if (loss == Loss::kBpr) {
      train_pairs(rates, dim, a.steps, a.unseen, a.seen, rng, moving);
    } else {
      train_block(loss, rates, dim, a.steps, moving);
    }
  }
  std::vector<float> out(dim + 2, 0.0f);
  put_row(axis, a.row.row(0), out);
  return out;
}

}  // namespace kith::mf
