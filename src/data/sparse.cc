// SPDX-License-Identifier: Apache-2.0
#include "data/sparse.h"

#include <algorithm>

namespace kith {
namespace {

// The ratings of a row in `before` and `more` together; of one that is in both, the new one.
void merge(Sparse::Row before, Sparse::Row more, std::vector<uint32_t>& columns,
           std::vector<float>& values) {
  size_t i = 0, j = 0;
  while (i < before.size() || j < more.size()) {
    const bool newer =
        i == before.size() || (j < more.size() && more.columns[j] <= before.columns[i]);
    if (newer && i < before.size() && more.columns[j] == before.columns[i]) ++i;
    columns.push_back(newer ? more.columns[j] : before.columns[i]);
    values.push_back(newer ? more.values[j] : before.values[i]);
    ++(newer ? j : i);
  }
}

}  // namespace

Sparse merged(const Sparse& before, const Sparse& more) {
  Sparse out;
  out.columns = std::max(before.columns, more.columns);
  const uint32_t rows = std::max(before.rows(), more.rows());
  out.column.reserve(before.size() + more.size());
  out.value.reserve(before.size() + more.size());
  for (uint32_t r = 0; r < rows; ++r) {
    merge(r < before.rows() ? before.row(r) : Sparse::Row{},
          r < more.rows() ? more.row(r) : Sparse::Row{}, out.column, out.value);
    out.offsets.push_back(out.column.size());
  }
  return out;
}

Sparse transposed(const Sparse& a) {
  Sparse out;
  out.columns = a.rows();
  out.offsets.assign(static_cast<size_t>(a.columns) + 1, 0);
  for (const uint32_t c : a.column) ++out.offsets[c + 1];
  for (size_t c = 0; c < a.columns; ++c) out.offsets[c + 1] += out.offsets[c];
  out.column.resize(a.size());
  out.value.resize(a.size());
  std::vector<uint64_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (uint32_t r = 0; r < a.rows(); ++r) {  // in order, so that the columns of a row rise
    const Sparse::Row row = a.row(r);
    for (size_t i = 0; i < row.size(); ++i) {
      const uint64_t at = next[row.columns[i]]++;
      out.column[at] = r;
      out.value[at] = row.values[i];
    }
  }
  return out;
}

}  // namespace kith
