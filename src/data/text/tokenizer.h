// SPDX-License-Identifier: Apache-2.0
#pragma once
// UTF-8 -> words, in pieces of any size: a word or a character may be cut between two pieces.
// Memory is bounded by max-word, whatever the length of a line or a word.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/text/corpus_options.h"

namespace kith {

class Tokenizer {
 public:
  // Takes words in order; an empty one ends a line that had some, or, with `paragraphs`, the lines
  // up to one without words. The views die with the call.
  using Sink = std::function<void(std::span<const std::string_view>)>;

  struct Counts {
    uint64_t bytes = 0, lines = 0;
    uint64_t words = 0;         // dropped ones included
    uint64_t too_long = 0;      // words over max-word, dropped
    uint64_t invalid_utf8 = 0;  // words with bytes that are not UTF-8
    uint64_t longest_line = 0;  // or paragraph, in words
  };

  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Once per file: begin, feed piece by piece, end. The end of a file ends word and line.
  // Error(kInput) with file, line and byte offset: NUL bytes, and invalid UTF-8 if that is the
  // policy.
  void begin_file(std::string name);
  void feed(std::span<const char> bytes);
  void end_file();

  const Counts& counts() const { return counts_; }

 protected:
  Tokenizer(const CorpusOptions& options, Sink sink);

  // Cuts a piece; whatever is unfinished at its end is kept in the open word.
  virtual void scan(const char* begin, const char* end) = 0;
  virtual void finish_word() = 0;  // the file ends: so does the open word, if any

  // A finished word that lives in the piece or in the open word's buffer.
  void emit(std::string_view word) {
    batch_[batched_++] = word;
    if (batched_ == batch_.size()) flush();
  }
  void count_word() { ++line_words_; }
  void end_line();

  // The open word: bytes that must outlive their piece, or that differ from it (lower case,
  // repairs). Holds at most max-word + 1 bytes, so a longer word is told by its length.
  std::string_view open_word() const { return std::string_view(text_).substr(open_); }
  void start_open_word();
  void extend_open_word(std::string_view bytes);
  void close_open_word() { open_ = text_.size(); }  // its bytes stay until the next flush

  // Counts a word with bad bytes and says whether the policy keeps it.
  bool keep_invalid();
  bool stops_at_invalid() const { return invalid_ == InvalidUtf8::kError; }
  [[noreturn]] void fail_invalid(uint64_t offset, uint8_t byte) const;
  [[noreturn]] void fail_nul(const char* at, const char* end) const;

  uint64_t offset_of(const char* p) const {
    return piece_offset_ + static_cast<uint64_t>(p - piece_);
  }

  const size_t max_word_;
  Counts counts_;

 private:
  void flush();
  void end_unit();

  const InvalidUtf8 invalid_;
  const bool paragraphs_;
  Sink sink_;
  std::string name_;
  const char* piece_ = nullptr;
  uint64_t piece_offset_ = 0;  // of piece_ in the file
  uint64_t file_lines_ = 0;
  uint64_t line_words_ = 0, unit_words_ = 0;  // a unit: what stands together
  bool open_line_ = false;                    // the last byte of the file so far was no line feed

  std::array<std::string_view, 512> batch_;
  size_t batched_ = 0;
  // Never grows beyond its first capacity: batched words point into it.
  std::string text_;
  size_t open_ = 0;
};

// The tokenizer for options.tokens.
std::unique_ptr<Tokenizer> make_tokenizer(const CorpusOptions& options, Tokenizer::Sink sink);
std::unique_ptr<Tokenizer> make_space_tokenizer(const CorpusOptions& options, Tokenizer::Sink sink);
std::unique_ptr<Tokenizer> make_word_tokenizer(const CorpusOptions& options, Tokenizer::Sink sink);

}  // namespace kith
