// SPDX-License-Identifier: Apache-2.0
#include "models/classifier/kernel.h"

namespace kith::classifier {

Scratch::Scratch(const Problem& problem) {
  const size_t most = problem.outputs;
  outputs.resize(most);
  output_rows.resize(most);
  asked = Matrix(1, most);
  yes = Matrix(1, most);
  scores = Matrix(1, most);
  hidden = Matrix(2, parameters(problem.dim));
}

}  // namespace kith::classifier
