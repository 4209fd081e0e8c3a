// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text as streams of word numbers. A corpus is read once: words get provisional numbers as they
// come, these go to a scratch file, and when all are counted one pass over the numbers puts the
// final ones (by frequency, rare words gone) in place. So text may be larger than memory, may be
// compressed, and may come from standard input.
//
// Memory: about 40 bytes + its letters per distinct word while reading, 12 bytes + letters per
// kept word afterwards, and buffers of a few MB, whatever the size of the text.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/fields.h"
#include "core/ids.h"
#include "core/names.h"
#include "io/file.h"

namespace kith {

enum class Tokens {
  kSpaces,  // what white space separates is a word, as it stands
  kWords,   // runs of letters, marks and digits (and apostrophes inside), in lower case
};
enum class InvalidUtf8 { kReplace, kDrop, kError };

struct CorpusOptions {
  Tokens tokens = Tokens::kSpaces;
  int64_t min_count = 5;
  int64_t max_vocab = 0;
  int64_t max_word = 1000;
  InvalidUtf8 invalid_utf8 = InvalidUtf8::kReplace;
  int64_t holdout = 50000;

  static constexpr std::tuple fields{
      field("tokens", &CorpusOptions::tokens,
            "what a word is: split at spaces, or lower-case runs of letters and digits"),
      field("min-count", &CorpusOptions::min_count, "drop words that occur less often")
          .between(1, 1e15),
      field("max-vocab", &CorpusOptions::max_vocab, "keep the most frequent words only; 0 for all")
          .between(0, 4e9),
      field("max-word", &CorpusOptions::max_word, "drop words of more bytes").between(1, 1e6),
      field("invalid-utf8", &CorpusOptions::invalid_utf8,
            "bytes that are not UTF-8: replace by U+FFFD, drop the word, or stop"),
      field("holdout", &CorpusOptions::holdout,
            "words held out to score the model, at most 1 % of the text; 0 for none")
          .between(0, 1e9),
  };
};

// What was seen on the way: printed before training, stored with the model.
struct CorpusProfile {
  uint64_t bytes = 0, lines = 0;
  uint64_t tokens = 0;        // words read
  uint64_t types = 0;         // distinct words read
  uint64_t kept = 0;          // words in the vocabulary, held-out ones included
  uint64_t too_long = 0;      // words over max-word, dropped
  uint64_t invalid_utf8 = 0;  // words with bytes that are not UTF-8
  uint64_t longest_line = 0;  // in words
};

struct Vocabulary {
  Names words;                   // most frequent first; ties in order of bytes
  std::vector<uint64_t> counts;  // how often each occurs in the text (held-out part included)
};

class Corpus {
 public:
  // Reads files in order ("-" is standard input). `scratch_folder` holds the nameless file of
  // numbers. `base`: words to keep in front, with their numbers and whatever their count, when
  // training goes on from a model (its counts are added); may be null.
  // `on_read(bytes, share)` is called about every 16 MiB; share is -1 when the size is unknown.
  // Errors name file, line or byte and remedy: UTF-16, NUL bytes, an empty input, no word frequent
  // enough (says the largest count), fewer than 2 words kept.
  static Corpus read(const std::vector<std::string>& paths, const CorpusOptions& options,
                     const std::string& scratch_folder, const Vocabulary* base = nullptr,
                     const std::function<void(uint64_t, double)>& on_read = {});

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const CorpusProfile& profile() const { return profile_; }

  // The training stream: words of the vocabulary with a kSentenceEnd after each line (none doubled,
  // none at the front, one at the very end).
  uint64_t size() const { return size_; }    // words and ends
  uint64_t words() const { return words_; }  // words only
  // Copies stream positions [begin, begin + out.size()); safe from several threads.
  void read(uint64_t begin, std::span<WordId> out) const;

  // Lines (or pieces of at most 1000 words of a longer one) that were taken out of the stream by a
  // fixed rule, each closed by kSentenceEnd.
  std::span<const WordId> held_out() const { return held_out_; }

  // A hash of the vocabulary and the stream: training is only resumed on the same text.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  Corpus() = default;
  Vocabulary vocabulary_;
  CorpusProfile profile_;
  std::unique_ptr<ScratchFile> stream_;
  std::vector<WordId> held_out_;
  uint64_t size_ = 0, words_ = 0, fingerprint_ = 0;
};

}  // namespace kith

template <>
struct kith::EnumNames<kith::Tokens> {
  static constexpr std::array<std::string_view, 2> names{"spaces", "words"};
};
template <>
struct kith::EnumNames<kith::InvalidUtf8> {
  static constexpr std::array<std::string_view, 3> names{"replace", "drop", "error"};
};
