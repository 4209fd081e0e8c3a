// SPDX-License-Identifier: Apache-2.0
#include "data/text/corpus.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "data/holdout.h"
#include "data/text/numbering.h"
#include "data/text/stream_builder.h"
#include "data/text/tokenizer.h"
#include "data/text/word_counter.h"
#include "io/text_source.h"
#include "kith/text.h"

namespace kith {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kReportEvery = uint64_t{16} << 20;
constexpr size_t kIdsPerPiece = 1 << 16;
constexpr uint64_t kUsualHoldout = 50000;  // words

}  // namespace

// Streams of bytes, one after the other.
class Corpus::Input {
 public:
  using OnRead = std::function<void(uint64_t, double)>;
  Input(const std::vector<std::string>& paths, TextEncoding encoding, OnRead on_read)
      : paths_(paths), encoding_(encoding), on_read_(std::move(on_read)) {
    for (const std::string& path : paths) {
      std::error_code error;
      // A pipe can be opened only once. Everything else is tried now, so that a missing last file
      // is told before the first is read.
      const bool pipe =
          path == "-" || fs::is_fifo(path, error) || fs::is_character_file(path, error);
      if (!pipe) open_source(path);
      const auto size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
      if (pipe || error) known_ = false;
      sizes_.push_back(static_cast<double>(size));
      total_ += sizes_.back();
    }
  }

  Input(std::unique_ptr<ByteSource> source, const std::string& name)
      : paths_{name}, given_(std::move(source)) {}

  // What messages call it.
  std::string name() const {
    const std::string first = name_of(0);
    return paths_.size() == 1 ? first : fmt::format("{} and {} more", first, paths_.size() - 1);
  }

  void feed(Tokenizer& tokenizer, TextLook& look) {
    uint64_t reported = 0;
    for (size_t i = 0; i < paths_.size(); ++i) {
      const auto source = given_ ? std::move(given_) : open_text(paths_[i], encoding_);
      tokenizer.begin_file(name_of(i));
      for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
        tokenizer.feed(piece);
        look.see(piece);
        const uint64_t bytes = tokenizer.counts().bytes;
        if (!on_read_ || bytes - reported < kReportEvery) continue;
        reported = bytes;
        on_read_(bytes, share(i, source->share()));
      }
      tokenizer.end_file();
    }
  }

 private:
  std::string name_of(size_t i) const { return paths_[i] == "-" ? "standard input" : paths_[i]; }
  // How far reading has come over all files, by their sizes on disk.
  double share(size_t file, double share_of_file) const {
    if (!known_ || share_of_file < 0) return -1;
    double done = share_of_file * sizes_[file];
    for (size_t i = 0; i < file; ++i) done += sizes_[i];
    return total_ > 0 ? done / total_ : 1;
  }

  std::vector<std::string> paths_;
  TextEncoding encoding_ = TextEncoding::kUtf8;
  std::unique_ptr<ByteSource> given_;
  OnRead on_read_;
  bool known_ = true;
  std::vector<double> sizes_;
  double total_ = 0;
};

namespace {

// The first pass: text -> provisional numbers in a scratch file, and counts.
class Collector {
 public:
  Collector(const CorpusOptions& options, const std::string& folder)
      : numbers_(folder),
        tokenizer_(make_tokenizer(options, [this](auto words) { take(words); })) {}

  WordCounter& counter() { return counter_; }
  const WordCounter& counter() const { return counter_; }
  void forget_words() { counter_ = WordCounter(); }
  const ScratchFile& numbers() const { return numbers_; }
  const Tokenizer::Counts& counts() const { return tokenizer_->counts(); }

  Tokenizer& tokenizer() { return *tokenizer_; }
  void finish() { numbers_.flush(); }

 private:
  void take(std::span<const std::string_view> words) {
    ids_.resize(words.size());
    counter_.count(words, ids_);
    numbers_.append({reinterpret_cast<const char*>(ids_.data()), ids_.size() * sizeof(uint32_t)});
  }

