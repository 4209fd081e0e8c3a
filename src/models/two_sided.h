// SPDX-License-Identifier: Apache-2.0
#pragma once
// Models that have two vectors for each name: as itself, and as a neighbour.

#include <memory>
#include <utility>
#include <vector>

#include "core/vectors.h"
#include "models/capabilities.h"

namespace kith {

// One group of names, the most frequent first, with the rows of one matrix or the sum of both.
inline std::vector<VectorGroup> two_sided(Side side, const Names& names, const Matrix& input,
                                          const Matrix& output) {
  std::shared_ptr<const Vectors> rows;
  if (side == Side::kSum) {
    rows = std::make_shared<SumVectors>(input, output);
  } else {
    rows = std::make_shared<MatrixVectors>(side == Side::kInput ? input : output);
  }
  return {{"", "", &names, std::move(rows), "", true}};
}

}  // namespace kith
