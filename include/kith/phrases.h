// SPDX-License-Identifier: Apache-2.0
#pragma once
// Words that belong together: "new york" becomes new_york.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/events.h"
#include "kith/fields.h"
#include "kith/text_encoding.h"
#include "kith/tokens.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// With n(a) occurrences of a word, n(ab) of a pair, and N words in all:
//   npmi        ln(p(ab) / (p(a) p(b))) / -ln p(ab),  p = n / N: 0 by chance, 1 if always together
//   word2phrase (n(ab) - delta) N / (n(a) n(b))
enum class PhraseScore { kNpmi, kWord2phrase };

struct PhraseOptions {
  PhraseScore score = PhraseScore::kNpmi;
  std::optional<double> threshold{};
  int64_t min_count = 5;
  std::optional<double> delta{};
  int passes = 1;
  std::string join = "_";
  int64_t top = 20;
  int64_t pairs = 8'000'000;
  Tokens tokens = Tokens::kSpaces;
  TextEncoding encoding = TextEncoding::kUtf8;
  std::string scratch{};

  static constexpr std::tuple fields{
      field("score", &PhraseOptions::score, "how a pair of words is scored"),
      field("threshold", &PhraseOptions::threshold, "join pairs that score more than this")
          .between(-1e9, 1e12)
          .automatic("0.5; word2phrase 10"),
      field("min-count", &PhraseOptions::min_count, "join no pair that occurs less often than this")
          .between(1, 1e15),
      field("delta", &PhraseOptions::delta, "word2phrase: what is taken off the count of a pair")
          .between(0, 1e15)
          .automatic("as --min-count"),
      field("passes", &PhraseOptions::passes,
            "how often: two passes find phrases of up to four words")
          .between(1, 10),
      field("join", &PhraseOptions::join, "what stands between the words of a phrase"),
      field("top", &PhraseOptions::top, "how many of the phrases to show, the best first")
          .between(0, 1e6),
      field("pairs", &PhraseOptions::pairs,
            "pairs to hold in memory, of about 32 bytes; if there are more, the text is looked "
            "through several times, for the same result")
          .between(1000, 1e11),
      field("tokens", &PhraseOptions::tokens,
            "what a word is: split at spaces, or lower-case runs of letters and digits, and emoji"),
      field("encoding", &PhraseOptions::encoding,
            "encoding of the text, unless it has a byte-order mark"),
      field("scratch", &PhraseOptions::scratch,
            "folder for temporary data; by default that of the output"),
  };
};

struct Phrase {
  std::string text;  // "new_york"
  double score = 0;
  uint64_t count = 0;  // of the pair, before anything was joined in its pass
  int pass = 1;
};
struct PhrasesFound {
  uint64_t words = 0, lines = 0;  // that were read
  uint64_t phrases = 0;           // distinct, over all passes
  uint64_t joined = 0;            // pairs that became one word
  std::vector<Phrase> best;
};

// Writes the sources with phrases as single words, line by line, whole or not at all; "-" is
// standard output. Counts are exact, whatever the memory. Of overlapping pairs the first is joined.
PhrasesFound join_phrases(const std::vector<std::string>& sources, const std::string& output,
                          const PhraseOptions& options, const Context& context,
                          Observer* observer = nullptr);

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::PhraseScore> {
  static constexpr std::array<std::string_view, 2> names{"npmi", "word2phrase"};
};
