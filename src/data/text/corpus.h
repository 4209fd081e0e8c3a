// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text as streams of word numbers. A corpus is read once: words get provisional numbers as they
// come, these go to a scratch file, and when all are counted one pass over the numbers puts the
// final ones (by frequency, rare words gone) in place. So text may be larger than memory, may be
// compressed, and may come from standard input.
//
// Memory: about 40 bytes + its letters per distinct word while reading, about 25 bytes + letters
// per kept word afterwards, and buffers of a few MB, whatever the size of the text or of a line.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/names.h"
#include "data/dataset.h"
#include "data/text/corpus_options.h"
#include "data/text/text_look.h"
#include "io/file.h"

namespace kith {

// What was seen on the way: printed before training, stored with the model.
struct CorpusProfile {
  uint64_t bytes = 0, lines = 0;
  uint64_t tokens = 0;        // words read, those that were dropped included
  uint64_t types = 0;         // distinct words read, those too long or bad left out
  uint64_t kept = 0;          // words in the vocabulary, held-out ones included
  uint64_t too_long = 0;      // words over max-word, dropped
  uint64_t invalid_utf8 = 0;  // words with bytes that are not UTF-8
  uint64_t longest_line = 0;  // in words
};

struct Vocabulary {
  Names words;                   // most frequent first; ties in order of bytes
  std::vector<uint64_t> counts;  // how often each occurs in the text (held-out part included)
};

class Corpus final : public Dataset {
 public:
  using Base = Vocabulary;  // of a model to go on from
  // Reads files in order ("-" is standard input). `scratch_folder` holds the nameless file of
  // numbers. `base`: words to keep in front, with their numbers and whatever their count, when
  // training goes on from a model (its counts are added); may be null.
  // `on_read(bytes, share)` is called about every 16 MiB; share is -1 when the size is unknown.
  // Errors name file, line or byte and remedy: UTF-32, NUL bytes, an empty input, no word frequent
  // enough (says the largest count), fewer than 2 words kept.
  static Corpus read(const std::vector<std::string>& paths, const CorpusOptions& options,
                     const std::string& scratch_folder, const Vocabulary* base = nullptr,
                     const std::function<void(uint64_t, double)>& on_read = {});
  // The same from a stream of UTF-8; `name` is what messages call it.
  static Corpus read(std::unique_ptr<ByteSource> source, const std::string& name,
                     const CorpusOptions& options, const std::string& scratch_folder,
                     const Vocabulary* base = nullptr);

  // Dataset
  static const DataKind& data_kind();
  const DataKind& kind() const override { return data_kind(); }
  uint64_t size() const override { return words_; }
  uint64_t vectors() const override { return vocabulary_.words.size(); }
  uint64_t bytes() const override;
  uint64_t fingerprint() const override { return fingerprint_; }
  std::map<std::string, std::string> metadata() const override;
  Profile profile() const override;
  std::string example() const override;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const CorpusProfile& counts() const { return profile_; }

  // The training stream: words of the vocabulary with a kSentenceEnd after each line (none doubled,
  // none at the front, one at the very end).
  uint64_t length() const { return size_; }  // words and ends
  uint64_t words() const { return words_; }  // words only
  // Copies stream positions [begin, begin + out.size()); safe from several threads.
  void read(uint64_t begin, std::span<WordId> out) const;

  // Lines (or pieces of at most 1000 words of a longer one) that were taken out of the stream by a
  // fixed rule, each closed by kSentenceEnd.
  std::span<const WordId> held_out() const { return held_out_; }
  uint64_t held_out_words() const;

  const TextLook& look() const { return look_; }
  void add_note(Note note) { notes_.push_back(std::move(note)); }  // for the profile

 private:
  Corpus() = default;
  class Input;
  static Corpus read(Input& input, const CorpusOptions& options, const std::string& scratch_folder,
                     const Vocabulary* base);
  Vocabulary vocabulary_;
  CorpusProfile profile_;
  std::unique_ptr<ScratchFile> stream_;
  std::vector<WordId> held_out_;
  CorpusOptions options_;
  bool goes_on_ = false;  // with the words of a model
  TextLook look_;
  std::vector<Note> notes_;
  uint64_t size_ = 0, words_ = 0, fingerprint_ = 0;
};

}  // namespace kith
