// SPDX-License-Identifier: Apache-2.0
#include "models/word2vec/model.h"

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "models/two_sided.h"

namespace kith::word2vec {

void Word2Vec::visit(Parts& parts) {
  parts.names("words", names_);
  if (parts.loading()) rows_ = names_.size();
  const auto dim = static_cast<size_t>(config_.dim);
  parts.values("counts", counts_, rows_, Use::kFixed);
  parts.matrix("input", input_, rows_, dim, Use::kLearned);
  parts.matrix("output", output_, rows_, dim, Use::kLearned);
  parts.values("input.energy", input_energy_, rows_, Use::kFixed);
  parts.values("output.energy", output_energy_, rows_, Use::kFixed);
  parts.number("progress.words", words_);
  parts.number("progress.windows", windows_);
  parts.number("progress.pairs", pairs_);
  parts.number("progress.learned_rows", learned_rows_);
  for (const auto* energy : {&input_energy_, &output_energy_}) {
    parts.check(std::ranges::all_of(*energy, [](float e) { return e >= 1; }),
                "an energy is below 1");
  }
}

void Word2Vec::initialise(uint64_t seed, size_t from) {
  const float scale = 1.0f / static_cast<float>(input_.cols());
  for (size_t r = from; r < input_.rows(); ++r) {
    Rng rng(seed, r);
    // The padding, too: what a run that went out of bounds left there would spoil the next one.
    std::fill_n(input_.view().row(r), input_.stride(), 0.0f);
    for (float& x : input_.row(r)) x = (rng.uniform() - 0.5f) * scale;
    std::fill_n(output_.view().row(r), output_.stride(), 0.0f);
    input_energy_[r] = output_energy_[r] = 1;
  }
}

void Word2Vec::grow(const Vocabulary& vocabulary, uint64_t seed) {
  const size_t old = names_.size(), size = vocabulary.words.size();
  const auto dim = static_cast<size_t>(config_.dim);
  if (old > 0 && input_.cols() != dim) {
    throw fault(ErrorKind::kUsage, "a model goes on with its own --dim, {}; got {}", input_.cols(),
                dim);
  }
  bool fits = old <= size && vocabulary.counts.size() == size;
  for (size_t r = 0; r < old && fits; ++r) fits = vocabulary.words[r] == names_[r];
  if (!fits) {
    throw fault(ErrorKind::kInput,
                "the text was not read on top of the model's {} words, so they cannot go on", old);
  }
  Matrix input(size, dim), output(size, dim);
  for (size_t r = 0; r < old; ++r) {
    std::ranges::copy(input_.row(r), input.row(r).begin());
    std::ranges::copy(output_.row(r), output.row(r).begin());
  }
  input_ = std::move(input);
  output_ = std::move(output);
  input_energy_.resize(size);
  output_energy_.resize(size);
  names_ = vocabulary.words;
  counts_ = vocabulary.counts;
  rows_ = size;
  learned_rows_ = old;
  initialise(seed, old);
}

void Word2Vec::reopen() {
  state_ = RunState{};
  words_ = windows_ = pairs_ = 0;
}

std::vector<VectorGroup> Word2Vec::vectors(Side side) const {
  return two_sided(side, names_, input_, output_);
}

std::vector<Fact> Word2Vec::info() const {
  std::vector<Fact> out{{"vocabulary", fmt::format("{}", names_.size()), true},
                        {"dim", fmt::format("{}", input_.cols()), true},
                        {"words_seen", fmt::format("{}", words_), true},
                        {"windows", fmt::format("{}", windows_), true},
                        {"pairs", fmt::format("{}", pairs_), true}};
  for (Fact& f : run_facts()) out.push_back(std::move(f));
  return out;
}

ModelInfo info() {
  return model_info<Word2Vec>("word2vec",
                              "words of a text: skip-gram and CBOW with negative sampling");
}

}  // namespace kith::word2vec
