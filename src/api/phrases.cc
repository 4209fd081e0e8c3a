// SPDX-License-Identifier: Apache-2.0
#include "kith/phrases.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "api/phrase_pairs.h"
#include "api/reading.h"
#include "api/rows.h"
#include "core/error.h"
#include "core/waiting.h"
#include "data/text/tokenizer.h"
#include "data/text/word_counter.h"
#include "io/file.h"
#include "io/text_source.h"
#include "kith/files.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr uint64_t kReportEvery = uint64_t{16} << 20;  // bytes

// A text as numbers of words on disk, a WordCounter::kEnd behind each line, and its words.
class NumberedText {
 public:
  explicit NumberedText(std::string folder) : folder_(std::move(folder)) { begin(); }

  const WordCounter& words() const { return words_; }
  WordCounter& words() { return words_; }
  const ScratchFile& numbers() const { return *numbers_; }

  void add(uint32_t number) {
    numbers_->append({reinterpret_cast<const char*>(&number), sizeof number});
  }
  void end() { numbers_->flush(); }
  // Begins anew; what was there is the caller's.
  std::unique_ptr<ScratchFile> begin() {
    return std::exchange(numbers_, std::make_unique<ScratchFile>(folder_));
  }

 private:
  std::string folder_;
  WordCounter words_;
  std::unique_ptr<ScratchFile> numbers_;
};

// Reads lines, empty ones too.
class LineReader {
 public:
  LineReader(const PhraseOptions& options, NumberedText& text, PhrasesFound& found)
      : encoding_(options.encoding), text_(text), found_(found) {
    CorpusOptions cut;
    cut.tokens = options.tokens;
    tokenizer_ = make_tokenizer(cut, [this](auto words) { take(words); });
  }

  void read(const std::string& path, const Context& context, Observer* observer) {
    const auto source = open_text(path, encoding_);
    tokenizer_->begin_file(path == "-" ? "standard input" : path);
    for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
      context.check();
      feed({piece.data(), piece.size()});
      open_ = piece.back() != '\n';
      if (!observer || tokenizer_->counts().bytes - reported_ < kReportEvery) continue;
      reported_ = tokenizer_->counts().bytes;
      observer->on(Reading{reported_, watch_.seconds(), source->share()});
    }
    ended_ = false;
    tokenizer_->end_file();
    if (std::exchange(open_, false) && !ended_) end_line();
  }
  uint64_t words() const { return tokenizer_->counts().words; }
  uint64_t invalid() const { return tokenizer_->counts().invalid_utf8; }

 private:
  // Line by line, for the tokenizer tells only of the ends of lines that have words.
  void feed(std::string_view piece) {
    while (!piece.empty()) {
      const size_t end = piece.find('\n');
      const size_t size = end == std::string_view::npos ? piece.size() : end + 1;
      ended_ = false;
      tokenizer_->feed({piece.data(), size});
      if (end != std::string_view::npos && !ended_) end_line();
      piece.remove_prefix(size);
    }
  }
  void take(std::span<const std::string_view> words) {
    numbers_.resize(words.size());
    text_.words().count(words, numbers_);
    for (const uint32_t number : numbers_) {
      if (number == WordCounter::kEnd) {
        end_line();
      } else {
        text_.add(number);
      }
    }
  }
  void end_line() {
    text_.add(WordCounter::kEnd);
    ++found_.lines;
    ended_ = true;
  }

  TextEncoding encoding_;
  NumberedText& text_;
  PhrasesFound& found_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<uint32_t> numbers_;
  bool ended_ = false, open_ = false;  // a line by the last bytes; the last line has no end yet
  uint64_t reported_ = 0;
  Stopwatch watch_;
};

std::vector<uint64_t> counts_in(const NumberedText& text, const Context& context) {
  std::vector<uint64_t> out(text.words().size());
  for_each_piece(text.numbers(), context, [&](std::span<const uint32_t> piece) {
    for (const uint32_t word : piece) {
      if (word != WordCounter::kEnd) ++out[word];
    }
  });
  return out;
}

