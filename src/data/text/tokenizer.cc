// SPDX-License-Identifier: Apache-2.0
// What both tokenizers share: files, lines, batches, errors with a place.
#include "data/text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace kith {
namespace {

constexpr size_t kTextBytes = 1 << 16;
constexpr size_t kLongestCharacter = 4;  // bytes

}  // namespace

Tokenizer::Tokenizer(const CorpusOptions& options, Sink sink)
    : max_word_(static_cast<size_t>(options.max_word)),
      invalid_(options.invalid_utf8),
      paragraphs_(options.paragraphs),
      sink_(std::move(sink)) {
  // Room for the open word and for its repaired copy behind it.
  text_.reserve(kTextBytes + 2 * (max_word_ + kLongestCharacter));
}

void Tokenizer::begin_file(std::string name) {
  name_ = std::move(name);
  open_line_ = false;
  piece_offset_ = file_lines_ = 0;
}

void Tokenizer::feed(std::span<const char> bytes) {
  if (bytes.empty()) return;
  counts_.bytes += bytes.size();
  piece_ = bytes.data();
  scan(bytes.data(), bytes.data() + bytes.size());
  flush();  // the views into the piece die with it
  piece_offset_ += bytes.size();
  open_line_ = bytes.back() != '\n';
}

void Tokenizer::end_file() {
  finish_word();
  if (open_line_) end_line();
  end_unit();
  flush();
}

void Tokenizer::end_line() {
  ++counts_.lines;
  ++file_lines_;
  counts_.words += line_words_;
  unit_words_ += line_words_;
  if (!paragraphs_ || line_words_ == 0) end_unit();
  line_words_ = 0;
}

void Tokenizer::end_unit() {
  counts_.longest_line = std::max(counts_.longest_line, unit_words_);
  if (unit_words_ > 0) emit({});
  unit_words_ = 0;
}

void Tokenizer::flush() {
  if (batched_ > 0) sink_(std::span(batch_.data(), batched_));
  batched_ = 0;
  text_.erase(0, open_);
  open_ = 0;
}

void Tokenizer::start_open_word() {
  // Flushing moves the bytes behind open_ to the front; there are none now.
  if (text_.size() > kTextBytes) flush();
  open_ = text_.size();
}

void Tokenizer::extend_open_word(std::string_view bytes) {
  text_ += bytes.substr(0, max_word_ + 1 - std::min(open_word().size(), max_word_ + 1));
}

bool Tokenizer::keep_invalid() {
  ++counts_.invalid_utf8;
  return invalid_ == InvalidUtf8::kReplace;
}

void Tokenizer::fail_invalid(uint64_t offset, uint8_t byte) const {
  throw fault(ErrorKind::kInput,
              "{}:{}: not UTF-8 at byte {} (found 0x{:02x}); give the encoding of the text, such "
              "as --encoding latin-1, or let --invalid-utf8 replace or drop such words",
              name_, file_lines_ + 1, offset, byte);
}

void Tokenizer::fail_nul(const char* at, const char* end) const {
  // Latin letters in UTF-16 have a NUL each, on one side or the other.
  const bool utf16 = end - at > 2 && at[1] != 0 && at[2] == 0;
  throw fault(ErrorKind::kInput, "{}:{}: NUL byte at byte {}; {}", name_, file_lines_ + 1,
              offset_of(at),
              utf16 ? "every second byte is one, so this is likely UTF-16: say so with "
                      "--encoding utf-16"
                    : "text has none: remove them with: tr -d '\\000'");
}

std::unique_ptr<Tokenizer> make_tokenizer(const CorpusOptions& options, Tokenizer::Sink sink) {
  return options.tokens != Tokens::kWords ? make_space_tokenizer(options, std::move(sink))
                                          : make_word_tokenizer(options, std::move(sink));
}

}  // namespace kith
