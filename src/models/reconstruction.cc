// SPDX-License-Identifier: Apache-2.0
#include "models/reconstruction.h"

#include <vector>

#include "data/matrix/matrix.h"

namespace kith {

ErrorSums reconstruction_error(const Reconstructs& model, const MatrixRows& rows, uint64_t first,
                               size_t count) {
  const std::span<const double> mean = model.mean_row();
  const size_t cols = mean.size();  // of sparse rows the last may be 0 in all
  std::vector<double> given(count * cols), back(count * cols);
  if (const Sparse* const sparse = rows.sparse()) {
    for (size_t r = 0; r < count; ++r) {
      const Sparse::Row row = sparse->row(static_cast<uint32_t>(first + r));
      for (size_t k = 0; k < row.size(); ++k) given[r * cols + row.columns[k]] = row.values[k];
    }
  } else {
    rows.read(first, count, given.data());
  }
  model.reconstruct(rows, first, count, back.data());
  ErrorSums out;
  for (size_t i = 0; i < given.size(); ++i) {
    const double error = given[i] - back[i], around = given[i] - mean[i % cols];
    out.error += error * error;
    out.baseline += around * around;
  }
  return out;
}

}  // namespace kith
