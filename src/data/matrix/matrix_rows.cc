// SPDX-License-Identifier: Apache-2.0
// Parts of the rows of a matrix, read from the sources that they stand in.
#include <algorithm>
#include <utility>

#include "data/matrix/matrix.h"

namespace kith {

// Calls take(run, row): runs of rows that stand together in one source, with the place in what is
// asked for of the first of them.
template <class Take>
void MatrixRows::for_each_run(uint64_t first, size_t count, const Take& take) const {
  if (mask_.empty()) {
    if (count > 0) take(Run{first, count}, size_t{0});
    return;
  }
  // The block that the first one is in, and then bit by bit.
  const auto block = std::ranges::upper_bound(before_, first) - before_.begin() - 1;
  uint64_t at = static_cast<uint64_t>(block) * kMaskBlock;
  uint64_t skip = first - before_[static_cast<size_t>(block)];
  Run run{0, 0};
  size_t done = 0;
  for (; done + run.count < count; ++at) {
    const bool in = mask_[at / 64] >> (at % 64) & 1;
    if (in && skip > 0) {
      --skip;
    } else if (in) {
      if (run.count == 0) run.number = at;
      ++run.count;
    } else if (run.count > 0) {
      take(run, done);
      done += std::exchange(run.count, 0);
    }
  }
  if (run.count > 0) take(run, done);
}

namespace {

// Calls take(source, first row in it, count, offset) for what of the run stands in each source.
template <class Take>
void in_sources(const std::vector<std::unique_ptr<RowSource>>& sources, uint64_t first,
                size_t count, const Take& take) {
  size_t done = 0;
  for (const auto& source : sources) {
    if (done == count) return;
    if (first >= source->rows()) {
      first -= source->rows();
      continue;
    }
    const size_t n = std::min<uint64_t>(count - done, source->rows() - first);
    take(*source, first, n, done);
    done += n;
    first = 0;
  }
}

}  // namespace

void MatrixRows::read_run(const Run& run, Rows out) const {
  in_sources(*sources_, run.number, run.count,
             [&](const RowSource& source, uint64_t first, size_t n, size_t at) {
               source.read(first, n, Rows{out.row(at), out.stride});
             });
}

void MatrixRows::read_run(const Run& run, double* out) const {
  in_sources(*sources_, run.number, run.count,
             [&](const RowSource& source, uint64_t first, size_t n, size_t at) {
               source.read(first, n, out + at * cols_);
             });
}

void MatrixRows::read(uint64_t first, size_t count, double* out) const {
  for_each_run(first, count, [&](const Run& run, size_t row) { read_run(run, out + row * cols_); });
}

void MatrixRows::read(uint64_t first, size_t count, Rows out, const ColumnChange& change) const {
  if (change.shift.empty() && change.scale.empty()) {
    return for_each_run(first, count, [&](const Run& run, size_t row) {
      read_run(run, Rows{out.row(row), out.stride});
    });
  }
  constexpr size_t kNumbers = size_t{1} << 14;  // doubles that stay in the cache
  const size_t rows = std::max<size_t>(1, kNumbers / cols_);
  std::vector<double> block(std::min(rows, count) * cols_);
  std::vector<double> shift(cols_, 0.0), scale(cols_, 1.0);
  std::ranges::copy(change.shift, shift.begin());
  std::ranges::copy(change.scale, scale.begin());
  for (size_t r = 0; r < count; r += rows) {
    const size_t n = std::min(rows, count - r);
    read(first + r, n, block.data());
    for (size_t k = 0; k < n; ++k) {
      const double* const x = block.data() + k * cols_;
      float* const to = out.row(r + k);
      for (size_t c = 0; c < cols_; ++c) to[c] = static_cast<float>((x[c] - shift[c]) * scale[c]);
    }
  }
}

uint64_t MatrixRows::number(uint64_t row) const {
  uint64_t out = row;
  if (!mask_.empty()) for_each_run(row, 1, [&](const Run& run, size_t) { out = run.number; });
  return out;
}

}  // namespace kith
