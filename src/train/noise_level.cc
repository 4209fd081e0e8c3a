// SPDX-License-Identifier: Apache-2.0
#include "train/noise_level.h"

#include <utility>

#include "core/rng.h"
#include "train/linear_operator.h"
#include "train/svd.h"

namespace kith {

double largest_singular_value(const Sparse& a, const Context& context) {
  const Sparse turned = transposed(a);
  const Svd one = randomised_svd(SparsePlusLowRank(a, turned), {.rank = 1, .power = 8}, context);
  return one.rank() > 0 ? one.sigma[0] : 0;
}

double noise_level(Sparse a, uint64_t seed, const Context& context) {
  for (uint32_t r = 0; r < a.rows(); ++r) {
    Rng rng(seed, r);
    for (uint64_t i = a.offsets[r]; i < a.offsets[r + 1]; ++i) {
      if (rng.uniform() < 0.5f) a.value[i] = -a.value[i];
    }
  }
  return largest_singular_value(a, context);
}

}  // namespace kith
