// SPDX-License-Identifier: Apache-2.0
#include "core/utf8.h"

#include <bit>
#include <cstring>

namespace kith {
namespace {

// What the standard's table 3-7 allows after a first byte: how many bytes follow, and the range
// of the second, which is where overlong forms, surrogates and the upper bound are told.
struct Lead {
  uint32_t following;
  uint8_t low, high;
};
constexpr Lead lead_of(uint8_t first) {
  if (first >= 0xC2 && first <= 0xDF) return {1, 0x80, 0xBF};
  if (first == 0xE0) return {2, 0xA0, 0xBF};
  if (first == 0xED) return {2, 0x80, 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {2, 0x80, 0xBF};
  if (first == 0xF0) return {3, 0x90, 0xBF};
  if (first >= 0xF1 && first <= 0xF3) return {3, 0x80, 0xBF};
  if (first == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

// The first byte above 0x7f at or behind `i`, or the end; most texts are ASCII, eight bytes a step.
size_t find_above_ascii(std::string_view text, size_t i) {
  constexpr uint64_t kTop = 0x8080808080808080;
  for (uint64_t v; i + 8 <= text.size(); i += 8) {
    std::memcpy(&v, text.data() + i, 8);
    if ((v & kTop) == 0) continue;
    if constexpr (std::endian::native != std::endian::little) break;
    return i + static_cast<size_t>(std::countr_zero(v & kTop)) / 8;
  }
  while (i < text.size() && static_cast<uint8_t>(text[i]) < 0x80) ++i;
  return i;
}

// A character of two bytes at `i`, such as the accented letters of Europe, without the table above.
bool is_pair(std::string_view text, size_t i) {
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(text[at]); };
  return i + 1 < text.size() && byte(i) >= 0xC2 && byte(i) <= 0xDF && (byte(i + 1) & 0xC0) == 0x80;
}

}  // namespace

Utf8Char decode_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1, Utf8Char::kValid};
  const Lead lead = lead_of(first);
  if (lead.following == 0) return {0, 1, Utf8Char::kBad};
  uint32_t code = first & (0x3Fu >> lead.following);
  for (uint32_t i = 1; i <= lead.following; ++i) {
    if (i == text.size()) return {0, i, Utf8Char::kCut};
    const uint8_t low = i == 1 ? lead.low : 0x80, high = i == 1 ? lead.high : 0xBF;
    if (byte(i) < low || byte(i) > high) return {0, i, Utf8Char::kBad};
    code = code << 6 | (byte(i) & 0x3F);
  }
  return {code, lead.following + 1, Utf8Char::kValid};
}

size_t find_invalid_utf8(std::string_view text) {
  for (size_t i = find_above_ascii(text, 0); i < text.size(); i = find_above_ascii(text, i)) {
    if (is_pair(text, i)) {
      i += 2;
      continue;
    }
    const Utf8Char c = decode_utf8(text.substr(i));
    if (c.state != Utf8Char::kValid) return i;
    i += c.length;
  }
  return std::string_view::npos;
}

void append_utf8(uint32_t code, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    tail(12), tail(6), tail(0);
  }
}

}  // namespace kith
