// SPDX-License-Identifier: Apache-2.0
#include "models/gmm/points.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/parallel.h"
#include "core/rng.h"

namespace kith::gmm {

Frame Frame::of(const ColumnMoments& moments, bool alike) {
  std::vector<double> deviation(moments.mean.size(), 0);
  double variance = 0;
  size_t varying = 0;
  for (size_t c = 0; c < deviation.size(); ++c) {
    if (moments.constant(c)) continue;
    // By the number of rows: the variance of one component of all rows is 1.
    const double own = moments.squares[c] / static_cast<double>(moments.rows);
    variance += own;
    ++varying;
    deviation[c] = std::sqrt(own);
  }
  const double mean = std::sqrt(variance / static_cast<double>(std::max<size_t>(1, varying)));
  for (double& d : deviation) d = alike && d > 0 ? mean : d;
  return of(moments.mean, std::move(deviation));
}

Frame Frame::of(std::vector<double> mean, std::vector<double> deviation) {
  Frame out{std::move(mean), std::move(deviation), {}, 0};
  for (size_t c = 0; c < out.deviation.size(); ++c) {
    if (out.deviation[c] == 0) continue;
    out.columns.push_back(static_cast<uint32_t>(c));
    out.log_density -= std::log(out.deviation[c]);
  }
  return out;
}

DataPoints::DataPoints(const MatrixRows& rows, const Frame& frame) : rows_(rows), frame_(frame) {
  for (const double d : frame.deviation) scale_.push_back(d > 0 ? 1 / d : 0);
  if (!rows.sparse()) return;
  place_.assign(scale_.size(), UINT32_MAX);
  for (size_t i = 0; i < frame.dims(); ++i) {
    const uint32_t c = frame.columns[i];
    place_[c] = static_cast<uint32_t>(i);
    empty_.push_back(-frame.mean[c] * scale_[c]);
  }
}

template <class T>
void DataPoints::load_sparse(uint64_t first, size_t count, T* out, size_t stride) const {
  for (size_t n = 0; n < count; ++n) {
    T* const to = out + n * stride;
    for (size_t i = 0; i < empty_.size(); ++i) to[i] = static_cast<T>(empty_[i]);
    const Sparse::Row row = rows_.sparse()->row(static_cast<uint32_t>(first + n));
    for (size_t e = 0; e < row.size(); ++e) {
      const uint32_t c = row.columns[e], at = place_[c];
      if (at == UINT32_MAX) continue;
      to[at] = static_cast<T>((double{row.values[e]} - frame_.mean[c]) * scale_[c]);
    }
  }
}

void DataPoints::load(uint64_t first, size_t count, ReadBuffer& buffer, Block<float>& to) const {
  Matrix& m = buffer.floats;
  if (m.rows() < count) m = Matrix(to.rows(), scale_.size());
  if (rows_.sparse()) {
    load_sparse(first, count, m.view().data, m.stride());
    return to.take(m.view().data, m.stride(), count);
  }
  rows_.read(first, count, m.view(), {frame_.mean, scale_});
  if (frame_.dims() < scale_.size()) {
    for (size_t n = 0; n < count; ++n) {
      float* const row = m.view().row(n);
      for (size_t i = 0; i < frame_.dims(); ++i) row[i] = row[frame_.columns[i]];
    }
  }
  to.take(m.view().data, m.stride(), count);
}

void DataPoints::load(uint64_t first, size_t count, ReadBuffer& buffer, Block<double>& to) const {
  const size_t cols = scale_.size(), dims = frame_.dims();
  if (buffer.doubles.size() < count * cols) buffer.doubles.resize(to.rows() * cols);
  double* const rows = buffer.doubles.data();
  if (rows_.sparse()) {
    load_sparse(first, count, rows, cols);
    return to.take(rows, cols, count);
  }
  rows_.read(first, count, rows);
  for (size_t n = 0; n < count; ++n) {
    double* const row = rows + n * cols;
    for (size_t i = 0; i < dims; ++i) {
      const uint32_t c = frame_.columns[i];
      row[i] = (row[c] - frame_.mean[c]) * scale_[c];
    }
  }
  to.take(rows, cols, count);
}

Sample::Sample(const Points& all, size_t dims, uint64_t size, uint64_t seed,
               const Context& context) {
  constexpr uint64_t kRows = 512;  // of a shard
  const uint64_t total = all.size(), rows = std::min(size, total);
  rows_ = Matrix(rows, dims);
  Components<float> shape;
  shape.dims = dims;
  for_each_shard(context, (rows + kRows - 1) / kRows, [&](size_t s) {
    Block<float> block(shape);
    ReadBuffer buffer;
    const auto copy = [&](uint64_t to, size_t count) {
      for (size_t n = 0; n < count; ++n) {
        for (size_t i = 0; i < dims; ++i) rows_.row(to + n)[i] = block.x(i, n);
      }
    };
    const uint64_t end = std::min(rows, (s + 1) * kRows);
    for (uint64_t r = s * kRows; r < end;) {
      if (rows == total) {
        const size_t count = std::min<uint64_t>(block.rows(), end - r);
        all.load(r, count, buffer, block);
        copy(r, count);
        r += count;
        continue;
      }
      const auto part = [&](uint64_t at) {
        return static_cast<uint64_t>(static_cast<__uint128_t>(at) * total / rows);
      };
      const uint64_t first = part(r), width = part(r + 1) - first;
      all.load(first + mix64(seed ^ mix64(r + 1)) % width, 1, buffer, block);
      copy(r++, 1);
    }
  });
}

void Sample::load(uint64_t first, size_t count, ReadBuffer&, Block<float>& to) const {
  to.take(rows_.row(first).data(), rows_.stride(), count);
}

void Sample::load(uint64_t first, size_t count, ReadBuffer& buffer, Block<double>& to) const {
  const size_t dims = rows_.cols();
  if (buffer.doubles.size() < count * dims) buffer.doubles.resize(to.rows() * dims);
  for (size_t n = 0; n < count; ++n) {
    std::ranges::copy(rows_.row(first + n), buffer.doubles.data() + n * dims);
  }
  to.take(buffer.doubles.data(), dims, count);
}

}  // namespace kith::gmm
