// SPDX-License-Identifier: Apache-2.0
#include "data/normalise.h"

#include <cmath>
#include <utility>

namespace kith {
namespace {

// In two passes: the usual formula in one loses all digits when the mean is large. `line(r, i)` is
// the row or column that entry i, of row r, belongs to.
template <class Line>
std::vector<Moments> moments(const Sparse& a, size_t lines, const Line& line) {
  std::vector<Moments> out(lines);
  std::vector<uint64_t> count(lines, 0);
  const auto each = [&](const auto& f) {
    for (uint32_t r = 0; r < a.rows(); ++r) {
      for (uint64_t i = a.offsets[r]; i < a.offsets[r + 1]; ++i) f(line(r, i), a.value[i]);
    }
  };
  const auto divide = [&](double Moments::*sum) {
    for (size_t k = 0; k < lines; ++k) {
      if (count[k] > 0) out[k].*sum /= static_cast<double>(count[k]);
    }
  };
  each([&](uint32_t k, double v) {
    out[k].mean += v;
    ++count[k];
  });
  divide(&Moments::mean);
  each([&](uint32_t k, double v) { out[k].variance += (v - out[k].mean) * (v - out[k].mean); });
  divide(&Moments::variance);
  return out;
}

}  // namespace

std::vector<Moments> row_moments(const Sparse& a) {
  return moments(a, a.rows(), [](uint32_t r, uint64_t) { return r; });
}

std::vector<Moments> column_moments(const Sparse& a) {
  return moments(a, a.columns, [&](uint32_t, uint64_t i) { return a.column[i]; });
}

std::vector<Normalised::Shift> Normalised::shifts_of(const std::vector<Moments>& moments) {
  std::vector<Shift> out;
  for (const Moments& m : moments) {
    // What rounding leaves of a constant is no scale.
    const bool constant = m.variance <= 1e-12 * m.mean * m.mean || m.variance < 1e-24;
    out.push_back({m.mean, constant ? 1.0 : std::sqrt(m.variance)});
  }
  return out;
}

Normalised::Normalised(Sparse a, Normalise by) : matrix_(std::move(a)) {
  const auto apply = [&](auto&& shift_of) {
    for (uint32_t r = 0; r < matrix_.rows(); ++r) {
      for (uint64_t i = matrix_.offsets[r]; i < matrix_.offsets[r + 1]; ++i) {
        const Shift& s = shift_of(r, matrix_.column[i]);
        matrix_.value[i] = static_cast<float>((matrix_.value[i] - s.mean) / s.scale);
      }
    }
  };
  if (by == Normalise::kRows || by == Normalise::kBoth) {
    rows_ = shifts_of(row_moments(matrix_));
    apply([&](uint32_t r, uint32_t) -> const Shift& { return rows_[r]; });
  }
  if (by == Normalise::kColumns || by == Normalise::kBoth) {
    columns_ = shifts_of(column_moments(matrix_));
    apply([&](uint32_t, uint32_t c) -> const Shift& { return columns_[c]; });
  }
}

double Normalised::normalised(uint32_t row, uint32_t column, double value) const {
  if (!rows_.empty()) value = (value - rows_[row].mean) / rows_[row].scale;
  if (!columns_.empty()) value = (value - columns_[column].mean) / columns_[column].scale;
  return value;
}

double Normalised::original(uint32_t row, uint32_t column, double value) const {
  if (!columns_.empty()) value = value * columns_[column].scale + columns_[column].mean;
  if (!rows_.empty()) value = value * rows_[row].scale + rows_[row].mean;
  return value;
}

Sparse normalised(const Sparse& a, Normalise by) { return Normalised(a, by).matrix(); }

}  // namespace kith
