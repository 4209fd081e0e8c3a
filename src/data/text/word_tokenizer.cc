// SPDX-License-Identifier: Apache-2.0
// Words as people see them: runs of letters, marks and digits in lower case. An apostrophe stays
// between two letters (don't), in one spelling. An emoji is a word of its own, with its skin tone
// and what is joined to it; whether it is drawn in colour (variation selectors) is no part of it.
// All else separates. Bytes that are not UTF-8 are taken for letters that were damaged, so that
// they spoil one word and do not make two.
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/utf8.h"
#include "data/text/tokenizer.h"
#include "io/nfc.h"

namespace kith {
namespace {

enum Class : uint8_t {
  kLetter,
  kUpper,
  kDigit,
  kApostrophe,
  kOther,
  kLineEnd,
  kNul,
  kBeyondAscii,
  // Of emoji:
  kPicture,
  kAddition,  // a skin tone, or a tag of a flag
  kFlagHalf,  // two of them are the flag of a country
  kJoiner,
  kSelector,
};

constexpr std::array<Class, 256> kClasses = [] {
  std::array<Class, 256> out{};
  for (int c = 0; c < 256; ++c) out[static_cast<size_t>(c)] = c < 128 ? kOther : kBeyondAscii;
  for (int c = 'a'; c <= 'z'; ++c) out[static_cast<size_t>(c)] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) out[static_cast<size_t>(c)] = kUpper;
  for (int c = '0'; c <= '9'; ++c) out[static_cast<size_t>(c)] = kDigit;
  out['\''] = kApostrophe;
  out['\n'] = kLineEnd;
  out['\0'] = kNul;
  return out;
}();
Class class_of(char c) { return kClasses[static_cast<uint8_t>(c)]; }
bool is_plain(char c) { return class_of(c) == kLetter || class_of(c) == kDigit; }

struct CodeRange {
  uint32_t first, last;
};
// Where pictures stand that people use as emoji; those before, such as (c), arrows and bullets, are
// signs.
constexpr CodeRange kPictures[] = {
    {0x231A, 0x23FF}, {0x2600, 0x27BF}, {0x2B1B, 0x2B55}, {0x1F000, 0x1FAFF}};

// kOther for what has no part in emoji.
Class emoji_class(uint32_t code) {
  const auto within = [code](const CodeRange& r) { return code >= r.first && code <= r.last; };
  if (code == 0x200D) return kJoiner;
  if (is_variation_selector(code)) return kSelector;
  if (within({0x1F1E6, 0x1F1FF})) return kFlagHalf;
  if (within({0x1F3FB, 0x1F3FF}) || within({0xE0020, 0xE007F})) return kAddition;
  if (std::ranges::none_of(kPictures, within)) return kOther;
  const auto* const property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
  return property->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC ? kPicture : kOther;
}

Class class_of_code(uint32_t code) {
  if (code == 0x2019) return kApostrophe;  // the typographic one
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ME) return kLetter;
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) return kDigit;
  return kOther;
}

class WordTokenizer final : public Tokenizer {
 public:
  WordTokenizer(const CorpusOptions& options, Sink sink)
      : Tokenizer(options, std::move(sink)), knows_emoji_(options.emoji) {}

 private:
  void scan(const char* p, const char* end) override {
    while (p != end) {
      if (!cut_.empty()) {
        p = resume_cut(p);
      } else if (is_plain(*p)) {
        p = scan_plain(p, end);
      } else if (class_of(*p) == kBeyondAscii) {
        p = scan_character(p, end);
      } else {
        scan_ascii(p, end);
        ++p;
      }
    }
  }

  // A run of small letters and digits: most words are one and go without a copy.
  const char* scan_plain(const char* p, const char* end) {
    const char* const begin = p;
    while (p != end && is_plain(*p)) ++p;
    const bool whole = p != end && (class_of(*p) == kOther || class_of(*p) == kLineEnd);
    if (whole && !in_word_) {
      take({begin, p});
      return p;
    }
    // An apostrophe that waits is decided by the first of them.
    add({begin, begin + 1}, class_of(*begin));
    if (p > begin + 1) add({begin + 1, p}, class_of(p[-1]));
    return p;
  }

  void scan_ascii(const char* p, const char* end) {
    switch (class_of(*p)) {
      case kUpper: {
        const char lower = static_cast<char>(*p | 0x20);
        add({&lower, 1}, kLetter);
        after_capital_i_ = *p == 'I';
        return;
      }
      case kApostrophe:
        return add_apostrophe();
      case kLineEnd:
        finish_run();
        return end_line();
      case kNul:
        fail_nul(p, end);
      default:
        finish_run();
    }
  }

  const char* scan_character(const char* p, const char* end) {
    const Utf8Char c = decode_utf8({p, end});
    if (c.state == Utf8Char::kCut) {
      cut_.assign(p, end);
      cut_offset_ = offset_of(p);
      return end;
    }
    add_character(c, offset_of(p), static_cast<uint8_t>(*p));
    return p + c.length;
  }

