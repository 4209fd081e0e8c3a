// SPDX-License-Identifier: Apache-2.0
// Text as a kind of data.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/error.h"
#include "data/text/corpus.h"
#include "io/text_source.h"
#include "kith/text.h"

namespace kith {
namespace text {
namespace {

// Share of the words at the start of a file that carry capitals or punctuation.
double untidy_share(std::span<const char> bytes) {
  uint64_t words = 0, untidy = 0;
  bool inside = false, plain = true;
  for (const char byte : bytes) {
    const auto c = static_cast<unsigned char>(byte);
    if (std::isspace(c)) {
      words += inside;
      untidy += inside && !plain;
      inside = false;
      plain = true;
    } else {
      inside = true;
      plain = plain && !std::isupper(c) && !std::ispunct(c);
    }
  }
  return words ? static_cast<double>(untidy) / static_cast<double>(words) : 0;
}

bool is_table_by_name(const std::string& source) {
  const std::string end = std::filesystem::path(source).extension().string();
  return end == ".csv" || end == ".tsv" || end == ".jsonl" || end == ".ndjson";
}

// With what a look at the file says about how to read it.
class ReadText final : public DataReader {
 public:
  std::vector<Section> settings() override { return {{"The text", options_}}; }
  std::unique_ptr<Dataset> read(const ReadRequest& request) override {
    CorpusOptions options = options_;
    if (request.keep_all) options.holdout = 0;
    auto corpus = std::make_unique<Corpus>(Corpus::read(request.sources, options, request.scratch,
                                                        std::any_cast<Vocabulary>(&request.base),
                                                        request.on_read));
    std::error_code none;
    const std::string& first = request.sources.front();
    if (is_table_by_name(first)) {
      corpus->add_hint(fmt::format(
          "{} is read as lines of text; to learn from its columns: kith train feat2vec {}", first,
          shell_quoted(first)));
      return corpus;
    }
    // A pipe can be read only once.
    if (!options_.tokens && std::filesystem::is_regular_file(first, none) &&
        untidy_share(open_text(first, options.encoding)->next()) > 0.1) {
      corpus->add_hint(
          "many words carry capitals or punctuation; with --tokens words, King, and king are one "
          "word");
    }
    return corpus;
  }

 private:
  CorpusOptions options_;
};

}  // namespace

const DataKind& kind() {
  static const DataKind kind{
      .name = "text",
      .noun = "text",
      .unit = "word",
      .to_save_memory = "keep fewer words with --max-vocab or a higher --min-count, or lower --dim",
      .looks_like = [](const std::string&) { return 0.1; },  // anything could be
      .reader = []() -> std::unique_ptr<DataReader> { return std::make_unique<ReadText>(); },
  };
  return kind;
}

}  // namespace text

const DataKind& Corpus::data_kind() { return text::kind(); }

uint64_t Corpus::bytes() const {
  const uint64_t words = vocabulary_.words.size();
  return vocabulary_.words.bytes().size() + 24 * words + held_out_.size() * sizeof(WordId);
}

std::map<std::string, std::string> Corpus::metadata() const {
  const auto text = [](uint64_t n) { return fmt::format("{}", n); };
  return {{"corpus.bytes", text(profile_.bytes)},
          {"corpus.lines", text(profile_.lines)},
          {"corpus.words", text(profile_.tokens)},
          {"corpus.distinct", text(profile_.types)},
          {"corpus.kept", text(profile_.kept)}};
}

std::string Corpus::example() const {
  const Names& words = vocabulary_.words;  // beyond those that stand beside everything
  return std::string(words[std::min<size_t>(1000, words.size() / 4)]);
}

Profile Corpus::profile() const {
  const CorpusProfile& p = profile_;
  Profile out;
  out.data = kind().name;
  out.unit = kind().unit;
  out.size = words_;
  out.held_out = held_out_words();
  out.bytes = p.bytes;
  out.summary =
      fmt::format("{} on {}, {} distinct; the longest line has {}", count_of(p.tokens, "word"),
                  count_of(p.lines, "line"), grouped(p.types), count_of(p.longest_line, "word"));
  std::string which = options_.min_count > 1
                          ? fmt::format("seen {} times or more", options_.min_count)
                          : "all that were seen";
  if (options_.max_vocab) {
    which += fmt::format(", at most {}", grouped(static_cast<uint64_t>(*options_.max_vocab)));
  }
  if (goes_on_) which += ", or known to the model";
  const auto share = [&](uint64_t n) {
    return 100.0 * static_cast<double>(n) / static_cast<double>(std::max<uint64_t>(1, p.tokens));
  };
  out.lines.emplace_back("keep", fmt::format("{} ({}), {:.1f} % of the text; {:.1f} % is dropped",
                                             count_of(vocabulary_.words.size(), "distinct word"),
                                             which, share(p.kept), share(p.tokens - p.kept)));
  out.lines.emplace_back("train", fmt::format("on {} per epoch; {} held out to score the model",
                                              count_of(words_, "word"),
                                              out.held_out ? grouped(out.held_out) : "none"));
  if (p.invalid_utf8) {
    out.notes.push_back(
        {Note::Level::kNote,
         fmt::format(
             "{} with bytes that are not UTF-8 ({}); {}", count_of(p.invalid_utf8, "word"),
             options_.invalid_utf8 == InvalidUtf8::kDrop ? "dropped" : "the bytes became U+FFFD",
             kIfNotUtf8)});
  }
  if (p.too_long) {
    out.notes.push_back(
        {Note::Level::kNote, fmt::format("{} longer than {} bytes, dropped",
                                         count_of(p.too_long, "word"), options_.max_word)});
  }
  if (!hint_.empty()) out.notes.push_back({Note::Level::kHint, hint_});
  return out;
}

uint64_t Corpus::held_out_words() const {
  return static_cast<uint64_t>(
      std::ranges::count_if(held_out_, [](WordId w) { return w != kSentenceEnd; }));
}

}  // namespace kith
