// SPDX-License-Identifier: Apache-2.0
#include "data/ratings/normalise.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace kith {
namespace {

// In two passes: the usual formula in one loses all digits when the mean is large. `line(r, i)` is
// the row or column that entry i, of row r, belongs to.
template <class Line>
std::vector<Moments> moments(const Sparse& a, size_t lines, const Line& line) {
  std::vector<Moments> out(lines);
  const auto each = [&](const auto& f) {
    for (uint32_t r = 0; r < a.rows(); ++r) {
      for (uint64_t i = a.offsets[r]; i < a.offsets[r + 1]; ++i) f(out[line(r, i)], a.value[i]);
    }
  };
  const auto divide = [&](double Moments::*sum) {
    for (Moments& m : out) {
      if (m.count > 0) m.*sum /= static_cast<double>(m.count);
    }
  };
  each([](Moments& m, double v) {
    m.mean += v;
    ++m.count;
  });
  divide(&Moments::mean);
  each([](Moments& m, double v) { m.variance += (v - m.mean) * (v - m.mean); });
  divide(&Moments::variance);
  return out;
}

// What rounding leaves of a constant is no scale.
bool has_scale(const Moments& m) {
  return m.variance > 1e-12 * m.mean * m.mean && m.variance >= 1e-24;
}

Shifts shifts_of(const std::vector<Moments>& moments) {
  Shifts out;
  double means = 0, scales = 0, known = 0, scaled = 0;
  for (const Moments& m : moments) {
    if (m.count == 0) continue;
    means += m.mean;
    known += 1;
    if (!has_scale(m)) continue;
    scales += std::sqrt(m.variance);
    scaled += 1;
  }
  if (known > 0) out.typical.mean = means / known;
  if (scaled > 0) out.typical.scale = scales / scaled;
  out.grow(moments.size());
  for (size_t k = 0; k < moments.size(); ++k) out.set(k, shift_of(moments[k], out.typical));
  return out;
}

}  // namespace

std::vector<Moments> row_moments(const Sparse& a) {
  return moments(a, a.rows(), [](uint32_t r, uint64_t) { return r; });
}

std::vector<Moments> column_moments(const Sparse& a) {
  return moments(a, a.columns, [&](uint32_t, uint64_t i) { return a.column[i]; });
}

Moments moments_of(std::span<const double> values) {
  Moments out{values.size()};
  if (values.empty()) return out;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) out.mean += v;
  out.mean /= n;
  for (const double v : values) out.variance += (v - out.mean) * (v - out.mean);
  out.variance /= n;
  return out;
}

Shift shift_of(const Moments& m, const Shift& typical) {
  if (m.count == 0) return typical;
  return {m.mean, has_scale(m) ? std::sqrt(m.variance) : typical.scale};
}

void Shifts::set(size_t k, const Shift& shift) {
  mean[k] = shift.mean;
  scale[k] = shift.scale;
}

void Shifts::grow(size_t size) {
  mean.resize(size, typical.mean);
  scale.resize(size, typical.scale);
}

void Shifts::find_typical() {
  if (empty()) return;
  const auto n = static_cast<double>(mean.size());
  typical = {std::accumulate(mean.begin(), mean.end(), 0.0) / n,
             std::accumulate(scale.begin(), scale.end(), 0.0) / n};
}

RatingShifts RatingShifts::of(const Sparse& ratings, Normalise by) {
  RatingShifts out;
  const bool users = by == Normalise::kUsers || by == Normalise::kBoth;
  if (users) out.users = shifts_of(row_moments(ratings));
  if (by == Normalise::kItems) out.items = shifts_of(column_moments(ratings));
  if (by == Normalise::kBoth) out.items = shifts_of(column_moments(out.normalised(ratings)));
  return out;
}

Normalise RatingShifts::by() const {
  if (users.empty()) return items.empty() ? Normalise::kNone : Normalise::kItems;
  return items.empty() ? Normalise::kUsers : Normalise::kBoth;
}

Sparse RatingShifts::normalised(Sparse ratings) const {
  for (uint32_t u = 0; u < ratings.rows(); ++u) {
    for (uint64_t k = ratings.offsets[u]; k < ratings.offsets[u + 1]; ++k) {
      ratings.value[k] = static_cast<float>(normalised(u, ratings.column[k], ratings.value[k]));
    }
  }
  return ratings;
}

}  // namespace kith
