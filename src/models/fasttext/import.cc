// SPDX-License-Identifier: Apache-2.0
// What fastText learned becomes a model.

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "models/fasttext/model.h"

namespace kith::fasttext {
namespace {

bool is_zero(std::span<const float> row) {
  return std::ranges::all_of(row, [](float x) { return x == 0; });
}

// The buckets of a file, each with its row behind those of the words, rising.
std::vector<std::pair<uint32_t, uint32_t>> buckets_of(const FastTextFile& file) {
  std::vector<std::pair<uint32_t, uint32_t>> out;
  if (file.pruned) {
    for (const auto& [bucket, row] : *file.pruned) {
      out.emplace_back(static_cast<uint32_t>(bucket), static_cast<uint32_t>(row));
    }
    std::ranges::sort(out);
    return out;
  }
  for (uint32_t b = 0; b < static_cast<uint32_t>(file.buckets); ++b) out.emplace_back(b, b);
  return out;
}

}  // namespace

void FastText::take(FastTextFile file, const Context& context) {
  origin_ = FastTextOrigin(file);
  config_.objective = file.kind == FastTextHeader::Kind::kCbow ? words::Objective::kCbow
                                                               : words::Objective::kSkipGram;
  config_.dim = file.dim;
  config_.window = std::clamp(file.window, 1, 100);
  config_.epochs = std::clamp(file.epochs, 0, 10000);
  config_.negatives = std::clamp(file.negatives, 1, 100);
  config_.sample = std::clamp(file.sample, 0.0, 1.0);
  config_.gradient = words::Gradient::kReference;
  config_.adapt_rate = 0;
  config_.max_n = file.buckets > 0 ? std::clamp(file.max_n, 0, 100) : 0;
  config_.min_n = std::clamp(file.min_n, 1, std::max(1, config_.max_n));
  config_.buckets = std::max(1, file.buckets);
  const size_t words = file.words.size();
  // Rows of zeros are buckets that nothing falls into.
  std::vector<uint32_t> used, rows;
  if (config_.max_n > 0) {
    for (const auto& [bucket, row] : buckets_of(file)) {
      if (is_zero(std::as_const(file.input).row(words + row))) continue;
      used.push_back(bucket);
      rows.push_back(row);
    }
  }
  Matrix input(words + used.size(), file.input.cols());
  for (size_t r = 0; r < input.rows(); ++r) {
    const size_t from = r < words ? r : words + rows[r - words];
    std::ranges::copy(std::as_const(file.input).row(from), input.row(r).begin());
  }
  words::Subwords subwords;
  if (config_.max_n > 0) subwords = words::Subwords(parts_of_words(), std::move(used));
  WordsModel::take({std::move(file.words), std::move(file.counts)}, std::move(subwords),
                   std::move(input), std::move(file.output));
  finish(context);
}

}  // namespace kith::fasttext

namespace kith {

std::unique_ptr<ModelBase> model_of(FastTextFile file) {
  auto out = std::make_unique<fasttext::FastText>();
  out->take(std::move(file), Context(1));
  return out;
}

}  // namespace kith
