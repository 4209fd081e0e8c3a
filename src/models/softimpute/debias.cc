// SPDX-License-Identifier: Apache-2.0
// Shrinking takes the same from every singular value, so what is kept is too small. With the
// singular vectors as they are, least squares gives the values back what the ratings support.
#include <algorithm>
#include <cmath>

#include "kernels/skinny.h"
#include "models/softimpute/trainer.h"
#include "train/products.h"
#include "train/ridge_row.h"

namespace kith::softimpute {
namespace {

constexpr size_t kTile = 256;  // ratings whose features stand in memory at a time
constexpr size_t kShards = 64;

// Sums over some users of f f^T and of f y, where f_j = p_uj q_ij and y = rating - mean - biases.
struct Sums {
  std::vector<double> ff;
  size_t width = 0;
};

Sums sums_of(const Sparse& ratings, double mean, size_t rank, const Matrix& user,
             const Matrix& item, uint32_t first, uint32_t last) {
  Matrix tile(kTile, rank + 1);  // f, y
  Sums out{std::vector<double>((rank + 1) * tile.stride(), 0.0), tile.stride()};
  size_t filled = 0;
  const auto flush = [&] {
    const Matrix& t = tile;
    add_products(t.view(), rank + 1, t.view(), 0, filled, out.ff.data());
    filled = 0;
  };
  for (uint32_t u = first; u < last; ++u) {
    const Sparse::Row row = ratings.row(u);
    const auto p = user.row(u);
    for (size_t i = 0; i < row.size(); ++i) {
      const auto q = item.row(row.columns[i]);
      const auto f = tile.row(filled);
      for (size_t k = 0; k < rank; ++k) f[k] = p[k] * q[k];
      double y = row.values[i] - mean;
      for (size_t k = p.size() - 2; k < p.size(); ++k) y -= double{p[k]} * q[k];
      f[rank] = static_cast<float>(y);
      if (++filled == kTile) flush();
    }
  }
  flush();
  return out;
}

}  // namespace

void debias(const Sparse& ratings, double mean, size_t rank, Matrix& user, Matrix& item,
            const Context& context) {
  const uint32_t size = static_cast<uint32_t>((ratings.rows() + kShards - 1) / kShards);
  const size_t shards = size == 0 ? 0 : (ratings.rows() + size - 1) / size;
  std::vector<Sums> parts(shards);
  for_each_shard(context, shards, [&](size_t s) {
    const auto first = static_cast<uint32_t>(s) * size;
    parts[s] =
        sums_of(ratings, mean, rank, user, item, first, std::min(ratings.rows(), first + size));
  });
  std::vector<double> a(rank * rank, 0.0), b(rank, 0.0);
  for (const Sums& part : parts) {
    for (size_t i = 0; i < rank; ++i) {
      for (size_t j = 0; j < rank; ++j) a[i * rank + j] += part.ff[i * part.width + j];
      b[i] += part.ff[i * part.width + rank];
    }
  }
  for (size_t i = 0; i < rank; ++i) a[i * rank + i] *= 1 + 1e-9;
  if (!cholesky(a, rank)) return;  // two features are the same: the values stay as they are
  solve_lower(a, rank, b);
  solve_upper(a, rank, b);
  for (Matrix* m : {&user, &item}) {
    for (size_t r = 0; r < m->rows(); ++r) {
      for (size_t k = 0; k < rank; ++k) {
        m->row(r)[k] = static_cast<float>(m->row(r)[k] * std::sqrt(std::max(0.0, b[k])));
      }
    }
  }
}

}  // namespace kith::softimpute
