// SPDX-License-Identifier: Apache-2.0
#pragma once
// Centroids for product quantisation (io/quantised.h has what becomes of them): k-means for each
// part of the columns, on a sample of the rows. The same bits come out of any number of threads.

#include <cstdint>
#include <vector>

#include "core/matrix.h"
#include "kith/context.h"

namespace kith {

struct QuantiseSettings {
  size_t width = 2;        // columns that share a byte
  size_t centroids = 256;  // of each part, at most
  uint64_t seed = 1;
};

struct Quantised {
  size_t parts = 0;
  std::vector<char> codes;  // rows x parts
  Matrix centroids;         // centroids x columns
};

// Exact if no part has more different values than there are centroids.
Quantised quantise(const Matrix& table, const QuantiseSettings& settings, const Context& context);

}  // namespace kith
