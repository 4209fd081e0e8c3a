// SPDX-License-Identifier: Apache-2.0
#include "core/utf8.h"

#include <gtest/gtest.h>

namespace kith {
namespace {

std::string repaired(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    out += c.state == Utf8Char::kValid ? text.substr(0, c.length) : "?";
    text.remove_prefix(c.length);
  }
  return out;
}

TEST(Utf8, EveryCharacterSurvivesTheRoundTrip) {
  for (uint32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text;
    append_utf8(code, text);
    const Utf8Char c = decode_utf8(text);
    ASSERT_EQ(c.state, Utf8Char::kValid) << code;
    ASSERT_EQ(c.code, code);
    ASSERT_EQ(c.length, text.size());
  }
}

// Every sequence of one to three bytes, and those of four with a plain last one: what is taken for
// valid is the one way to write that character. With the test above, nothing else is valid.
TEST(Utf8, WhatIsValidIsWrittenInTheOneWay) {
  for (uint32_t bits = 0x80; bits < 1u << 24; ++bits) {
    const std::string text{static_cast<char>(bits), static_cast<char>(bits >> 8),
                           static_cast<char>(bits >> 16), '\x80'};
    const Utf8Char c = decode_utf8(text);
    if (c.state != Utf8Char::kValid) continue;
    std::string again;
    append_utf8(c.code, again);
    ASSERT_EQ(text.substr(0, c.length), again) << std::hex << bits;
    ASSERT_TRUE(c.code <= 0x10FFFF && (c.code < 0xD800 || c.code > 0xDFFF)) << std::hex << bits;
  }
}

// The examples of the Unicode standard, section 3.9, tables 3-8 to 3-11.
TEST(Utf8, BadSequencesAreAsLongAsTheStandardSays) {
  EXPECT_EQ(repaired("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), "????????A");
  EXPECT_EQ(repaired("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), "????????A");
  EXPECT_EQ(repaired("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), "?????A??B");
  EXPECT_EQ(repaired("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "????A");
}

TEST(Utf8, ACutCharacterIsCutAtEveryLength) {
  const std::string text = "\xF0\x9F\x98\x80";
  for (size_t n = 1; n < 4; ++n) {
    const Utf8Char c = decode_utf8(std::string_view(text).substr(0, n));
    EXPECT_EQ(c.state, Utf8Char::kCut);
    EXPECT_EQ(c.length, n);
  }
}

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_EQ(find_invalid_utf8("plain"), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("na\xC3\xAFve"), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("na\xEFve"), 2u);
  EXPECT_EQ(find_invalid_utf8("na\xC3"), 2u);
  EXPECT_EQ(find_invalid_utf8(""), std::string_view::npos);
  // Wherever it stands: behind ASCII, which is read eight bytes at a time, and other letters.
  for (size_t n = 0; n < 20; ++n) {
    for (const std::string letters : {"", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
      const std::string good = std::string(n, 'a') + letters + std::string(n, 'b');
      EXPECT_EQ(find_invalid_utf8(good), std::string_view::npos);
      for (const char* bad : {"\xC0\xAF", "\xC3", "\xC3x", "\x80", "\xED\xA0\x80", "\xFF"}) {
        EXPECT_EQ(find_invalid_utf8(good + bad), good.size()) << good << bad;
        EXPECT_EQ(find_invalid_utf8(good + bad + "tail of it"), good.size()) << good << bad;
      }
    }
  }
}

}  // namespace
}  // namespace kith
