// SPDX-License-Identifier: Apache-2.0
#include "io/text_source.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"
#include "io/raw_input.h"

namespace kith {
namespace {

using namespace std::string_view_literals;

constexpr size_t kLongestMark = 4;     // bytes of that of UTF-32
constexpr size_t kLookedAt = 1 << 12;  // bytes of UTF-16 without a mark
constexpr char kNoCharacter = '\xFF';

// Bytes 0x80 to 0x9f. Five have no character and stay what they are in Latin-1, as in browsers.
constexpr std::array<uint16_t, 32> kWindows{
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

std::string_view view(std::span<const char> bytes) { return {bytes.data(), bytes.size()}; }

class Utf8Source final : public ByteSource {
 public:
  Utf8Source(std::unique_ptr<ByteSource> source, TextEncoding encoding, std::string where)
      : source_(std::move(source)), encoding_(encoding), where_(std::move(where)) {}

  std::span<const char> next() override {
    if (!std::exchange(begun_, true)) begin();
    for (;;) {
      if (rest_.empty()) rest_ = view(source_->next());
      const bool ended = rest_.empty();
      // A byte becomes three at most, and a piece has 1 MiB at most.
      const size_t most = encoding_ == TextEncoding::kUtf8 ? kPiece : kPiece / 3;
      const std::string_view taken = rest_.substr(0, most);
      rest_.remove_prefix(taken.size());
      if (encoding_ == TextEncoding::kUtf8) return taken;
      out_.clear();
      decode(taken);
      if (ended) finish();
      if (ended || !out_.empty()) return out_;
    }
  }
  double share() const override { return source_->share(); }

 private:
  // Looks at the first bytes: always as many, or what is said of a text would depend on the pieces
  // that it comes in.
  void begin() {
    const size_t looked_at = encoding_ == TextEncoding::kUtf16 ? kLookedAt : kLongestMark;
    rest_ = view(source_->next());
    if (rest_.size() < looked_at) {
      for (start_ = rest_; start_.size() < looked_at; start_ += rest_) {
        if ((rest_ = view(source_->next())).empty()) break;
      }
      rest_ = start_;
    }
    // UTF-32 first: its little-endian mark begins with that of UTF-16.
    if (rest_.starts_with("\xFF\xFE\0\0"sv) || rest_.starts_with("\0\0\xFE\xFF"sv)) {
      throw fault(
          ErrorKind::kInput,
          "{}: this is UTF-32 text, which begins with its byte-order mark; convert it with: "
          "iconv -f UTF-32 -t UTF-8",
          where_ == "-" ? "standard input" : where_);
    }
    if (encoding_ == TextEncoding::kUtf16) big_ = is_big_endian(rest_.substr(0, looked_at));
    if (rest_.starts_with("\xEF\xBB\xBF")) {
      rest_.remove_prefix(3);
      encoding_ = TextEncoding::kUtf8;
    } else if (rest_.starts_with("\xFF\xFE") || rest_.starts_with("\xFE\xFF")) {
      big_ = rest_[0] == '\xFE';
      rest_.remove_prefix(2);
      encoding_ = TextEncoding::kUtf16;
    }
  }

  // By where its zeros stand: Latin letters have one each, and blanks and line ends in any script.
  static bool is_big_endian(std::string_view text) {
    std::array<size_t, 2> zeros{};
    for (size_t i = 0; i < text.size(); ++i) zeros[i % 2] += text[i] == '\0';
    return zeros[0] > zeros[1];
  }

  void decode(std::string_view bytes) {
    if (encoding_ == TextEncoding::kUtf16) {
      for (const char c : bytes) add_half(static_cast<uint8_t>(c));
      return;
    }
    for (const char c : bytes) {
      const auto byte = static_cast<uint8_t>(c);
      const bool windows = encoding_ == TextEncoding::kWindows1252 && (byte & 0xE0) == 0x80;
      append_utf8(windows ? kWindows[byte & 0x1F] : byte, out_);
    }
  }

  void add_half(uint8_t byte) {
    if (half_ < 0) {
      half_ = byte;
      return;
    }
    const auto first = static_cast<uint32_t>(std::exchange(half_, -1));
    add_unit(big_ ? first << 8 | byte : uint32_t{byte} << 8 | first);
  }

  // Two surrogates, a high and a low one, are a character; one alone is none.
  void add_unit(uint32_t unit) {
    const bool is_low = unit >= 0xDC00 && unit <= 0xDFFF;
    const uint32_t high = std::exchange(high_, 0);
    if (high && is_low) return append_utf8(0x10000 + ((high & 0x3FF) << 10) + (unit & 0x3FF), out_);
    if (high) out_ += kNoCharacter;
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      high_ = unit;
    } else if (is_low) {
      out_ += kNoCharacter;
    } else {
      append_utf8(unit, out_);
    }
  }

  void finish() {
    if (high_ || half_ >= 0) out_ += kNoCharacter;
    high_ = 0;
    half_ = -1;
  }

  std::unique_ptr<ByteSource> source_;
  TextEncoding encoding_;
  std::string where_;
  bool begun_ = false;
  bool big_ = false;       // UTF-16 with the high byte first
  std::string start_;      // the first bytes, if they came in several pieces
  std::string_view rest_;  // of the last piece
  std::string out_;
  int half_ = -1;      // the first byte of a unit of UTF-16 whose second has not come
  uint32_t high_ = 0;  // likewise the first surrogate of a pair
};

}  // namespace

std::unique_ptr<ByteSource> as_utf8(std::unique_ptr<ByteSource> source, TextEncoding encoding,
                                    std::string where) {
  return std::make_unique<Utf8Source>(std::move(source), encoding, std::move(where));
}

}  // namespace kith