// Joins pairs from left to right: a word that was joined begins no pair of this pass.
uint64_t join(NumberedText& text, const std::unordered_map<uint64_t, uint32_t>& joined,
              const Context& context) {
  const auto old = text.begin();
  uint64_t done = 0;
  uint32_t open = WordCounter::kEnd;  // a word that the next may be joined to
  const auto close = [&] {
    if (open != WordCounter::kEnd) text.add(std::exchange(open, WordCounter::kEnd));
  };
  for_each_piece(*old, context, [&](std::span<const uint32_t> piece) {
    for (const uint32_t word : piece) {
      if (word == WordCounter::kEnd) {
        close();
        text.add(word);
        continue;
      }
      const auto at =
          open == WordCounter::kEnd ? joined.end() : joined.find(WordPair{open, word}.key());
      if (at == joined.end()) {
        close();
        open = word;
        continue;
      }
      text.add(at->second);
      open = WordCounter::kEnd;
      ++done;
    }
  });
  close();
  text.end();
  return done;
}

void one_pass(NumberedText& text, const PhraseOptions& options, int pass, PhrasesFound& found,
              const Context& context) {
  const std::vector<uint64_t> counts = counts_in(text, context);
  std::unordered_map<uint64_t, uint32_t> joined;
  for (const ScoredPair& pair : find_pairs(text.numbers(), counts, options, context)) {
    const std::string name = fmt::format("{}{}{}", text.words().word(pair.words.first),
                                         options.join, text.words().word(pair.words.second));
    joined[pair.words.key()] = text.words().add(name);
    found.best.push_back({name, pair.score, pair.count, pass});
  }
  found.phrases += joined.size();
  const auto better = [](const Phrase& a, const Phrase& b) {
    return std::tie(b.score, b.count, a.text) < std::tie(a.score, a.count, b.text);
  };
  std::ranges::sort(found.best, better);
  found.best.resize(std::min(found.best.size(), static_cast<size_t>(options.top)));
  if (!joined.empty()) found.joined += join(text, joined, context);
}

void write(const NumberedText& text, const std::string& output, const Context& context) {
  OutputFile file(output);
  bool first = true;  // of its line
  for_each_piece(text.numbers(), context, [&](std::span<const uint32_t> piece) {
    for (const uint32_t word : piece) {
      if (word == WordCounter::kEnd) {
        file.write("\n");
      } else {
        if (!first) file.write(" ");
        file.write(text.words().word(word));
      }
      first = word == WordCounter::kEnd;
    }
  });
  file.commit();
}

}  // namespace

PhrasesFound join_phrases(const std::vector<std::string>& sources, const std::string& output,
                          const PhraseOptions& options, const Context& context,
                          Observer* observer) {
  if (sources.empty()) throw fault(ErrorKind::kUsage, "no text was given");
  if (options.join.empty() || options.join.find_first_of(" \t\r\n\v\f") != std::string::npos) {
    throw fault(ErrorKind::kUsage,
                "--join is what stands inside a word: no white space, and not "
                "nothing");
  }
  if (options.delta && options.score != PhraseScore::kWord2phrase) {
    throw fault(ErrorKind::kUsage, "--delta is for --score word2phrase");
  }
  check_output(output, sources);
  if (name_unpacked(output) != output) {
    throw fault(ErrorKind::kUsage,
                "{}: text is written as it is; name a file without that ending, and pack it "
                "afterwards",
                output);
  }
  const Waiting waiting(context);
  const std::string folder = std::filesystem::path(output).parent_path().string();
  NumberedText text(!options.scratch.empty() ? options.scratch : folder.empty() ? "." : folder);
  PhrasesFound found;
  LineReader reader(options, text, found);
  for (const std::string& source : sources) reader.read(source, context, observer);
  text.end();
  if (reader.invalid() > 0) {
    note(observer, Note::Level::kNote,
         fmt::format("{} with bytes that are not UTF-8 (they became U+FFFD); {}",
                     count_of(reader.invalid(), "word"), kIfNotUtf8));
  }
  found.words = reader.words();
  if (found.words == 0) {
    throw fault(ErrorKind::kInput, "{}: no words in it; give a text file with words in it",
                sources.front() == "-" ? "standard input" : sources.front());
  }
  for (int pass = 1; pass <= options.passes; ++pass) {
    const uint64_t before = found.joined;
    one_pass(text, options, pass, found, context);
    if (found.joined == before) break;  // nothing would be found in the same text again
  }
  write(text, output, context);
  return found;
}

}  // namespace kith
