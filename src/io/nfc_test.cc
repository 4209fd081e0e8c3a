// SPDX-License-Identifier: Apache-2.0
#include "io/nfc.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <optional>

#include "core/utf8.h"

namespace kith {
namespace {

std::string of_library(const std::string& text, bool composed) {
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.c_str());
  utf8proc_uint8_t* const out = composed ? utf8proc_NFC(bytes) : utf8proc_NFD(bytes);
  std::string copy(reinterpret_cast<const char*>(out));
  free(out);
  return copy;
}

std::string utf8(uint32_t code) {
  std::string out;
  append_utf8(code, out);
  return out;
}

TEST(Nfc, BothSpellingsAreOne) {
  EXPECT_EQ(nfc("cafe\xCC\x81"), "caf\xC3\xA9");
  EXPECT_EQ(nfc("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(nfc("\xE2\x84\xAB"), "\xC3\x85");                              // Angstrom's sign
  EXPECT_EQ(nfc("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"), "\xED\x95\x9C");  // Hangul
  EXPECT_EQ(nfc("plain"), "plain");
  EXPECT_EQ(nfc(""), "");
}

TEST(Nfc, AWordIsFoundAsTextsAreRead) {
  const auto among = [](std::string_view known) {
    return [known](std::string_view word) {
      return word == known ? std::optional<int>(1) : std::nullopt;
    };
  };
  EXPECT_TRUE(find_as_read("\u2764\uFE0F", among("\u2764\uFE0F")));  // as it stands
  EXPECT_TRUE(find_as_read("\u2764\uFE0F", among("\u2764")));
  EXPECT_TRUE(find_as_read("\u2764\uFE0F\u200D\U0001F525", among("\u2764\u200D\U0001F525")));
  EXPECT_TRUE(find_as_read("cafe\u0301", among("caf\u00E9")));
  EXPECT_FALSE(find_as_read("cafe\u0301", among("cafe")));
}

TEST(Nfc, TextThatIsNotUtf8StaysAsItIs) {
  EXPECT_EQ(nfc("e\xCC\x81\xFF"), "e\xCC\x81\xFF");
  EXPECT_EQ(nfc("\xCC"), "\xCC");
}

// Every character against the library; and what a character is made of, but for the first, is
// never sure to stay.
TEST(Nfc, WhatIsSureIsSo) {
  for (uint32_t code = 1; code < 0x110000; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    const std::string c = utf8(code), apart = of_library(c, false);
    ASSERT_EQ(nfc(c), of_library(c, true)) << std::hex << code;
    ASSERT_EQ(nfc(apart), of_library(c, true)) << std::hex << code;
    for (size_t i = decode_utf8(apart).length; i < apart.size();) {
      const size_t length = decode_utf8(std::string_view(apart).substr(i)).length;
      ASSERT_FALSE(is_surely_nfc(apart.substr(i, length))) << std::hex << code;
      i += length;
    }
  }
}

TEST(Nfc, MostTextIsSure) {
  for (const char* text : {"plain", "caf\xC3\xA9", "\xD0\xBC\xD0\xB8\xD1\x80",
                           "\xE4\xB8\xAD\xE6\x96\x87", "\xED\x95\x9C", "\xF0\x9F\x98\x80"}) {
    EXPECT_TRUE(is_surely_nfc(text)) << text;
  }
  EXPECT_FALSE(is_surely_nfc("cafe\xCC\x81"));
}

}  // namespace
}  // namespace kith
