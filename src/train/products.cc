// SPDX-License-Identifier: Apache-2.0
#include "train/products.h"

#include "kernels/skinny.h"

namespace kith {
namespace {

constexpr size_t kSums = 64;  // partial sums at most: each is as large as the result

}  // namespace

Small transpose_times(const Matrix& a, size_t cols, const Matrix& b, const Context& context) {
  Small out(cols, b.cols());
  const size_t rows = a.rows(), width = b.stride();
  if (rows == 0 || out.values.empty()) return out;
  const size_t least = 100000 / (cols * width) + 1;  // rows that are worth a shard
  const size_t size = std::max(least, (rows + kSums - 1) / kSums);
  const size_t shards = (rows + size - 1) / size;
  std::vector<std::vector<double>> sums(shards);
  for_each_shard(context, shards, [&](size_t s) {
    sums[s].assign(cols * width, 0.0);
    const size_t first = s * size;
    add_products(a.view(), cols, b.view(), first, std::min(size, rows - first), sums[s].data());
  });
  for (const std::vector<double>& sum : sums) {
    for (size_t i = 0; i < out.rows; ++i) {
      for (size_t j = 0; j < out.cols; ++j) out.at(i, j) += sum[i * width + j];
    }
  }
  return out;
}

Matrix times(const Matrix& x, const Small& b, const Context& context) {
  Matrix small(b.rows, b.cols), out(x.rows(), b.cols);
  for (size_t i = 0; i < b.rows; ++i) {
    for (size_t j = 0; j < b.cols; ++j) small.row(i)[j] = static_cast<float>(b.at(i, j));
  }
  if (b.values.empty()) return out;
  const ConstRows from = x.view();
  const Rows to = out.view();
  for_each_range(context, x.rows(), b.rows * out.stride(), [&](size_t first, size_t last) {
    for (size_t r = first; r < last; ++r) {
      sum_rows({.x = std::as_const(small).view(),
                .columns = nullptr,
                .values = from.row(r),
                .count = b.rows,
                .scale = 1},
               false, to.row(r), out.stride());
    }
  });
  return out;
}

}  // namespace kith
