// SPDX-License-Identifier: Apache-2.0
// Files of counts: lda-c (Blei), a document a line as "n word:count ...", words from 0; and UCI
// docword, whose first lines are the numbers of documents, words and entries, and the others
// "document word count", both from 1.

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "data/bags/line_reader.h"
#include "data/bags/raw_bags.h"
#include "io/utf8.h"

namespace kith {
namespace {

constexpr size_t kLooked = 20;                   // lines that must look like counts
constexpr uint64_t kMostNumber = (1 << 28) - 1;  // of a word that has no name
constexpr uint64_t kDocumentsPerEntry = 1000;
constexpr uint64_t kReportEvery = 1 << 16;  // lines

std::string_view without_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The next piece between blanks; empty at the end.
std::string_view next_piece(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const std::string_view out = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(out.size());
  return out;
}

bool parse(std::string_view text, uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// "word:count"; false if it is none.
bool parse_pair(std::string_view text, uint64_t& word, std::string_view& count) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || !parse(text.substr(0, colon), word)) return false;
  count = text.substr(colon + 1);
  return true;
}

bool is_lda_c(std::string_view line, bool& has_words) {
  uint64_t n = 0, seen = 0, word = 0, number = 0;
  if (!parse(next_piece(line), n)) return false;
  for (std::string_view p = next_piece(line); !p.empty(); p = next_piece(line), ++seen) {
    std::string_view count;
    if (!parse_pair(p, word, count) || !parse(count, number)) return false;
  }
  has_words |= seen > 0;
  return true;
}

// Which numbers of words there are: one bit each, so that a large one costs little.
class UsedWords {
 public:
  void add(uint32_t word) {
    const size_t at = word / 64;
    if (at >= bits_.size()) bits_.resize(at + 1);
    bits_[at] |= uint64_t{1} << word % 64;
  }
  void count() {  // once all are there
    for (const uint64_t b : bits_) {
      before_.push_back(size_);
      size_ += static_cast<uint32_t>(std::popcount(b));
    }
  }
  uint32_t size() const { return size_; }
  // How many are smaller.
  uint32_t rank(uint32_t word) const {
    const uint64_t smaller = bits_[word / 64] & ((uint64_t{1} << word % 64) - 1);
    return before_[word / 64] + static_cast<uint32_t>(std::popcount(smaller));
  }
  // In rising order.
  template <class F>
  void for_each(const F& f) const {
    for (size_t at = 0; at < bits_.size(); ++at) {
      for (uint64_t left = bits_[at]; left != 0; left &= left - 1) {
        f(static_cast<uint32_t>(at * 64 + static_cast<size_t>(std::countr_zero(left))));
      }
    }
  }

 private:
  std::vector<uint64_t> bits_;
  std::vector<uint32_t> before_;
  uint32_t size_ = 0;
};

// What stands in the files, with words by their own numbers.
class Entries {
 public:
  explicit Entries(uint64_t words) : words_(words) {}

  // `from`: the number of the first word in such a file.
  void add(uint64_t document, uint64_t word, uint64_t from, std::string_view count,
           const LineReader& at) {
    const uint64_t most = words_ > 0 ? words_ - 1 : kMostNumber;
    if (word < from || word - from > most) {
      throw fault(ErrorKind::kInput, "{}: there is no word {}; {} go from {} to {}", at.where(),
                  word, words_ > 0 ? "those of --vocab" : "numbers of words", from, most + from);
    }
    uint64_t n = 0;
    if (!parse(count, n) || n == 0) {
      throw fault(ErrorKind::kInput,
                  "{}: the count of word {} is {}; counts are whole numbers from 1, and a word "
                  "that is not there is left out",
                  at.where(), word, shown(count));
    }
    if (n > Bags::kMostOfAWord) {
      throw fault(ErrorKind::kInput, "{}: the count of word {} is {}, and the most is {}",
                  at.where(), word, n, Bags::kMostOfAWord);
    }
    document_.push_back(static_cast<uint32_t>(document));
    word_.push_back(static_cast<uint32_t>(word - from));
    count_.push_back(static_cast<float>(n));
  }
  uint64_t size() const { return word_.size(); }

  UsedWords used() const {
    UsedWords out;
    for (const uint32_t w : word_) out.add(w);
    out.count();
    return out;
  }

