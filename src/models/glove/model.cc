// SPDX-License-Identifier: Apache-2.0
#include "models/glove/model.h"

#include <algorithm>

#include "core/rng.h"
#include "models/glove/kernel.h"

namespace kith::glove {

void Glove::visit(Parts& parts) {
  visit_words(parts);
  const auto dim = static_cast<size_t>(config_.dim);
  visit_tables(parts, working_ ? row_width(dim) : dim);
  parts.values("input.bias", input_bias_, working_ ? 0 : rows_, Use::kFixed);
  parts.values("output.bias", output_bias_, working_ ? 0 : rows_, Use::kFixed);
}

RunPlan Glove::plan() const {
  const double usual = config_.optimiser == Optimiser::kAdaGrad ? 0.6 : 0.01;
  return {
      .epochs = config_.epochs, .lr = config_.lr.value_or(usual), .early_stop = config_.early_stop};
}

void Glove::start(uint64_t seed) {
  input_bias_.clear();
  output_bias_.clear();
  const auto dim = static_cast<size_t>(config_.dim);
  const size_t width = parameters(dim);
  const float scale = 1.0f / static_cast<float>(dim);
  for (Matrix* m : {&input_, &output_}) {
    *m = Matrix(rows_, row_width(dim));
    for (size_t r = 0; r < rows_; ++r) {
      Rng rng(seed + (m == &output_ ? 1 : 0), r);
      const auto row = m->row(r);
      for (float& x : row.first(dim)) x = (rng.uniform() - 0.5f) * scale;
      row[m == &input_ ? dim + 1 : dim] = config_.biases ? 1 : 0;
      std::ranges::fill(row.subspan(width), kFirstSquare);
    }
  }
}

void Glove::finish(const Context&) {
  const auto dim = static_cast<size_t>(config_.dim);
  for (Matrix* m : {&input_, &output_}) {
    std::vector<float>& bias = m == &input_ ? input_bias_ : output_bias_;
    Matrix out(rows_, dim);
    bias.resize(rows_);
    for (size_t r = 0; r < rows_; ++r) {
      const auto row = std::as_const(*m).row(r);
      std::ranges::copy(row.first(dim), out.row(r).begin());
      bias[r] = row[m == &input_ ? dim : dim + 1];
    }
    *m = std::move(out);
  }
}

ModelInfo info() {
  return model_info<Glove>("glove",
                           "words of a text: weighted factorisation of log counts (GloVe)");
}

}  // namespace kith::glove
