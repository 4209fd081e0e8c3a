// SPDX-License-Identifier: Apache-2.0
#pragma once
// How text becomes words: the settings every reader of text shares.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "kith/fields.h"
#include "kith/text_encoding.h"
#include "kith/tokens.h"

namespace kith {

enum class InvalidUtf8 { kReplace, kDrop, kError };

struct CorpusOptions {
  std::string column{};
  std::optional<Tokens> tokens{};
  int64_t min_count = 5;
  std::optional<int64_t> max_vocab{};
  int64_t max_word = 1000;
  bool nfc = true;
  InvalidUtf8 invalid_utf8 = InvalidUtf8::kReplace;
  std::optional<double> holdout{};
  // For callers, not for users, who give these with the other settings of a source.
  TextEncoding encoding = TextEncoding::kUtf8;
  bool paragraphs = false;
  bool emoji = true;  // without them `words` are those of version 0.1

  static constexpr std::tuple fields{
      field("column", &CorpusOptions::column,
            "read a table, and take this column as the text, each cell as a line; several: a,b"),
      field("tokens", &CorpusOptions::tokens,
            "what a word is: split at spaces, or lower-case runs of letters and digits, and emoji")
          .automatic("spaces"),
      field("min-count", &CorpusOptions::min_count, "drop words that occur less often than this")
          .between(1, 1e15),
      field("max-vocab", &CorpusOptions::max_vocab, "keep only this many words, the most frequent")
          .between(2, 4e9)
          .automatic("all")
          .formerly("max-vocab", 0),
      field("max-word", &CorpusOptions::max_word, "drop words longer than this, in bytes")
          .between(1, 1e6),
      field("nfc", &CorpusOptions::nfc,
            "treat words that differ only in how accents are stored as one (Unicode's NFC)"),
      field("invalid-utf8", &CorpusOptions::invalid_utf8,
            "bytes that are not UTF-8: replace by U+FFFD, drop the word, or stop"),
      field("holdout", &CorpusOptions::holdout,
            "words to hold out to score the model: a share of the text, or a number; 0 for none")
          .between(0, 1e12)
          .automatic("50,000 words, at most 1 %")
          .formerly("holdout", 50000),
  };
};

}  // namespace kith

template <>
struct kith::EnumNames<kith::InvalidUtf8> {
  static constexpr std::array<std::string_view, 3> names{"replace", "drop", "error"};
};
