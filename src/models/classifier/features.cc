// SPDX-License-Identifier: Apache-2.0
#include "models/classifier/features.h"

namespace kith::classifier {

void BucketSet::count() {
  before_.resize(bits_.size());
  size_ = 0;
  for (size_t i = 0; i < bits_.size(); ++i) {
    before_[i] = size_;
    size_ += static_cast<uint32_t>(std::popcount(bits_[i]));
  }
}

std::vector<uint32_t> BucketSet::list() const {
  std::vector<uint32_t> out;
  out.reserve(size_);
  for (size_t i = 0; i < bits_.size(); ++i) {
    for (uint64_t word = bits_[i]; word != 0; word &= word - 1) {
      out.push_back(static_cast<uint32_t>(i * 64 + static_cast<size_t>(std::countr_zero(word))));
    }
  }
  return out;
}

Features::Features(uint32_t words, int longest, uint64_t buckets, const Documents& documents,
                   const Documents* more)
    : words_(words),
      longest_(static_cast<size_t>(longest)),
      buckets_(buckets),
      runs_(longest > 1 ? buckets : 0) {
  for (const Documents* const texts : {&documents, more}) {
    for (size_t i = 0; longest > 1 && texts && i < texts->size(); ++i) {
      for_each_bucket(texts->words_of(i), [&](uint32_t bucket) { runs_.add(bucket); });
    }
  }
  runs_.count();
}

Features::Features(uint32_t words, int longest, uint64_t buckets, std::span<const uint32_t> list)
    : words_(words),
      longest_(static_cast<size_t>(longest)),
      buckets_(buckets),
      runs_(longest > 1 || !list.empty() ? buckets : 0) {
  for (const uint32_t bucket : list) runs_.add(bucket);
  runs_.count();
}

}  // namespace kith::classifier
