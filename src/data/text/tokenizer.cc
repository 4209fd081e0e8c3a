// SPDX-License-Identifier: Apache-2.0
// What both tokenizers share: files and their first bytes, lines, batches, errors with a place.
#include "data/text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace kith {
namespace {

constexpr size_t kTextBytes = 1 << 16;
constexpr size_t kLongestMark = 4;  // bytes of a UTF-32 byte-order mark
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

std::string_view foreign_encoding(std::string_view head) {
  using namespace std::string_view_literals;
  // UTF-32 first: its little-endian mark begins with that of UTF-16.
  if (head.starts_with("\xFF\xFE\0\0"sv) || head.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (head.starts_with("\xFF\xFE"sv) || head.starts_with("\xFE\xFF"sv)) return "UTF-16";
  return "";
}

}  // namespace

Tokenizer::Tokenizer(const CorpusOptions& options, Sink sink)
    : max_word_(static_cast<size_t>(options.max_word)),
      invalid_(options.invalid_utf8),
      sink_(std::move(sink)) {
  // Room for the open word and for its repaired copy behind it.
  text_.reserve(kTextBytes + 2 * (max_word_ + kLongestMark));
}

void Tokenizer::begin_file(std::string name) {
  name_ = std::move(name);
  head_.clear();
  in_head_ = true;
  open_line_ = false;
  piece_offset_ = file_lines_ = 0;
}

void Tokenizer::feed(std::span<const char> bytes) {
  counts_.bytes += bytes.size();
  std::string_view piece(bytes.data(), bytes.size());
  if (in_head_) {
    const size_t taken = std::min(piece.size(), kLongestMark - head_.size());
    head_ += piece.substr(0, taken);
    piece.remove_prefix(taken);
    if (head_.size() < kLongestMark) return;
    check_head();
  }
  scan_piece(piece);
}

void Tokenizer::check_head() {
  in_head_ = false;
  if (const auto encoding = foreign_encoding(head_); !encoding.empty()) {
    throw fault(ErrorKind::kInput,
                "{}: this is {} text, which begins with its byte-order mark; convert it with: "
                "iconv -f {} -t UTF-8",
                name_, encoding, encoding);
  }
  std::string_view head = head_;
  if (head.starts_with(kUtf8Mark)) {
    head.remove_prefix(kUtf8Mark.size());
    piece_offset_ = kUtf8Mark.size();
  }
  scan_piece(head);
}

void Tokenizer::scan_piece(std::string_view piece) {
  if (piece.empty()) return;
  piece_ = piece.data();
  scan(piece.data(), piece.data() + piece.size());
  flush();  // the views into the piece die with it
  piece_offset_ += piece.size();
  open_line_ = piece.back() != '\n';
}

void Tokenizer::end_file() {
  if (in_head_) check_head();
  finish_word();
  if (open_line_) end_line();
  flush();
}

void Tokenizer::end_line() {
  ++counts_.lines;
  ++file_lines_;
  counts_.words += line_words_;
  counts_.longest_line = std::max(counts_.longest_line, line_words_);
  if (line_words_ > 0) emit({});
  line_words_ = 0;
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
              "{}:{}: not UTF-8 at byte {} (found 0x{:02x}); convert the text, for instance with: "
              "iconv -f LATIN1 -t UTF-8, or let --invalid-utf8 replace or drop such words",
              name_, file_lines_ + 1, offset, byte);
}

void Tokenizer::fail_nul(const char* at, const char* end) const {
  // Latin letters in UTF-16 have a NUL each, on one side or the other.
  const bool utf16 = end - at > 2 && at[1] != 0 && at[2] == 0;
  throw fault(ErrorKind::kInput, "{}:{}: NUL byte at byte {}; {}", name_, file_lines_ + 1,
              offset_of(at),
              utf16 ? "every second byte is one, so this is likely UTF-16: convert it with: "
                      "iconv -f UTF-16LE -t UTF-8 (or UTF-16BE)"
                    : "text has none: remove them with: tr -d '\\000'");
}

std::unique_ptr<Tokenizer> make_tokenizer(const CorpusOptions& options, Tokenizer::Sink sink) {
  return options.tokens != Tokens::kWords ? make_space_tokenizer(options, std::move(sink))
                                          : make_word_tokenizer(options, std::move(sink));
}

}  // namespace kith
