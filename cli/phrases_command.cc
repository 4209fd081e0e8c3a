// SPDX-License-Identifier: Apache-2.0
// phrases: words that belong together become one.
#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "narrator.h"

namespace kith::cli {
namespace {

struct PhrasesFlags {
  std::string output{};
  static constexpr std::tuple fields{
      field("output", &PhrasesFlags::output, "the text to write (-o)")};
};

int run_phrases(Args args) {
  PhraseOptions options;
  PhrasesFlags flags;
  Quiet quiet;
  Output output;
  const std::vector<std::string> words = parse(args, options, flags, quiet, output);
  if (words.empty()) misused(kPhrases, "phrases needs a text");
  if (flags.output.empty()) misused(kPhrases, "phrases needs a file to write: -o FILE");
  Context context(1);
  const Interrupts interrupts(context);
  Narrator narrator(quiet.quiet || output.json);
  const PhrasesFound found = join_phrases(words, flags.output, options, context, &narrator);
  narrator.status().clear();
  if (output.json) {
    for (const Phrase& p : found.best) {
      put_json({{"id", p.text}, {"score", score(p.score)}, {"count", p.count}, {"pass", p.pass}});
    }
    return kDone;
  }
  if (quiet.quiet) return kDone;
  std::vector<std::vector<std::string>> rows{{"", "score", "count"}};
  for (const Phrase& p : found.best) {
    rows.push_back({printable(p.text), fmt::format("{:.4g}", p.score), grouped(p.count)});
  }
  if (rows.size() > 1 && flags.output != "-") put_text(table(rows, "<>>", 0));
  say("{}: {} on {}, {} joined {}", flags.output, count_of(found.words, "word"),
      count_of(found.lines, "line"), count_of(found.phrases, "phrase"),
      count_of(found.joined, "time"));
  return kDone;
}

}  // namespace

const Command kPhrases{
    "phrases",
    "TEXT... -o TEXT",
    "join words that belong together, such as new_york",
    {"kith phrases corpus.txt -o joined.txt", "kith phrases corpus.txt -o joined.txt --passes 2",
     "kith phrases corpus.txt -o joined.txt --score word2phrase --threshold 100"},
    "",
    groups_for<PhraseOptions, PhrasesFlags, Quiet, Output>,
    run_phrases,
};

}  // namespace kith::cli
