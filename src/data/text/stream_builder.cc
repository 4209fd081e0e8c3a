// SPDX-License-Identifier: Apache-2.0
#include "data/text/stream_builder.h"

#include <xxhash.h>

#include <algorithm>
#include <new>

#include "data/text/word_counter.h"

namespace kith {
namespace {

constexpr size_t kLongestUnit = 1000;
constexpr size_t kShortestCut = 20;     // a unit in the middle of a line is not cut shorter
constexpr uint64_t kLeastWords = 2000;  // below, there is nothing to spare
constexpr size_t kBufferIds = 1 << 16;
constexpr uint64_t kHoldoutSeed = 0x6b697468686f6c64;

std::span<const char> bytes_of(std::span<const WordId> ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size_bytes()};
}

}  // namespace

StreamBuilder::StreamBuilder(ScratchFile& out, uint64_t kept, uint64_t holdout)
    : out_(out),
      most_(kept < kLeastWords ? 0 : holdout),
      rule_(static_cast<double>(most_) / static_cast<double>(std::max<uint64_t>(1, kept))) {
  // A small text has little to take out: four pieces at least, or one long line would give none.
  unit_size_ = std::clamp<uint64_t>(most_ / 4, kShortestCut, kLongestUnit);
  unit_.resize(unit_size_ + 1);
  buffer_.reserve(kBufferIds + unit_size_ + 1);
  hash_ = XXH3_createState();
  if (!hash_) throw std::bad_alloc();
  XXH3_64bits_reset(hash_);
}

StreamBuilder::~StreamBuilder() { XXH3_freeState(hash_); }

void StreamBuilder::add(std::span<const uint32_t> provisional,
                        std::span<const uint32_t> final_numbers) {
  for (const uint32_t p : provisional) {
    if (p == WordCounter::kEnd) {
      close_line();
      continue;
    }
    const uint32_t row = final_numbers[p];
    unit_[unit_words_] = WordId{row};  // a dropped word is overwritten by the next
    unit_words_ += row != kDropped;
    if (unit_words_ == unit_size_) close_unit();
  }
}

void StreamBuilder::close_unit() {
  if (unit_words_ == 0) return;
  const auto unit = std::span(unit_).first(unit_words_);
  if (takes_out()) {
    held_out_.insert(held_out_.end(), unit.begin(), unit.end());
    held_out_.push_back(kSentenceEnd);
    taken_ += unit.size();
    // What stood before and behind it were not neighbours.
    if (after_word_) buffer_.push_back(kSentenceEnd);
    after_word_ = false;
  } else {
    buffer_.insert(buffer_.end(), unit.begin(), unit.end());
    words_ += unit.size();
    after_word_ = true;
  }
  unit_words_ = 0;
  if (buffer_.size() >= kBufferIds) flush();
}

bool StreamBuilder::takes_out() {
  const uint64_t unit = units_++;
  return rule_.takes(unit + kHoldoutSeed) && unit_words_ <= most_ - taken_;
}

void StreamBuilder::close_line() {
  close_unit();
  if (after_word_) buffer_.push_back(kSentenceEnd);
  after_word_ = false;
}

void StreamBuilder::flush() {
  const auto bytes = bytes_of(buffer_);
  XXH3_64bits_update(hash_, bytes.data(), bytes.size());
  out_.append(bytes);
  size_ += buffer_.size();
  buffer_.clear();
}

void StreamBuilder::finish() {
  close_line();
  flush();
  out_.flush();
  const auto bytes = bytes_of(held_out_);
  XXH3_64bits_update(hash_, bytes.data(), bytes.size());
}

uint64_t StreamBuilder::fingerprint() const { return XXH3_64bits_digest(hash_); }

}  // namespace kith
