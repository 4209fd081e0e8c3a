// SPDX-License-Identifier: Apache-2.0
#include "train/blocks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kith {
namespace {

constexpr uint64_t kPiece = 256;  // how far to look at once for neighbours beyond a border

}  // namespace

Thinning::Thinning(std::span<const uint64_t> counts, double threshold, uint64_t seed)
    : keep_(counts.size(), 1.0f), seed_(mix64(seed + 0x7468696e)) {
  if (threshold <= 0) return;
  const auto total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
  for (size_t i = 0; i < counts.size(); ++i) {
    const double ratio = threshold * total / static_cast<double>(std::max<uint64_t>(1, counts[i]));
    keep_[i] = static_cast<float>(std::sqrt(ratio) + ratio);
  }
}

BlockReader::Block BlockReader::read(uint64_t epoch, uint64_t begin, uint64_t end) {
  words_.clear();
  read_before(epoch, begin);
  Block block{};
  block.begin = words_.size();
  raw_.resize(end - begin);
  copy_(begin, raw_);
  for (size_t i = 0; i < raw_.size(); ++i) {
    if (raw_[i] == kSentenceEnd) {
      words_.push_back(raw_[i]);
      continue;
    }
    ++block.seen;
    if (thinning_.keep(raw_[i], epoch, begin + i)) words_.push_back(raw_[i]);
  }
  block.end = words_.size();
  if (block.end > block.begin && words_.back() != kSentenceEnd) read_after(epoch, end);
  block.words = words_;
  return block;
}

// Appends up to `reach` kept words that stand before `begin` in the same sentence.
void BlockReader::read_before(uint64_t epoch, uint64_t begin) {
  while (begin > 0 && words_.size() < reach_) {
    const uint64_t from = begin > kPiece ? begin - kPiece : 0;
    raw_.resize(begin - from);
    copy_(from, raw_);
    bool sentence_begins = false;
    for (size_t i = raw_.size(); i-- > 0 && words_.size() < reach_ && !sentence_begins;) {
      sentence_begins = raw_[i] == kSentenceEnd;
      if (!sentence_begins && thinning_.keep(raw_[i], epoch, from + i)) words_.push_back(raw_[i]);
    }
    if (sentence_begins) break;
    begin = from;
  }
  std::reverse(words_.begin(), words_.end());
}

void BlockReader::read_after(uint64_t epoch, uint64_t end) {
  const size_t full = words_.size() + reach_;
  while (end < length_ && words_.size() < full) {
    raw_.resize(std::min(kPiece, length_ - end));
    copy_(end, raw_);
    for (size_t i = 0; i < raw_.size() && words_.size() < full; ++i) {
      if (raw_[i] == kSentenceEnd) return;
      if (thinning_.keep(raw_[i], epoch, end + i)) words_.push_back(raw_[i]);
    }
    end += raw_.size();
  }
}

}  // namespace kith