  WordCounter counter_;
  ScratchFile numbers_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<uint32_t> ids_;
};

void check_enough(const Numbering& numbering, const Collector& collector,
                  const CorpusOptions& options, const TextLook& look, const std::string& where) {
  if (collector.counts().words == 0) {
    throw fault(ErrorKind::kInput, "{}: no words in {} bytes; give a text file with words in it",
                where, collector.counts().bytes);
  }
  if (numbering.vocabulary.words.size() >= 2 && numbering.kept >= 2) return;
  uint64_t largest = 0;
  const WordCounter& counter = collector.counter();
  for (size_t n = 0; n < counter.size(); ++n) largest = std::max(largest, counter.count_of(n));
  const std::string unspaced = look.unspaced_hint();  // whole sentences are rare
  if (numbering.types == 0) {
    throw fault(ErrorKind::kInput,
                "{}: all {} words were dropped ({} over {} bytes, {} not UTF-8); {}", where,
                collector.counts().words, collector.counts().too_long, options.max_word,
                collector.counts().invalid_utf8,
                unspaced.empty() ? "see --max-word, --tokens and --invalid-utf8" : unspaced);
  }
  if (numbering.types == 1 && unspaced.empty()) {
    throw fault(ErrorKind::kInput,
                "{}: the same word {}, and training needs 2 different ones; give more text", where,
                count_of(largest, "time"));
  }
  throw fault(ErrorKind::kInput,
              "{}: {} of {} distinct words remain, and training needs 2; the most frequent occurs "
              "{} and --min-count is {}{}",
              where, numbering.kept == 0 ? 0 : numbering.vocabulary.words.size(), numbering.types,
              count_of(largest, "time"), options.min_count,
              unspaced.empty() ? ", so lower --min-count or give more text" : "; " + unspaced);
}

uint64_t fingerprint_of(const Vocabulary& vocabulary, uint64_t stream) {
  const Names& words = vocabulary.words;
  for (const uint64_t part :
       {XXH3_64bits(words.bytes().data(), words.bytes().size()),
        XXH3_64bits(words.offsets().data(), words.offsets().size_bytes()),
        XXH3_64bits(vocabulary.counts.data(), vocabulary.counts.size() * sizeof(uint64_t))}) {
    stream = mix64(stream + part);
  }
  return stream;
}

CorpusProfile profile_of(const Tokenizer::Counts& counts, const Numbering& numbering) {
  return {.bytes = counts.bytes,
          .lines = counts.lines,
          .tokens = counts.words,
          .types = numbering.types,
          .kept = numbering.kept,
          .too_long = counts.too_long,
          .invalid_utf8 = counts.invalid_utf8,
          .longest_line = counts.longest_line};
}

// The second pass: provisional numbers -> the training stream.
void write_stream(const ScratchFile& numbers, std::span<const uint32_t> final_numbers,
                  StreamBuilder& builder) {
  std::vector<uint32_t> ids(kIdsPerPiece);
  const uint64_t total = numbers.size() / sizeof(uint32_t);
  for (uint64_t begin = 0; begin < total; begin += kIdsPerPiece) {
    const auto piece = std::span(ids).first(std::min<uint64_t>(kIdsPerPiece, total - begin));
    numbers.read(begin * sizeof(uint32_t),
                 {reinterpret_cast<char*>(piece.data()), piece.size_bytes()});
    builder.add(piece, final_numbers);
  }
  builder.finish();
}

}  // namespace

Corpus Corpus::read(const std::vector<std::string>& paths, const CorpusOptions& options,
                    const std::string& scratch_folder, const Vocabulary* base,
                    const std::function<void(uint64_t, double)>& on_read) {
  if (paths.empty()) {
    throw fault(ErrorKind::kUsage, "no text was given; name a file, or - for standard input");
  }
  Input input(paths, options.encoding, on_read);
  return read(input, options, scratch_folder, base);
}

Corpus Corpus::read(std::unique_ptr<ByteSource> source, const std::string& name,
                    const CorpusOptions& options, const std::string& scratch_folder,
                    const Vocabulary* base) {
  Input input(std::move(source), name);
  return read(input, options, scratch_folder, base);
}

Corpus Corpus::read(Input& input, const CorpusOptions& options, const std::string& scratch_folder,
                    const Vocabulary* base) {
  Corpus corpus;
  Collector collector(options, scratch_folder);
  if (base) {
    for (size_t i = 0; i < base->words.size(); ++i) collector.counter().add(base->words[i]);
  }
  input.feed(collector.tokenizer(), corpus.look_);
  collector.finish();
  Numbering numbering = number_words(collector.counter(), options, base);
  check_enough(numbering, collector, options, corpus.look_, input.name());
  collector.forget_words();
  corpus.options_ = options;
  corpus.goes_on_ = base != nullptr;
  corpus.vocabulary_ = std::move(numbering.vocabulary);
  corpus.profile_ = profile_of(collector.counts(), numbering);

  corpus.stream_ = std::make_unique<ScratchFile>(scratch_folder);
  const uint64_t usual = std::min(kUsualHoldout, numbering.kept / 100);
  StreamBuilder builder(*corpus.stream_, numbering.kept,
                        HoldOut::wanted(options.holdout, numbering.kept, usual));
  write_stream(collector.numbers(), numbering.final_numbers, builder);
  corpus.size_ = builder.size();
  corpus.words_ = builder.words();
  corpus.held_out_ = std::move(builder.held_out());
  corpus.fingerprint_ = fingerprint_of(corpus.vocabulary_, builder.fingerprint());
  return corpus;
}

void Corpus::read(uint64_t begin, std::span<WordId> out) const {
  stream_->read(begin * sizeof(WordId), {reinterpret_cast<char*>(out.data()), out.size_bytes()});
}

}  // namespace kith
