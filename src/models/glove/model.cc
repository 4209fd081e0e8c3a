// SPDX-License-Identifier: Apache-2.0
#include "models/glove/model.h"

#include <algorithm>

#include "core/rng.h"
#include "models/glove/kernel.h"

namespace kith::glove {

void Glove::visit(Parts& parts) {
  parts.names("words", names_);
  if (parts.loading()) rows_ = names_.size();
  const auto dim = static_cast<size_t>(config_.dim);
  parts.flag("progress.working", working_, Use::kRun);
  const size_t cols = working_ ? row_width(dim) : dim;
  parts.values("counts", counts_, rows_, Use::kFixed);
  parts.matrix("input", input_, rows_, cols, Use::kLearned);
  parts.matrix("output", output_, rows_, cols, Use::kLearned);
  parts.values("input.bias", input_bias_, working_ ? 0 : rows_, Use::kFixed);
  parts.values("output.bias", output_bias_, working_ ? 0 : rows_, Use::kFixed);
}

void Glove::start(const Counts& counts, uint64_t seed) {
  names_ = counts.vocabulary().words;
  counts_ = counts.vocabulary().counts;
  rows_ = names_.size();
  working_ = true;
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
      row[m == &input_ ? dim + 1 : dim] = 1;
      std::ranges::fill(row.subspan(width), kFirstSquare);
    }
  }
}

void Glove::finish() {
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
  working_ = false;
}

std::vector<VectorGroup> Glove::vectors(Side side) const {
  std::shared_ptr<const Vectors> rows;
  if (side == Side::kSum) {
    rows = std::make_shared<SumVectors>(input_, output_);
  } else {
    rows = std::make_shared<MatrixVectors>(side == Side::kInput ? input_ : output_);
  }
  return {{"", "", &names_, std::move(rows), "", true}};
}

std::vector<Fact> Glove::info() const {
  std::vector<Fact> out{{"vocabulary", fmt::format("{}", names_.size()), true},
                        {"dim", fmt::format("{}", input_.cols()), true}};
  for (Fact& f : run_facts()) out.push_back(std::move(f));
  return out;
}

ModelInfo info() {
  return model_info<Glove>("glove",
                           "words of a text: weighted factorisation of log counts (GloVe)");
}

}  // namespace kith::glove
