// SPDX-License-Identifier: Apache-2.0
#pragma once
// UTF-8, strictly: no surrogates, no overlong forms, nothing above U+10FFFF. A bad sequence is as
// long as the Unicode standard says (3.9, "maximal subpart"), so that repairs agree with Python's
// errors="replace" and with browsers.

#include <cstdint>
#include <string>
#include <string_view>

namespace kith {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Utf8Char {
  enum State : uint8_t {
    kValid,
    kBad,  // `length` bytes that no valid text begins with
    kCut,  // all the bytes there are begin a character, and the rest is missing
  };
  uint32_t code;
  uint32_t length;
  State state;
};

// The character at the front of `text`, which must not be empty.
Utf8Char decode_utf8(std::string_view text);

// Where the first bad sequence begins, or npos. A cut one at the end is bad.
size_t find_invalid_utf8(std::string_view text);

void append_utf8(uint32_t code, std::string& out);

}  // namespace kith
