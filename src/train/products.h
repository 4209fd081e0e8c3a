// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of skinny matrices on all threads. How the rows are cut depends on the shapes alone and
// sums are added in the order of the shards, so the bits do not depend on the number of threads.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "core/parallel.h"

namespace kith {

// A small dense matrix in double, by rows: what is left when two skinny ones are multiplied.
struct Small {
  size_t rows = 0, cols = 0;
  std::vector<double> values;

  Small() = default;
  Small(size_t r, size_t c) : rows(r), cols(c), values(r * c, 0.0) {}
  double& at(size_t i, size_t j) { return values[i * cols + j]; }
  double at(size_t i, size_t j) const { return values[i * cols + j]; }
};

// Calls work(first, last) for consecutive ranges of [0, rows), each of about 100,000 multiply-adds,
// so that a thread is not started for less than it costs.
template <class Work>
void for_each_range(const Context& context, size_t rows, size_t work_per_row, const Work& work) {
  constexpr size_t kWork = 100000;
  if (rows == 0) return;
  const size_t size = std::clamp<size_t>(kWork / std::max<size_t>(1, work_per_row), 1, rows);
  for_each_shard(context, (rows + size - 1) / size,
                 [&](size_t s) { work(s * size, std::min(rows, (s + 1) * size)); });
}

// a^T b for the first `cols` columns of a, summed in double: cols x b.cols().
Small transpose_times(const Matrix& a, size_t cols, const Matrix& b, const Context& context);
inline Small transpose_times(const Matrix& a, const Matrix& b, const Context& context) {
  return transpose_times(a, a.cols(), b, context);
}
// x b; the columns of x beyond the rows of b are left out.
Matrix times(const Matrix& x, const Small& b, const Context& context);

}  // namespace kith
