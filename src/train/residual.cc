// SPDX-License-Identifier: Apache-2.0
#include "train/residual.h"

#include <algorithm>
#include <utility>

#include "kernels/skinny.h"

namespace kith {
namespace {

constexpr uint64_t kShard = 16384;  // ratings that one thread does at a time, about

// Calls work(row, values) with the products of a row with those it is paired with, and adds up what
// it returns, in the order of the rows.
template <class Work>
double over_rows(const Sparse& pattern, const Matrix& own, const Matrix& others,
                 const Context& context, const Work& work) {
  const uint64_t mean = pattern.size() / std::max<uint32_t>(1, pattern.rows()) + 1;
  const auto size = static_cast<uint32_t>(std::max<uint64_t>(1, kShard / mean));
  const size_t shards = (pattern.rows() + size - 1) / size;
  std::vector<double> sums(shards, 0.0);
  for_each_shard(context, shards, [&](size_t s) {
    std::vector<float> products;
    const auto first = static_cast<uint32_t>(s) * size;
    for (uint32_t r = first; r < std::min(pattern.rows(), first + size); ++r) {
      const Sparse::Row row = pattern.row(r);
      products.resize(row.size());
      dot_rows(own.view().row(r), others.view(), row.columns.data(), row.size(), own.stride(),
               products.data());
      sums[s] += work(r, products);
    }
  });
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

}  // namespace

Residual::Residual(const Sparse& ratings)
    : by_user_(ratings),
      by_item_(transposed(ratings)),
      rating_by_user_(by_user_.value),
      rating_by_item_(by_item_.value) {}

double Residual::update(const Matrix& user, const Matrix& item, double mean,
                        const Context& context) {
  const auto fill = [&](Sparse& to, const std::vector<float>& rating, const Matrix& own,
                        const Matrix& others) {
    return over_rows(to, own, others, context, [&](uint32_t r, std::span<const float> products) {
      double squares = 0;
      for (size_t i = 0; i < products.size(); ++i) {
        const uint64_t at = to.offsets[r] + i;
        const double left = rating[at] - mean - products[i];
        to.value[at] = static_cast<float>(left);
        squares += left * left;
      }
      return squares;
    });
  };
  fill(by_item_, rating_by_item_, item, user);
  return fill(by_user_, rating_by_user_, user, item);
}

double observed_square(const Sparse& pattern, const Matrix& a, const Matrix& b,
                       const Context& context) {
  return over_rows(pattern, a, b, context, [](uint32_t, std::span<const float> products) {
    double squares = 0;
    for (const float x : products) squares += double{x} * x;
    return squares;
  });
}

}  // namespace kith