  // One more byte for a character that the end of the last piece cut.
  const char* resume_cut(const char* p) {
    cut_ += *p;
    const Utf8Char c = decode_utf8(cut_);
    if (c.state == Utf8Char::kCut) return p + 1;
    add_character(c, cut_offset_, static_cast<uint8_t>(cut_[0]));
    cut_.clear();
    // A bad sequence ends before the byte that showed it to be bad.
    return c.state == Utf8Char::kValid ? p + 1 : p;
  }

  void add_character(const Utf8Char& c, uint64_t offset, uint8_t first_byte) {
    if (c.state != Utf8Char::kValid) {
      if (stops_at_invalid()) fail_invalid(offset, first_byte);
      add(kReplacement, kDigit);
      damaged_ = true;
      return;
    }
    if (const Class type = knows_emoji_ ? emoji_class(c.code) : kOther; type != kOther) {
      return add_emoji(c.code, type);
    }
    const Class type = class_of_code(c.code);
    if (knows_emoji_ && type == kLetter && belongs_to_last(c.code)) return;
    if (type == kApostrophe) return add_apostrophe();
    if (type == kOther) return finish_run();
    lower_.clear();
    append_utf8(static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c.code))),
                lower_);
    add(lower_, type);
  }

  // A mark on a sign is no word, and the dot of a capital I goes with its case: so a text gives the
  // same words whether its signs and letters are composed or not.
  bool belongs_to_last(uint32_t code) const {
    constexpr uint32_t kDotAbove = 0x307;
    if (in_word_ && emoji_ == Emoji::kNone) return code == kDotAbove && after_capital_i_;
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
    return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
  }

  void add_emoji(uint32_t code, Class type) {
    if (type == kSelector) return;
    if (type == kJoiner) {  // joins two emoji; elsewhere it separates
      emoji_ == Emoji::kOpen ? void(emoji_ = Emoji::kJoined) : finish_run();
      return;
    }
    lower_.clear();
    append_utf8(code, lower_);
    const bool goes_on = (emoji_ == Emoji::kJoined && type == kPicture) ||
                         (emoji_ == Emoji::kFlag && type == kFlagHalf) ||
                         (emoji_ == Emoji::kOpen && type == kAddition);
    if (!goes_on) {
      finish_run();
      if (type == kAddition) return;  // to nothing
      start_open_word();
      in_word_ = true;
    }
    if (goes_on && type == kPicture) extend_open_word(kZeroWidthJoiner);
    extend_open_word(lower_);
    emoji_ = type == kFlagHalf && !goes_on ? Emoji::kFlag : Emoji::kOpen;
  }

  void add_apostrophe() {
    if (in_word_ && after_letter_ && !apostrophe_) {
      apostrophe_ = true;
    } else {
      finish_run();
    }
  }

  void add(std::string_view bytes, Class type) {
    if (emoji_ != Emoji::kNone || (apostrophe_ && type != kLetter)) finish_run();
    if (!in_word_) {
      start_open_word();
      in_word_ = true;
    }
    if (apostrophe_) extend_open_word("'");
    extend_open_word(bytes);
    apostrophe_ = after_capital_i_ = false;
    after_letter_ = type == kLetter;
  }

  void finish_run() {
    if (!in_word_) return;
    if (damaged_ && open_word().size() <= max_word_ && !keep_invalid()) {
      count_word();
    } else {
      take(open_word());
    }
    close_open_word();
    in_word_ = apostrophe_ = after_letter_ = damaged_ = false;
    emoji_ = Emoji::kNone;
  }

  void finish_word() override {
    if (!cut_.empty()) {
      add_character({0, 0, Utf8Char::kBad}, cut_offset_, static_cast<uint8_t>(cut_[0]));
      cut_.clear();
    }
    finish_run();
  }

  void take(std::string_view word) {
    count_word();
    if (word.size() > max_word_) {
      ++counts_.too_long;
    } else {
      emit(word);
    }
  }

  // What the open word is, if it is one: half a flag, or an emoji behind which a joiner stood.
  enum class Emoji : uint8_t { kNone, kOpen, kJoined, kFlag };
  static constexpr std::string_view kZeroWidthJoiner = "\xE2\x80\x8D";

  const bool knows_emoji_;
  Emoji emoji_ = Emoji::kNone;
  bool in_word_ = false;
  bool after_letter_ = false;  // the last character was a letter or a mark
  bool apostrophe_ = false;    // one follows that letter; it stays if another letter comes
  bool after_capital_i_ = false;
  bool damaged_ = false;  // the word holds bytes that were not UTF-8
  std::string cut_;       // the first bytes of a character, at most 3
  uint64_t cut_offset_ = 0;
  std::string lower_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_word_tokenizer(const CorpusOptions& options, Tokenizer::Sink sink) {
  return std::make_unique<WordTokenizer>(options, std::move(sink));
}

}  // namespace kith
