// SPDX-License-Identifier: Apache-2.0
#pragma once
// How large a singular value noise alone can make: what a penalty on a factorisation is measured
// by, since it has to outweigh noise and should not outweigh more.

#include "core/parallel.h"
#include "data/sparse.h"

namespace kith {

double largest_singular_value(const Sparse& a, const Context& context);

// The largest singular value of the same entries with random signs: they are as large and stand in
// the same places, but nothing is left of how rows and columns go together.
double noise_level(Sparse a, uint64_t seed, const Context& context);

}  // namespace kith
