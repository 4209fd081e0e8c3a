// SPDX-License-Identifier: Apache-2.0
#include "models/doc2vec/model.h"

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "core/vectors.h"

namespace kith::doc2vec {

void Doc2Vec::visit(Parts& parts) {
  parts.names("words", names_);
  parts.names("documents", documents_);
  if (parts.loading()) {
    rows_ = names_.size();
    texts_ = documents_.size();
  }
  const auto dim = static_cast<size_t>(config_.dim);
  parts.values("counts", counts_, rows_, Use::kFixed);
  parts.matrix("input", input_, word_rows() + texts_, dim, Use::kLearned);
  parts.matrix("output", output_, rows_, dim, Use::kLearned);
  parts.values("input.energy", input_energy_, word_rows() + texts_, Use::kRun);
  parts.values("output.energy", output_energy_, rows_, Use::kRun);
  parts.number("progress.words", words_);
  for (const auto* energy : {&input_energy_, &output_energy_}) {
    parts.check(std::ranges::all_of(*energy, [](float e) { return e >= 1; }),
                "an energy is below 1");
  }
}

void Doc2Vec::start(const DocumentSet& data, uint64_t seed) {
  names_ = data.vocabulary().words;
  counts_ = data.vocabulary().counts;
  documents_ = data.names();
  rows_ = names_.size();
  texts_ = documents_.size();
  words_ = 0;
  const auto dim = static_cast<size_t>(config_.dim);
  input_ = Matrix(word_rows() + texts_, dim);
  output_ = Matrix(rows_, dim);
  const float scale = 1.0f / static_cast<float>(dim);
  for (size_t r = 0; r < input_.rows(); ++r) {
    Rng rng(seed, r);
    for (float& x : input_.row(r)) x = (rng.uniform() - 0.5f) * scale;
  }
  for (uint32_t d = 0; d < texts_; ++d) {  // as embed says of a text without a word
    if (data.is_empty(d)) std::ranges::fill(input_.row(word_rows() + d), 0.0f);
  }
  input_energy_.assign(input_.rows(), 1);
  output_energy_.assign(rows_, 1);
}

std::vector<VectorGroup> Doc2Vec::vectors(Side side) const {
  if (side != Side::kInput) {
    throw fault(ErrorKind::kUsage, "documents have one vector each; leave --vectors out");
  }
  const size_t cols = input_.cols();
  std::vector<VectorGroup> out{
      {"document", "document", &documents_,
       std::make_shared<MatrixVectors>(input_, word_rows(), documents_.size(), cols), "", false}};
  if (config_.learns_words()) {
    out.push_back({"word", "word", &names_,
                   std::make_shared<MatrixVectors>(input_, 0, names_.size(), cols), "", true});
  }
  return out;
}

bool Doc2Vec::has_say(std::string_view setting, const DocumentSet&) const {
  if (setting == "window" || setting == "fixed-window") return config_.learns_words();
  if (setting == "gradient") return config_.method == Method::kDm;
  return setting != "words" || config_.method == Method::kDbow;
}

std::vector<Fact> Doc2Vec::info() const {
  std::vector<Fact> out;
  for (const auto& [name, value] : {std::pair<const char*, uint64_t>{"documents", texts_},
                                    {"vocabulary", rows_},
                                    {"dim", input_.cols()},
                                    {"words_seen", words_}}) {
    out.push_back({name, fmt::format("{}", value), true});
  }
  for (Fact& f : run_facts()) out.push_back(std::move(f));
  return out;
}

ModelInfo info() {
  return model_info<Doc2Vec>("doc2vec", "documents, and their words: paragraph vectors");
}

}  // namespace kith::doc2vec
