// SPDX-License-Identifier: Apache-2.0
#include "io/text_source.h"

#include "io/test_files.h"

namespace kith {
namespace {

using namespace kith::testing;  // NOLINT(google-build-using-namespace)
using namespace std::string_literals;
using enum TextEncoding;

class Pieces final : public ByteSource {
 public:
  Pieces(std::string_view bytes, size_t size) : bytes_(bytes), size_(size) {}
  std::span<const char> next() override {
    piece_ = bytes_.substr(0, size_);  // a copy: what a source gave before is gone
    bytes_.remove_prefix(piece_.size());
    return piece_;
  }
  double share() const override { return -1; }

 private:
  std::string_view bytes_;
  std::string piece_;
  size_t size_;
};

// The same in pieces of any size.
std::string read_as(TextEncoding encoding, std::string_view bytes) {
  std::string first;
  for (const size_t size : {1, 2, 3, 4, 5, 1000, 5000}) {
    const auto source = as_utf8(std::make_unique<Pieces>(bytes, size), encoding, "text");
    std::string out;
    for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
      out.append(piece.data(), piece.size());
    }
    EXPECT_TRUE(source->next().empty()) << "the end is not final";
    if (size == 1) first = out;
    EXPECT_EQ(out, first) << size;
  }
  return first;
}

std::string utf16(const std::u16string& text, bool big) {
  std::string out;
  for (const char16_t unit : text) {
    const std::string pair{static_cast<char>(unit >> 8), static_cast<char>(unit & 0xFF)};
    out += big ? pair : std::string(pair.rbegin(), pair.rend());
  }
  return out;
}

TEST(TextSource, OneTextInEveryEncoding) {
  EXPECT_EQ(read_as(kUtf8, "na\xC3\xAFve, 5 \xE2\x82\xAC"), "na\xC3\xAFve, 5 \xE2\x82\xAC");
  EXPECT_EQ(read_as(kLatin1, "na\xEFve \xFF\x80"), "na\xC3\xAFve \xC3\xBF\xC2\x80");
  // The Euro sign and typographers' quotes, and a byte that has no character.
  EXPECT_EQ(read_as(kWindows1252, "na\xEFve \x80 \x93\x94 \x9F\x81"),
            "na\xC3\xAFve \xE2\x82\xAC \xE2\x80\x9C\xE2\x80\x9D \xC5\xB8\xC2\x81");
  const std::u16string text = u"na\u00EFve 5 \u20AC \U0001F600\n";
  for (const bool big : {false, true}) {
    EXPECT_EQ(read_as(kUtf16, utf16(text, big)), "na\xC3\xAFve 5 \xE2\x82\xAC \xF0\x9F\x98\x80\n");
  }
  for (const TextEncoding encoding : {kUtf8, kLatin1, kWindows1252, kUtf16}) {
    EXPECT_EQ(read_as(encoding, ""), "");
  }
}

TEST(TextSource, AByteOrderMarkIsSkippedAndDecides) {
  const std::string mark = "\xEF\xBB\xBF";
  for (const TextEncoding encoding : {kUtf8, kLatin1, kWindows1252, kUtf16}) {
    EXPECT_EQ(read_as(encoding, mark + "caf\xC3\xA9" + mark), "caf\xC3\xA9" + mark);
    EXPECT_EQ(read_as(encoding, utf16(u"\uFEFFcaf\u00E9", false)), "caf\xC3\xA9");
    EXPECT_EQ(read_as(encoding, utf16(u"\uFEFFcaf\u00E9", true)), "caf\xC3\xA9");
    EXPECT_EQ(read_as(encoding, mark), "");
    EXPECT_EQ(read_as(encoding, "\xFF\xFE"), "");
  }
  EXPECT_EQ(read_as(kUtf8, "\xEF\xBB"), "\xEF\xBB");
}

// Letters without a zero first, so that the first bytes alone say nothing; and no more than the
// first 4,096 bytes count.
TEST(TextSource, TheOrderOfBytesIsGuessedFromTheSameBytesInPiecesOfAnySize) {
  const std::u16string greek(20, u'\u03B1'), far(2000, u'\u03B1');
  for (const bool big : {false, true}) {
    const std::string letters = read_as(kUtf16, utf16(greek + u" a\n", big));
    EXPECT_TRUE(letters.ends_with("\xCE\xB1 a\n")) << big;
    EXPECT_TRUE(read_as(kUtf16, utf16(far + u" a\n", big)).ends_with("\xCE\xB1 a\n")) << big;
  }
  const std::string swapped =
      read_as(kUtf16, utf16(far + std::u16string(60, u'\u03B1') + u"a", true));
  EXPECT_TRUE(swapped.ends_with("\xE6\x84\x80")) << "a sign beyond them: little-endian, as without";
}

TEST(TextSource, WhatIsNoCharacterBecomesABadByteEach) {
  const auto read = [](const std::u16string& units, const std::string& rest = "") {
    return read_as(kUtf8, utf16(u"\uFEFF" + units, false) + rest);
  };
  EXPECT_EQ(read(u"a\xD83D"
                 u"b"),
            "a\xFF"
            "b")
      << "a first half alone";
  EXPECT_EQ(read(u"a\xDE00"
                 u"b"),
            "a\xFF"
            "b")
      << "a second half alone";
  EXPECT_EQ(read(u"\xD83D\xD83D\xDE00"), "\xFF\xF0\x9F\x98\x80");
  EXPECT_EQ(read(u"a\xD83D"), "a\xFF") << "cut off";
  EXPECT_EQ(read(u"a", "b"), "a\xFF") << "half a unit";
}

TEST(TextSource, Utf32IsRefused) {
  EXPECT_FAILURE(read_as(kUtf8, "\xFF\xFE\0\0a\0\0\0"s), ErrorKind::kInput,
                 "text: this is UTF-32 text, which begins with its byte-order mark; convert it "
                 "with: iconv -f UTF-32 -t UTF-8");
  EXPECT_FAILURE(read_as(kLatin1, "\0\0\xFE\xFF\0\0\0a"s), ErrorKind::kInput, "UTF-32");
}

TEST(TextSource, PiecesStaySmall) {
  const TempFolder folder;
  const std::string path = put(folder / "euros", std::string(3'000'000, '\x80'));
  for (const TextEncoding encoding : {kUtf8, kLatin1, kWindows1252, kUtf16}) {
    const auto source = open_text(path, encoding);
    uint64_t total = 0;
    for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
      EXPECT_LE(piece.size(), size_t{1} << 20);
      total += piece.size();
    }
    const uint64_t expected[] = {3'000'000, 6'000'000, 9'000'000, 4'500'000};
    EXPECT_EQ(total, expected[static_cast<size_t>(encoding)]);
  }
}

}  // namespace
}  // namespace kith
