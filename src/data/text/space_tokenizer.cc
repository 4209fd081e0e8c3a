// SPDX-License-Identifier: Apache-2.0
// Words as white space separates them. The hot loop of reading: eight bytes a step.
#include <bit>
#include <cstring>
#include <utility>

#include "core/utf8.h"
#include "data/text/tokenizer.h"

namespace kith {
namespace {

// Ends a word. A NUL does too, so that the loop meets it; other control characters are bytes of
// words like any other.
constexpr bool is_separator(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

constexpr uint64_t kEach = 0x0101010101010101;
constexpr uint64_t kTop = 0x80 * kEach;

// The first separator at or after p; `top` gets a bit for each byte above 0x7f before it.
inline const char* find_word_end(const char* p, const char* end, uint64_t& top) {
  if constexpr (std::endian::native == std::endian::little) {
    while (end - p >= 8) {
      uint64_t v;
      std::memcpy(&v, p, 8);
      // Marks bytes below 0x21. A borrow can mark a byte wrongly only behind a rightly marked one.
      const uint64_t low = (v - 0x21 * kEach) & ~v & kTop;
      if (low == 0) {
        top |= v & kTop;
        p += 8;
        continue;
      }
      top |= v & kTop & (low ^ (low - 1));
      p += std::countr_zero(low) / 8;
      if (is_separator(*p)) return p;
      ++p;
    }
  }
  for (; p != end && !is_separator(*p); ++p) top |= static_cast<uint8_t>(*p) & 0x80;
  return p;
}

class SpaceTokenizer final : public Tokenizer {
 public:
  SpaceTokenizer(const CorpusOptions& options, Sink sink) : Tokenizer(options, std::move(sink)) {}

 private:
  void scan(const char* p, const char* end) override {
    if (is_open_) {
      const char* const begin = p;
      p = find_word_end(p, end, open_top_);
      extend_open_word({begin, p});
      if (p == end) return;
      finish_word();
    }
    for (; p != end; ++p) {
      const char c = *p;
      if (c == '\n') {
        end_line();
      } else if (!is_separator(c)) {
        const char* const word = p;
        uint64_t top = 0;
        p = find_word_end(p, end, top);
        if (p == end) return keep_open(word, end, top);
        take({word, p}, top != 0, offset_of(word));
        --p;
      } else if (c == '\0') {
        fail_nul(p, end);
      }
    }
  }

  void finish_word() override {
    if (!is_open_) return;
    is_open_ = false;
    take(open_word(), open_top_ != 0, open_offset_);
    close_open_word();
  }

  void keep_open(const char* begin, const char* end, uint64_t top) {
    start_open_word();
    extend_open_word({begin, end});
    is_open_ = true;
    open_top_ = top;
    open_offset_ = offset_of(begin);
  }

  void take(std::string_view word, bool has_top, uint64_t offset) {
    count_word();
    if (word.size() > max_word_) {
      ++counts_.too_long;
    } else if (const size_t bad = has_top ? find_invalid_utf8(word) : word.npos; bad == word.npos) {
      emit(word);
    } else {
      take_invalid(word, bad, offset);
    }
  }

  void take_invalid(std::string_view word, size_t bad, uint64_t offset) {
    if (stops_at_invalid()) fail_invalid(offset + bad, static_cast<uint8_t>(word[bad]));
    if (!keep_invalid()) return;
    start_open_word();
    while (!word.empty()) {
      const Utf8Char c = decode_utf8(word);
      extend_open_word(c.state == Utf8Char::kValid ? word.substr(0, c.length) : kReplacement);
      word.remove_prefix(c.length);
    }
    if (open_word().size() > max_word_) {
      ++counts_.too_long;
    } else {
      emit(open_word());
    }
    close_open_word();
  }

  bool is_open_ = false;
  uint64_t open_top_ = 0;
  uint64_t open_offset_ = 0;
};

}  // namespace

std::unique_ptr<Tokenizer> make_space_tokenizer(const CorpusOptions& options,
                                                Tokenizer::Sink sink) {
  return std::make_unique<SpaceTokenizer>(options, std::move(sink));
}

}  // namespace kith
