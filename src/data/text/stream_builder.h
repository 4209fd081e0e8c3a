// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the training stream: sentence ends in order, and a fixed small part of the text taken
// out, by which the model is scored.

#include <cstdint>
#include <span>
#include <vector>

#include "core/ids.h"
#include "data/holdout.h"
#include "io/file.h"

struct XXH3_state_s;

namespace kith {

class StreamBuilder {
 public:
  // Marks a word that is not in the vocabulary.
  static constexpr uint32_t kDropped = 0xffffffff;

  // `kept`: how many words of the text are in the vocabulary; `holdout`: how many to take out,
  // about and at most.
  StreamBuilder(ScratchFile& out, uint64_t kept, uint64_t holdout);
  ~StreamBuilder();
  StreamBuilder(const StreamBuilder&) = delete;
  StreamBuilder& operator=(const StreamBuilder&) = delete;

  // Provisional numbers, WordCounter::kEnd between lines; final_numbers[n] is a row or kDropped.
  void add(std::span<const uint32_t> provisional, std::span<const uint32_t> final_numbers);
  // Ends the last line and the file.
  void finish();

  uint64_t size() const { return size_; }
  uint64_t words() const { return words_; }
  std::vector<WordId>& held_out() { return held_out_; }
  // XXH3 of the stream and then of the held-out part.
  uint64_t fingerprint() const;

 private:
  void close_unit();
  void close_line();
  bool takes_out();
  void flush();

  ScratchFile& out_;
  uint64_t most_;  // words that may be taken out
  HoldOut rule_;
  size_t unit_size_;  // longest unit, in words
  uint64_t units_ = 0, taken_ = 0;
  bool after_word_ = false;   // the stream does not end in a sentence end
  std::vector<WordId> unit_;  // unit_size_ + 1 elements, of which unit_words_ count
  size_t unit_words_ = 0;
  std::vector<WordId> buffer_;
  std::vector<WordId> held_out_;
  uint64_t size_ = 0, words_ = 0;
  XXH3_state_s* hash_;
};

}  // namespace kith