  // By document and word. What is said twice counts twice. Gives the entries up.
  // `columns`: of the words that are used, which give the matrix so many.
  Sparse matrix(uint64_t documents, const UsedWords& used, std::span<const uint32_t> columns,
                uint64_t width) {
    Sparse out;
    out.columns = static_cast<uint32_t>(width);
    std::vector<uint64_t> at(documents + 1, 0);
    for (const uint32_t d : document_) ++at[d + 1];
    for (size_t d = 0; d < documents; ++d) at[d + 1] += at[d];
    std::vector<std::pair<uint32_t, float>> entries(word_.size());
    for (size_t i = 0; i < word_.size(); ++i) {
      entries[at[document_[i]]++] = {columns[used.rank(word_[i])], count_[i]};
    }
    document_ = word_ = {};
    count_ = {};
    out.column.reserve(entries.size());
    out.value.reserve(entries.size());
    for (uint64_t d = 0, begin = 0; d < documents; begin = at[d++]) {
      const std::span<std::pair<uint32_t, float>> own(entries.data() + begin, at[d] - begin);
      std::ranges::sort(own);
      for (size_t i = 0; i < own.size(); ++i) {
        const bool again = i > 0 && own[i].first == own[i - 1].first;
        if (!again) {
          out.column.push_back(own[i].first);
          out.value.push_back(own[i].second);
          continue;
        }
        const float most = static_cast<float>(Bags::kMostOfAWord);
        out.value.back() = std::min(most, out.value.back() + own[i].second);
      }
      out.offsets.push_back(out.column.size());
    }
    return out;
  }

 private:
  uint64_t words_;  // that have names; 0: none has
  std::vector<uint32_t> document_, word_;
  std::vector<float> count_;
};

class BagFiles {
 public:
  BagFiles(uint64_t words, const OnRead& on_read) : entries_(words), on_read_(on_read) {}

  void read(const std::string& source) {
    const BagFile kind = bag_file_at(source);
    if (kind == BagFile::kNone) {
      throw fault(ErrorKind::kInput,
                  "{}: this is no file of counts (lda-c or UCI docword), and the others are",
                  source);
    }
    LineReader in(source);
    kind == BagFile::kLdaC ? read_lda_c(in) : read_docword(in);
    bytes_ += in.bytes();
  }

  Entries& entries() { return entries_; }
  uint64_t documents() const { return documents_; }
  uint64_t bytes() const { return bytes_; }

 private:
  void read_lda_c(LineReader& in) {
    for (std::string_view line; in.next(line);) {
      tell(in);
      if (without_blanks(line).empty()) {
        throw fault(ErrorKind::kInput, "{}: an empty line; a document without words is 0",
                    in.where());
      }
      uint64_t n = 0, seen = 0, word = 0;
      const std::string_view first = next_piece(line);
      if (!parse(first, n)) {
        throw fault(ErrorKind::kInput, "{}: {} is no number of words; a line is: n word:count ...",
                    in.where(), shown(first));
      }
      for (std::string_view p = next_piece(line); !p.empty(); p = next_piece(line), ++seen) {
        std::string_view count;
        if (!parse_pair(p, word, count)) {
          throw fault(ErrorKind::kInput, "{}: {} is no word:count", in.where(), shown(p));
        }
        entries_.add(documents_, word, 0, count, in);
      }
      if (seen != n) {
        throw fault(ErrorKind::kInput, "{}: the line says {} words and has {}", in.where(), n,
                    seen);
      }
      add_document();
    }
  }

  void read_docword(LineReader& in) {
    const uint64_t documents = head(in, "documents"), words = head(in, "words");
    const uint64_t size = head(in, "entries");
    // A number alone must not cost memory.
    if (documents / kDocumentsPerEntry > size + 1 || documents_ + documents >= 0xffffffff) {
      throw fault(ErrorKind::kInput, "{}: {} documents of {} entries are too many", in.where(),
                  documents, size);
    }
    const uint64_t before = entries_.size();
    for (std::string_view line; in.next(line);) {
      tell(in);
      if (without_blanks(line).empty()) continue;
      uint64_t document = 0, word = 0;
      const std::string_view a = next_piece(line), b = next_piece(line), n = next_piece(line);
      if (!parse(a, document) || !parse(b, word) || n.empty() || !next_piece(line).empty()) {
        throw fault(ErrorKind::kInput, "{}: a line is: document word count", in.where());
      }
      if (document < 1 || document > documents) {
        throw fault(ErrorKind::kInput, "{}: there is no document {}; they go from 1 to {}",
                    in.where(), document, documents);
      }
      if (word > words) {
        throw fault(ErrorKind::kInput, "{}: there is no word {}; they go from 1 to {}", in.where(),
                    word, words);
      }
      entries_.add(documents_ + document - 1, word, 1, n, in);
    }
    if (entries_.size() - before != size) {
      throw fault(ErrorKind::kInput, "{}: the file ends after {} entries of {}", in.where(),
                  entries_.size() - before, size);
    }
    documents_ += documents;
  }

