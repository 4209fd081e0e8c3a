// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where texts and their labels stand, and how text becomes words.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "data/text/corpus_options.h"
#include "kith/fields.h"

namespace kith {

struct LabelColumns {
  std::string text{}, label{}, row_weight{};
  std::string label_separator = "|";
  std::string label_prefix = "__label__";
  // For callers, not for users: what messages call the setting of the text.
  std::string_view text_flag = "text";

  static constexpr std::tuple fields{
      field("text", &LabelColumns::text,
            "read a table, and take this column as the text; several: title,body"),
      field("label", &LabelColumns::label, "the column of the table that holds the labels"),
      field("row-weight", &LabelColumns::row_weight,
            "a column of numbers: how much each row counts; 2 is as if it stood there twice"),
      field("label-separator", &LabelColumns::label_separator,
            "what stands between the labels of a cell that has several"),
      field("label-prefix", &LabelColumns::label_prefix,
            "lines of text: words that begin with this are the labels of their line"),
  };
};

struct LabelledOptions {
  std::optional<Tokens> tokens{};
  int64_t min_count = 1;
  std::optional<int64_t> max_vocab{};
  int64_t max_word = 1000;
  bool nfc = true;
  InvalidUtf8 invalid_utf8 = InvalidUtf8::kReplace;
  std::optional<double> holdout{};
  std::string validation{};

  static constexpr std::tuple fields{
      field("tokens", &LabelledOptions::tokens,
            "what a word is: split at spaces, or lower-case runs of letters and digits, and emoji")
          .automatic("spaces; words for a column of a table"),
      field("min-count", &LabelledOptions::min_count, "drop words that occur less often than this")
          .between(1, 1e15),
      field("max-vocab", &LabelledOptions::max_vocab,
            "keep only this many words, the most frequent")
          .between(2, 4e9)
          .automatic("all"),
      field("max-word", &LabelledOptions::max_word, "drop words longer than this, in bytes")
          .between(1, 1e6),
      field("nfc", &LabelledOptions::nfc,
            "treat words that differ only in how accents are stored as one (Unicode's NFC)"),
      field("invalid-utf8", &LabelledOptions::invalid_utf8,
            "bytes that are not UTF-8: replace by U+FFFD, drop the word, or stop"),
      field("holdout", &LabelledOptions::holdout,
            "texts to hold out to score the model: a share of them, or a number; 0 for none")
          .between(0, 1e12)
          .automatic("a tenth with --early-stop; else none"),
      field("validation", &LabelledOptions::validation,
            "a file of labelled texts to score the model by, instead of holding some out"),
  };
};

}  // namespace kith
