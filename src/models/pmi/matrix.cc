// SPDX-License-Identifier: Apache-2.0
#include "models/pmi/matrix.h"

#include <cmath>
#include <vector>

namespace kith::pmi {

Sparse pmi_of(const Sparse& counts, const PmiOptions& options) {
  std::vector<double> column_sum(counts.columns, 0.0), row_sum(counts.rows(), 0.0);
  for (uint32_t r = 0; r < counts.rows(); ++r) {
    const Sparse::Row row = counts.row(r);
    for (size_t k = 0; k < row.size(); ++k) {
      row_sum[r] += double{row.values[k]};
      column_sum[row.columns[k]] += double{row.values[k]};
    }
  }
  double smoothed = 0;
  for (const double n : column_sum) smoothed += n > 0 ? std::pow(n, options.smoothing) : 0;
  // log c_j, and with it all that does not depend on the row.
  std::vector<double> column_log(counts.columns, 0.0);
  for (uint32_t c = 0; c < counts.columns; ++c) {
    if (column_sum[c] <= 0) continue;
    column_log[c] = options.smoothing * std::log(column_sum[c]) - std::log(smoothed);
  }
  Sparse out;
  out.columns = counts.columns;
  out.offsets.reserve(counts.offsets.size());
  const double shift = std::log(options.shift);
  for (uint32_t r = 0; r < counts.rows(); ++r) {
    const Sparse::Row row = counts.row(r);
    const double of_row = row_sum[r] > 0 ? std::log(row_sum[r]) : 0;
    for (size_t k = 0; k < row.size(); ++k) {
      const double value =
          std::log(double{row.values[k]}) - of_row - column_log[row.columns[k]] - shift;
      if (options.positive && value <= 0) continue;
      out.column.push_back(row.columns[k]);
      out.value.push_back(static_cast<float>(value));
    }
    out.offsets.push_back(out.column.size());
  }
  return out;
}

}  // namespace kith::pmi
