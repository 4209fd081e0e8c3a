// SPDX-License-Identifier: Apache-2.0
#include "data/text/tokenizer.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include "core/rng.h"
#include "core/utf8.h"
#include "data/test_files.h"
#include "io/nfc.h"

namespace kith {
namespace {

struct Cut {
  Lines lines;
  Tokenizer::Counts counts;
};

// Feeds `text` in pieces that end at the given places, each in memory of its own, so that an
// address checker sees a view that outlived its piece.
Cut cut_at(const std::vector<std::string>& files, const CorpusOptions& options,
           const std::function<bool(size_t)>& border) {
  Cut out;
  std::vector<std::string> line;
  const auto tokenizer = make_tokenizer(options, [&](std::span<const std::string_view> words) {
    for (const auto word : words) {
      if (!word.empty()) {
        line.emplace_back(word);
      } else if (!line.empty()) {
        out.lines.push_back(std::exchange(line, {}));
      }
    }
  });
  for (const std::string& text : files) {
    tokenizer->begin_file("text");
    for (size_t begin = 0, end; begin < text.size(); begin = end) {
      for (end = begin + 1; end < text.size() && !border(end);) ++end;
      const std::vector<char> piece(text.data() + begin, text.data() + end);
      tokenizer->feed(piece);
    }
    tokenizer->end_file();
  }
  EXPECT_TRUE(line.empty());
  out.counts = tokenizer->counts();
  return out;
}

Cut cut_every(size_t n, const std::string& text, const CorpusOptions& options) {
  return cut_at({text}, options, [n](size_t at) { return at % n == 0; });
}

std::string random_text(Rng& rng, std::span<const std::string> alphabet, size_t size) {
  std::string out;
  for (size_t i = 0; i < size; ++i) {
    out += alphabet[rng.below(static_cast<uint32_t>(alphabet.size()))];
  }
  return out;
}

// The categories from utf8proc, the rest from the definition, with the whole text in view.
Lines naive_words(const std::string& text) {
  // Letter 1, digit 2, apostrophe 3, line end 4, emoji 5.
  std::vector<std::pair<int, std::string>> chars;
  for (size_t i = 0; i < text.size();) {
    utf8proc_int32_t code;
    i += static_cast<size_t>(
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + i, -1, &code));
    const char* const category = utf8proc_category_string(code);
    utf8proc_uint8_t lower[4];
    const auto n = utf8proc_encode_char(utf8proc_tolower(code), lower);
    int type = 0;
    if (category[0] == 'L' || category[0] == 'M') type = 1;
    if (category[0] == 'N') type = 2;
    if (code == '\'' || code == 0x2019) type = 3;
    if (code == '\n') type = 4;
    if (code == 0x1F600) type = 5;
    if (code == 0xFE0F) continue;  // as if it were not there
    chars.emplace_back(type, std::string(reinterpret_cast<char*>(lower), static_cast<size_t>(n)));
  }
  Lines out(1);
  std::string word;
  const auto type_at = [&](size_t i) { return i < chars.size() ? chars[i].first : 0; };
  for (size_t i = 0; i <= chars.size(); ++i) {
    if (type_at(i) == 1 || type_at(i) == 2) {
      word += chars[i].second;
    } else if (type_at(i) == 3 && i > 0 && type_at(i - 1) == 1 && type_at(i + 1) == 1) {
      word += '\'';
    } else {
      if (!word.empty()) out.back().push_back(std::exchange(word, ""));
      if (type_at(i) == 5) out.back().push_back(chars[i].second);
      if (type_at(i) == 4 && !out.back().empty()) out.emplace_back();
    }
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

TEST(SpaceTokenizer, EqualsTheStandardLibraryWhereverThePiecesEnd) {
  const std::vector<std::string> alphabet{"a",    "b",  "word", "\xC3\xA9", "\x01",
                                          "\x7f", " ",  " ",    "\t",       "\n",
                                          "\r\n", "\v", "\f",   "\xC2\xA0"};
  Rng rng(1, 0);
  for (int round = 0; round < 50; ++round) {
    const std::string text = random_text(rng, alphabet, 100);
    const Lines expected = plain_lines(text);
    for (const size_t n : {1, 2, 3, 7, 8, 9, 64, 1000}) {
      EXPECT_EQ(cut_every(n, text, {}).lines, expected) << n;
    }
    for (size_t place = 1; place < text.size(); ++place) {
      ASSERT_EQ(cut_at({text}, {}, [=](size_t at) { return at == place; }).lines, expected);
    }
  }
}

TEST(Tokenizers, ParagraphsEndWhereALineHasNoWords) {
  const std::string text = "a b\nc\n\n\nd\r\n \t\ne\nf";
  const Lines expected{{"a", "b", "c"}, {"d"}, {"e", "f"}};
  for (const Tokens tokens : {Tokens::kSpaces, Tokens::kWords}) {
    const CorpusOptions options{.tokens = tokens, .paragraphs = true};
    for (const size_t n : {1, 2, 5, 1000}) {
      const Cut cut = cut_every(n, text, options);
      EXPECT_EQ(cut.lines, expected) << n;
      EXPECT_EQ(cut.counts.longest_line, 3u);
      EXPECT_EQ(cut.counts.lines, 8u);
      EXPECT_EQ(cut.counts.words, 6u);
    }
    // A file ends a paragraph.
    EXPECT_EQ(cut_at({"a\n", "b"}, options, [](size_t) { return false; }).lines,
              (Lines{{"a"}, {"b"}}));
  }
}

TEST(WordTokenizer, EqualsTheDefinitionWhereverThePiecesEnd) {
  const std::vector<std::string> alphabet{"a",
                                          "b",
                                          "Z",
                                          "rock",
                                          "7",
                                          "'",
                                          "\xE2\x80\x99",
                                          "\xC3\x89",
                                          "\xC3\x9F",
                                          "e\xCC\x81",
                                          " ",
                                          "-",
                                          "\n",
                                          "\xE4\xB8\xAD",
                                          "\xF0\x9F\x98\x80",
                                          "\xEF\xB8\x8F",
                                          "\xCE\xA3",
                                          ".",
                                          "\xD9\xA3",
                                          "\xEF\xBF\xBD"};
  const CorpusOptions options{.tokens = Tokens::kWords};
  Rng rng(2, 0);
  for (int round = 0; round < 50; ++round) {
    const std::string text = random_text(rng, alphabet, 100);
    const Lines expected = naive_words(text);
    for (const size_t n : {1, 2, 3, 7, 64, 1000}) {
      EXPECT_EQ(cut_every(n, text, options).lines, expected) << n << '\n' << text;
    }
    for (size_t place = 1; place < text.size(); ++place) {
      ASSERT_EQ(cut_at({text}, options, [=](size_t at) { return at == place; }).lines, expected);
    }
  }
}

TEST(WordTokenizer, ApostrophesStayBetweenLettersOnly) {
  const CorpusOptions options{.tokens = Tokens::kWords};
  const auto words = [&](const std::string& text) { return cut_every(1, text, options).lines; };
  EXPECT_EQ(words("Don't rock\xE2\x80\x99n'roll"), (Lines{{"don't", "rock'n'roll"}}));
  EXPECT_EQ(words("'quoted' the dogs' o''clock 5'4 '90s x'9"),
            (Lines{{"quoted", "the", "dogs", "o", "clock", "5", "4", "90s", "x", "9"}}));
  EXPECT_EQ(words("l'\nami"), (Lines{{"l"}, {"ami"}}));
}

// Every character that is made of others, in a word: composed and not, the words are the same.
TEST(WordTokenizer, ComposedOrNotTheWordsAreTheSame) {
  const CorpusOptions options{.tokens = Tokens::kWords};
  for (uint32_t code = 0x80; code < 0x30000; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string c = "a";
    append_utf8(code, c);
    c += "b";
    std::unique_ptr<utf8proc_uint8_t, decltype(&free)> apart(
        utf8proc_NFD(reinterpret_cast<const utf8proc_uint8_t*>(c.c_str())), free);
    const std::string other(reinterpret_cast<const char*>(apart.get()));
    if (other == c) continue;
    Lines one = cut_every(1000, c, options).lines, two = cut_every(1, other, options).lines;
    for (Lines* lines : {&one, &two}) {
      for (std::string& word : lines->front()) word = nfc(word);
    }
    EXPECT_EQ(one, two) << std::hex << code;
  }
}

// Wherever a piece ends, and with letters right before and behind.
TEST(WordTokenizer, AnEmojiIsAWord) {
  const std::string heart = "\u2764", thumb = "\U0001F44D", tone = "\U0001F3FD",
                    selector = "\uFE0F", plain = "\uFE0E", joiner = "\u200D", woman = "\U0001F469",
                    girl = "\U0001F467", d = "\U0001F1E9", e = "\U0001F1EA",
                    england = "\U0001F3F4\U000E0067\U000E007F";
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {"I" + heart + "it", {"i", heart, "it"}},
      {heart + selector + " " + heart + plain + heart, {heart, heart, heart}},
      {thumb + thumb + tone + thumb, {thumb, thumb + tone, thumb}},
      {woman + joiner + girl + "a", {woman + joiner + girl, "a"}},
      {woman + tone + joiner + heart + selector + joiner + girl,
       {woman + tone + joiner + heart + joiner + girl}},
      {woman + joiner + "a" + joiner + girl, {woman, "a", girl}},
      {d + e + d + e + d + thumb + d, {d + e, d + e, d, thumb, d}},
      {england + "7", {england, "7"}},
      {tone + "a" + tone, {"a"}},  // to nothing
      {"don't" + thumb + "'t", {"don't", thumb, "t"}},
      {"1" + selector + "\u20E3", {"1\u20E3"}},           // a key is a digit in a frame
      {"\u00A9 \u2122 \u2192 \u2022 \u25AA \u2026", {}},  // signs are none
  };
  for (const auto& [text, expected] : cases) {
    for (const size_t n : {1, 2, 3, 1000}) {
      const Lines lines = cut_every(n, text, {.tokens = Tokens::kWords}).lines;
      EXPECT_EQ(lines, expected.empty() ? Lines{} : Lines{expected}) << text << " by " << n;
    }
  }
  EXPECT_EQ(cut_every(1, thumb + " a", {.tokens = Tokens::kWords, .emoji = false}).lines,
            (Lines{{"a"}}));
  EXPECT_EQ(cut_every(1, heart + selector, {}).lines, (Lines{{heart + selector}}));
}

TEST(Tokenizer, CountsBytesLinesAndWords) {
  const Cut cut = cut_at({"a b\n\n c", "", "d\n", "\n\n"}, {}, [](size_t) { return false; });
  EXPECT_EQ(cut.lines, (Lines{{"a", "b"}, {"c"}, {"d"}}));
  EXPECT_EQ(cut.counts.bytes, 11u);
  EXPECT_EQ(cut.counts.lines, 6u);
  EXPECT_EQ(cut.counts.words, 4u);
  EXPECT_EQ(cut.counts.longest_line, 2u);
}

TEST(Tokenizer, LongWordsAreDroppedAndCounted) {
  for (const Tokens tokens : {Tokens::kSpaces, Tokens::kWords}) {
    const CorpusOptions options{.tokens = tokens, .max_word = 10};
    for (const size_t n : {1, 3, 8, 9, 10, 11, 1000}) {
      const std::string ten(10, 'x'), eleven(11, 'y'), huge(5000, 'z');
      const Cut cut =
          cut_every(n, ten + " " + eleven + " " + huge + "\n" + huge + "\n" + ten, options);
      EXPECT_EQ(cut.lines, (Lines{{ten}, {ten}})) << n;
      EXPECT_EQ(cut.counts.too_long, 3u);
      EXPECT_EQ(cut.counts.words, 5u);
      EXPECT_EQ(cut.counts.longest_line, 3u);
    }
  }
}

// The last bad byte of each word is followed by a space, a line end, a letter, the end of the file.
TEST(Tokenizer, InvalidUtf8FollowsThePolicy) {
  const std::string text = "caf\xE9 good\n\xFF\xFE! \xE4\xB8\n na\xEFve \xE4\xB8";
  const std::string bad = "\xEF\xBF\xBD";
  for (const size_t n : {1, 2, 3, 1000}) {
    const Cut replaced = cut_every(n, text, {});
    EXPECT_EQ(replaced.lines,
              (Lines{{"caf" + bad, "good"}, {bad + bad + "!", bad}, {"na" + bad + "ve", bad}}));
    EXPECT_EQ(replaced.counts.invalid_utf8, 5u);
    const Cut dropped = cut_every(n, text, {.invalid_utf8 = InvalidUtf8::kDrop});
    EXPECT_EQ(dropped.lines, (Lines{{"good"}}));
    EXPECT_EQ(dropped.counts.invalid_utf8, 5u);
    EXPECT_EQ(dropped.counts.words, 6u);
    const Cut words = cut_every(n, text, {.tokens = Tokens::kWords});
    EXPECT_EQ(words.lines,
              (Lines{{"caf" + bad, "good"}, {bad + bad, bad}, {"na" + bad + "ve", bad}}));
    EXPECT_EQ(words.counts.invalid_utf8, 5u);
    const Cut both =
        cut_every(n, text, {.tokens = Tokens::kWords, .invalid_utf8 = InvalidUtf8::kDrop});
    EXPECT_EQ(both.lines, (Lines{{"good"}}));
    EXPECT_EQ(both.counts.invalid_utf8, 5u);
  }
}

TEST(Tokenizer, ARepairedWordMayBecomeTooLong) {
  const Cut cut = cut_every(1, "\xFF\xFF\xFF \xFF\xFF", {.max_word = 6});
  EXPECT_EQ(cut.lines, (Lines{{"\xEF\xBF\xBD\xEF\xBF\xBD"}}));
  EXPECT_EQ(cut.counts.too_long, 1u);
  EXPECT_EQ(cut.counts.invalid_utf8, 2u);
}

// Many repaired words between two flushes, some longer than the buffer's slack.
TEST(Tokenizer, RepairedWordsKeepTheirBytesUntilTheyAreTaken) {
  std::string text;
  Lines expected(1);
  for (size_t i = 0; i < 300; ++i) {
    const std::string word(i * 37 % 9000, static_cast<char>('a' + i % 26));
    text += word + "\xFF ";
    expected[0].push_back(word + "\xEF\xBF\xBD");
  }
  for (const size_t n : {1'000'000, 5000, 1}) {
    EXPECT_EQ(cut_every(n, text, {.max_word = 100'000}).lines, expected);
    EXPECT_EQ(cut_every(n, text, {.tokens = Tokens::kWords, .max_word = 100'000}).lines, expected);
  }
}

TEST(Tokenizer, ErrorsNameFileLineAndByte) {
  using namespace std::string_literals;
  const std::vector<std::pair<std::string, std::string>> cases{
      {"a\nb\nna\xEFve\n", "text:3: not UTF-8 at byte 6 (found 0xef); "},
      {"\xC3\xA9 \xE4\xB8",
       "text:1: not UTF-8 at byte 3 (found 0xe4); give the encoding of the text, such as "
       "--encoding latin-1"},
      {"a\nbc\0d\n"s, "text:2: NUL byte at byte 4; "},
      {"a\nbc\0d\n"s, "tr -d '\\000'"},
  };
  for (const Tokens tokens : {Tokens::kSpaces, Tokens::kWords}) {
    const CorpusOptions options{.tokens = tokens, .invalid_utf8 = InvalidUtf8::kError};
    for (const size_t n : {1, 2, 1000}) {
      for (const auto& [text, part] : cases) {
        const auto message = message_of(ErrorKind::kInput, [&] { cut_every(n, text, options); });
        EXPECT_PRED_FORMAT2(testing::IsSubstring, part, message);
      }
    }
  }
}

TEST(Tokenizer, AlternatingNulBytesSuggestUtf16) {
  using namespace std::string_literals;
  const auto error = [](const std::string& text) {
    return message_of(ErrorKind::kInput, [&] { cut_every(1000, text, {}); });
  };
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "likely UTF-16: say so with --encoding utf-16",
                      error("h\0i\0 \0y\0o\0u\0"s));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "likely UTF-16", error("\0h\0i\0 \0y\0o\0u"s));
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "UTF-16", error("h\0\0i"s));
}

}  // namespace
}  // namespace kith
