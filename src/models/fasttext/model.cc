// SPDX-License-Identifier: Apache-2.0
#include "models/fasttext/model.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "models/two_sided.h"

namespace kith::fasttext {

double FastText::first_rate() const { return config_.lr.value_or(0.05); }

words::SubwordSettings FastText::parts_of_words() const {
  if (config_.max_n == 0) return {};
  if (config_.min_n > config_.max_n) {
    throw fault(ErrorKind::kUsage, "--min-n {} is more than --max-n {}", config_.min_n,
                config_.max_n);
  }
  const bool hashed = config_.ngrams == Ngrams::kHashed;
  return {config_.min_n, config_.max_n, hashed ? static_cast<uint64_t>(config_.buckets) : 0};
}

void FastText::visit(Parts& parts) {
  WordsModel::visit(parts);
  origin_.visit(parts);
  parts.matrix("vectors", vectors_, Parts::kAny, static_cast<size_t>(config_.dim), Use::kOptional);
  parts.check(vectors_.rows() == rows_ || (vectors_.rows() == 0 && !finished()),
              "its words and vectors do not match");
}

void FastText::finish(const Context& context) {
  constexpr size_t kShard = 1024;  // words
  const words::Bags bags = subwords_.bags(names_);
  Matrix vectors(rows_, input_.cols());
  finish_shards(context, (rows_ + kShard - 1) / kShard, [&](size_t shard) {
    for (size_t w = shard * kShard; w < std::min<size_t>(rows_, (shard + 1) * kShard); ++w) {
      const auto bag = bags.of(static_cast<uint32_t>(w));
      const std::span<float> out = vectors.row(w);
      for (const uint32_t r : bag) {
        for (size_t k = 0; k < out.size(); ++k) out[k] += input_.row(r)[k];
      }
      for (float& x : out) x *= 1.0f / static_cast<float>(bag.size());
    }
  });
  vectors_ = std::move(vectors);
}

uint64_t FastText::memory_of_finish(const Corpus& corpus) const {
  return corpus.vocabulary().words.size() * padded(static_cast<size_t>(config_.dim)) *
         sizeof(float);
}

void FastText::reopen() {
  WordsModel::reopen();
  vectors_ = Matrix();
  // Nodes of a tree are no start for words.
  if (has_tree()) output_ = Matrix(rows_, input_.cols());
  origin_ = {};
}

std::vector<VectorGroup> FastText::vectors(Side side) const {
  if (has_tree() && side != Side::kInput) {
    throw fault(ErrorKind::kUsage,
                "fastText learned this model with hierarchical softmax (-loss hs), so it has input "
                "vectors alone: its other rows are those of a tree over the words; leave --vectors "
                "out");
  }
  return two_sided(side, names_, vectors_, output_);
}

// The mean over all parts, those that nobody has seen among them, as fastText does: such rows are
// zero, so the direction is that of the others.
bool FastText::spell(std::string_view word, std::span<float> out) const {
  const auto rows = subwords_.rows_of(word);
  if (std::ranges::none_of(rows, [](const auto& row) { return row.has_value(); })) return false;
  std::ranges::fill(out, 0.0f);
  for (const auto& row : rows) {
    if (!row) continue;
    const std::span<const float> x = std::as_const(input_).row(rows_ + *row);
    for (size_t k = 0; k < out.size(); ++k) out[k] += x[k];
  }
  for (float& x : out) x *= 1.0f / static_cast<float>(rows.size());
  return true;
}

ModelInfo info() {
  return model_info<FastText>("fasttext",
                              "words of a text and their parts: vectors for unseen words, too");
}

}  // namespace kith::fasttext
