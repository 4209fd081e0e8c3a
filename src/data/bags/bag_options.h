// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where documents stand, how their text becomes words, and which words are kept.

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "data/text/corpus_options.h"
#include "kith/fields.h"

namespace kith {

// Of files of counts, whoever reads them.
struct CountFileOptions {
  std::string vocab{};

  static constexpr std::tuple fields{
      field("vocab", &CountFileOptions::vocab,
            "files of counts (lda-c, UCI docword): a file with their words, one a line; else words "
            "are called by their numbers"),
  };
};

struct BagSources {
  std::string column{}, id{};

  static constexpr std::tuple fields{
      field("column", &BagSources::column,
            "read a table, and take this column as the text, each cell a document; several: a,b"),
      field("id", &BagSources::id,
            "the column of the table that names each document; else its number"),
  };
};

struct BagOptions {
  std::optional<Tokens> tokens{};
  std::string stop_words = "none";
  std::optional<int64_t> min_df{};
  std::optional<double> max_df{};
  std::optional<int64_t> max_vocab{};
  int64_t max_word = 1000;
  bool nfc = true;
  InvalidUtf8 invalid_utf8 = InvalidUtf8::kReplace;
  std::optional<double> holdout{};

  static constexpr std::tuple fields{
      field("tokens", &BagOptions::tokens,
            "what a word is: split at spaces, or lower-case runs of letters and digits, and emoji")
          .automatic("words"),
      field("stop-words", &BagOptions::stop_words,
            "words to leave out: none, english (a short list), or a file with one a line"),
      field("min-df", &BagOptions::min_df, "drop words that stand in fewer documents than this")
          .between(1, 1e15)
          .automatic("5; 1 for files of counts"),
      field("max-df", &BagOptions::max_df,
            "drop words that stand in more than this share of the documents")
          .between(0, 1)
          .automatic("0.5; 1 for files of counts"),
      field("max-vocab", &BagOptions::max_vocab, "keep only this many words, the most frequent")
          .between(2, 4e9)
          .automatic("all"),
      field("max-word", &BagOptions::max_word, "drop words longer than this, in bytes")
          .between(1, 1e6),
      field("nfc", &BagOptions::nfc,
            "treat words that differ only in how accents are stored as one (Unicode's NFC)"),
      field("invalid-utf8", &BagOptions::invalid_utf8,
            "bytes that are not UTF-8: replace by U+FFFD, drop the word, or stop"),
      field("holdout", &BagOptions::holdout,
            "documents to hold out to score the model: a share of them, or a number; 0 for none")
          .between(0, 1e12)
          .automatic("as many as the model wants"),
  };
};

}  // namespace kith