  static uint64_t head(LineReader& in, std::string_view what) {
    std::string_view line;
    uint64_t out = 0;
    if (in.next(line) && parse(without_blanks(line), out)) return out;
    throw fault(ErrorKind::kInput, "{}: {} is no number of {}", in.where(), shown(line), what);
  }

  void add_document() {
    if (++documents_ >= 0xffffffff) throw fault(ErrorKind::kLimit, "too many documents");
  }
  void tell(const LineReader& in) const {
    if (on_read_ && in.number() % kReportEvery == 0) on_read_(bytes_ + in.bytes(), in.share());
  }

  Entries entries_;
  const OnRead& on_read_;
  uint64_t documents_ = 0, bytes_ = 0;
};

// One a line.
Names read_vocabulary(const std::string& path) {
  Names out;
  LineReader in(path);
  for (std::string_view line; in.next(line);) {
    std::string fixed;
    std::string_view word = without_blanks(line);
    if (repair_utf8(word, fixed)) word = fixed;
    if (word.empty()) {
      throw fault(ErrorKind::kInput, "{}: an empty line; a word is a line", in.where());
    }
    if (out.find(word)) {
      throw fault(ErrorKind::kInput, "{}: {} stands twice; a word has one line", in.where(),
                  shown(word));
    }
    out.add(word);
  }
  if (out.size() == 0) throw fault(ErrorKind::kInput, "{}: there are no words in it", path);
  return out;
}

}  // namespace

BagFile bag_file_at(const std::string& source) {
  std::error_code none;
  if (source == "-" || !std::filesystem::is_regular_file(source, none)) return BagFile::kNone;
  try {
    const auto stream = open_source(source);
    const auto piece = stream->next();
    const std::string start(piece.data(), piece.size());
    const bool whole = stream->next().empty();
    std::string_view text = start;
    bool docword = true, lda_c = true, has_words = false;
    size_t lines = 0;
    for (; lines < kLooked && !text.empty() && (docword || lda_c); ++lines) {
      const size_t end = text.find('\n');
      if (end == std::string_view::npos && !whole) break;
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      lda_c = lda_c && is_lda_c(line, has_words);
      uint64_t number = 0, numbers = 0;
      for (std::string_view p = next_piece(line); docword && !p.empty(); p = next_piece(line)) {
        docword = parse(p, number);
        ++numbers;
      }
      docword = docword && numbers == (lines < 3 ? 1 : 3);
    }
    if (docword && lines > 3) return BagFile::kDocword;
    return lda_c && has_words ? BagFile::kLdaC : BagFile::kNone;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    return BagFile::kNone;  // whoever reads it says what is wrong
  }
}

RawBags read_bag_files(const std::vector<std::string>& sources, const std::string& vocab,
                       const Names* known, const OnRead& on_read) {
  const Names all = vocab.empty() ? Names() : read_vocabulary(vocab);
  BagFiles files(all.size(), on_read);
  for (const std::string& source : sources) files.read(source);
  Entries& entries = files.entries();
  const UsedWords used = entries.used();
  RawBags out;
  if (known) out.words = *known;
  std::vector<uint32_t> columns;
  used.for_each([&](uint32_t w) {
    columns.push_back(out.words.add(vocab.empty() ? fmt::format("{}", w) : std::string(all[w])));
  });
  out.counts = entries.matrix(files.documents(), used, columns, out.words.size());
  for (uint64_t d = 1; d <= files.documents(); ++d) out.names.add(fmt::format("{}", d));
  out.profile.bytes = files.bytes();
  out.profile.types = used.size();
  for (const float n : out.counts.value) out.profile.tokens += static_cast<uint64_t>(n);
  return out;
}

}  // namespace kith
