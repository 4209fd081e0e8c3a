// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a text is made of: its words, and runs of two words and more. A run has a bucket by its
// hash, and a bucket has a row if training met it; so the table is as large as the data need.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/rng.h"
#include "data/labelled/labelled.h"

namespace kith::classifier {

// Which buckets occur, and the how manieth each of them is. A bit a bucket, and half a bit more.
class BucketSet {
 public:
  static constexpr uint32_t kNone = 0xffffffff;
  BucketSet() = default;
  explicit BucketSet(uint64_t buckets) : bits_((buckets + 63) / 64) {}
  void add(uint32_t bucket) { bits_[bucket / 64] |= uint64_t{1} << bucket % 64; }
  void count();  // when all are added
  uint32_t size() const { return size_; }
  uint32_t place_of(uint32_t bucket) const {
    const uint64_t word = bits_[bucket / 64], bit = uint64_t{1} << bucket % 64;
    if ((word & bit) == 0) return kNone;
    return before_[bucket / 64] + static_cast<uint32_t>(std::popcount(word & (bit - 1)));
  }
  std::vector<uint32_t> list() const;  // rising
  static uint64_t memory(uint64_t buckets) { return (buckets + 63) / 64 * 12; }

 private:
  std::vector<uint64_t> bits_;
  std::vector<uint32_t> before_;  // how many are in the words of bits before this one
  uint32_t size_ = 0;
};

class Features {
 public:
  Features() = default;
  // Of texts to learn from, and maybe more of them.
  Features(uint32_t words, int longest, uint64_t buckets, const Documents& documents,
           const Documents* more = nullptr);
  // Of a model: `list` as from BucketSet.
  Features(uint32_t words, int longest, uint64_t buckets, std::span<const uint32_t> list);

  uint32_t words() const { return words_; }
  const BucketSet& runs() const { return runs_; }
  // Rows of the table: words first.
  uint32_t rows() const { return words_ + runs_.size(); }

  // The rows of a text. One that stands there twice comes twice.
  void find(std::span<const uint32_t> text, std::vector<uint32_t>& out) const {
    out.clear();
    for (const uint32_t word : text) {
      if (word < words_) out.push_back(word);
    }
    for_each_bucket(text, [&](uint32_t bucket) {
      const uint32_t place = runs_.place_of(bucket);
      if (place != BucketSet::kNone) out.push_back(words_ + place);
    });
  }

 private:
  // Stays the same for ever: buckets stand in model files.
  static uint64_t next(uint64_t hash, uint32_t word) {
    return mix64(hash * 0x9e3779b97f4a7c15 + word + 1);
  }
  template <class F>
  void for_each_bucket(std::span<const uint32_t> text, const F& f) const {
    for (size_t i = 0; i < text.size(); ++i) {
      uint64_t hash = 0;
      for (size_t k = i; k < text.size() && k - i < longest_ && text[k] != kUnknownWord; ++k) {
        hash = next(hash, text[k]);
        if (k > i) f(static_cast<uint32_t>((hash >> 32) * buckets_ >> 32));
      }
    }
  }

  uint32_t words_ = 0;
  size_t longest_ = 1;
  uint64_t buckets_ = 1;
  BucketSet runs_;
};

}  // namespace kith::classifier
