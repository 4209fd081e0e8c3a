// SPDX-License-Identifier: Apache-2.0
// CSV and TSV, as RFC 4180 says and as people write them: any delimiter, \n or \r\n, quotes inside
// bare cells. Cells are views into the buffer; only doubled quotes are
// rewritten, in place. In tables with tabs or :: a cell may begin with a quote that means nothing
// ("Alien" 3): if text follows the closing quote, or there is none, the cell is taken as it stands.
#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"
#include "data/table/cells.h"
#include "data/table/table_readers.h"
#include "io/utf8.h"

namespace kith {
namespace {

using ByteSet = std::array<bool, 256>;

ByteSet byte_set(std::initializer_list<char> bytes) {
  ByteSet out{};
  for (const char c : bytes) out[static_cast<uint8_t>(c)] = true;
  return out;
}

std::string shown_delimiter(Delimiter d) {
  if (d == '\t') return "a tab";
  return fmt::format("\"{}\"", std::string(d.twice ? 2 : 1, d.byte));
}

class DelimitedReader final : public TableReader {
 public:
  DelimitedReader(std::unique_ptr<ByteSource> source, std::string name, Delimiter delimiter,
                  const TableOptions& options)
      : TableReader(options),
        name_(std::move(name)),
        delimiter_(delimiter),
        quotes_may_mean_nothing_(delimiter == '\t' || delimiter.twice),
        bare_stops_(byte_set({delimiter.byte, '\n', '\0'})),
        quoted_stops_(byte_set({'"', '\n', '\0'})),
        header_(options.header),
        buffer_(std::move(source)) {
    do {
      if (!read_record()) {
        throw fault(ErrorKind::kInput, "{}: there is no row; give a table with {}", name_,
                    header_ ? "a first row that names the columns" : "at least one row");
      }
    } while (blank_);
    if (header_ && options.is_header) header_ = options.is_header(texts());
    header_ ? take_header() : number_columns();
  }

  const std::vector<std::string>& columns() const override { return columns_; }

  bool next(std::vector<Cell>& cells) override {
    for (;;) {
      try {
        return take_row(cells);
      } catch (const BadRow& row) {
        const bool whole = length_ > 0;  // else it was left on the way
        if (!whole) tally()->add_row();
        tally()->leave_out(row);
        if (!whole) pass_line();
      }
    }
  }

  std::string where() const override { return fmt::format("{}:{}", name_, line_); }
  uint64_t bytes() const override { return buffer_.bytes_read(); }
  double share() const override { return buffer_.share(); }

 private:
  // A cell by its offsets from the start of the record.
  struct Span {
    size_t begin, end;
    bool doubled;  // has doubled quotes
  };

  bool take_row(std::vector<Cell>& cells) {
    if (!std::exchange(held_, false)) {
      // In a table of one column an empty line is an empty cell, unless it is the last.
      do {
        if (!read_record()) return false;
      } while (blank_ && (columns_.size() > 1 || at_end()));
    }
    tally()->add_row();
    if (spans_.size() != columns_.size()) fail_ragged();
    cells.resize(spans_.size());
    for (size_t i = 0; i < spans_.size(); ++i) {
      const std::string_view text = text_of(spans_[i]);
      cells[i] = text.empty() ? Cell() : Cell(text);
    }
    if (!utf8_) repair(cells);
    return true;
  }

  // Of a record that has no end that could be trusted, one line is passed over.
  void pass_line() {
    size_t at = 0;
    while ((at = line_end(at)) == buffer_.size() && grow()) {
    }
    length_ = std::min(at + 1, buffer_.size());
    next_line_ = line_ + 1;
  }

  // The line end at or behind `at` in what has arrived, or its end.
  size_t line_end(size_t at) {
    return static_cast<size_t>(std::find(buffer_.row() + at, buffer_.row() + buffer_.size(), '\n') -
                               buffer_.row());
  }

  void repair(std::vector<Cell>& cells) {
    tally()->add_repaired(*this);
    repaired_.resize(cells.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      if (cells[i] && repair_utf8(*cells[i], repaired_[i])) cells[i] = repaired_[i];
    }
  }

  std::vector<std::string_view> texts() {
    std::vector<std::string_view> out;
    for (Span& span : spans_) out.push_back(text_of(span));
    return out;
  }

  void take_header() {
    if (!utf8_) tally()->add_repaired(*this);
    for (Span& span : spans_) {
      const std::string_view name = trimmed(text_of(span));
      const size_t cr = name.find('\r');
      if (cr != std::string_view::npos && name.substr(cr, 2) != "\r\n") {
        throw fault(ErrorKind::kInput,
                    "{}:{}: lines end in a carriage return alone; convert them with: "
                    "tr '\\r' '\\n'",
                    name_, line_);
      }
      std::string repaired;
      columns_.emplace_back(repair_utf8(name, repaired) ? repaired : name);
    }
    check_column_names(columns_, where(), "give each column a name of its own, or --no-header");
  }

  void number_columns() {
    for (size_t i = 1; i <= spans_.size(); ++i) columns_.push_back(fmt::format("c{}", i));
    held_ = true;
  }

  // Cuts the next record into spans_; false at the end.
  bool read_record() {
    buffer_.skip(std::exchange(length_, 0));
    if (at_end()) return false;
    line_ = next_line_;
    spans_.clear();
    size_t at = 0;
    while (take_cell(at)) {
    }
    ++next_line_;
    blank_ = spans_.size() == 1 && at <= 1 && spans_[0].begin == spans_[0].end;
    length_ = std::min(at + 1, buffer_.size());
    // Now, because doubled quotes are taken out in place, which leaves bytes behind a cell's end.
    utf8_ = find_invalid_utf8({buffer_.row(), length_}) == std::string_view::npos;
    return true;
  }

  bool at_end() { return buffer_.size() == length_ && !buffer_.more(); }

  // Takes the cell that begins at `at`, and leaves `at` behind its delimiter; false, and `at` at
  // the end of the line, if it is the last one.
  bool take_cell(size_t& at) {
    if (at == buffer_.size()) grow();
    if (spans_.size() == kMaxColumns) {
      throw BadRow(fmt::format("{}: more than {} cells in a row; is {} the delimiter?", where(),
                               kMaxColumns, shown_delimiter(delimiter_)));
    }
    if (buffer_.row()[at] != '"' || !take_quoted(at)) take_bare(at);
    if (buffer_.row()[at] == '\n') return false;
    at += delimiter_.twice ? 2 : 1;
    return true;
  }

  // Whether the delimiter stands at `at`.
  bool delimits(size_t at) {
    if (buffer_.row()[at] != delimiter_.byte) return false;
    if (!delimiter_.twice) return true;
    if (at + 1 == buffer_.size()) grow();
    return buffer_.row()[at + 1] == delimiter_.byte;
  }

  void take_bare(size_t& at) {
    const size_t begin = at;
    at = find(bare_stops_, at);
    while (delimiter_.twice && buffer_.row()[at] != '\n' && !delimits(at)) {
      at = find(bare_stops_, at + 1);
    }
    size_t end = at;
    if (buffer_.row()[at] == '\n' && end > begin && buffer_.row()[end - 1] == '\r') --end;
    spans_.push_back({begin, end, false});
  }

  // False if the quote at `at` turns out to belong to a bare cell.
  bool take_quoted(size_t& at) {
    const size_t begin = at + 1;
    const uint64_t first_line = next_line_;
    bool doubled = false;
    size_t end = find_in_quotes(begin);
    for (; end < buffer_.size(); end = find_in_quotes(end + 2)) {
      while (end + 2 >= buffer_.size() && grow()) {  // the next two bytes decide
      }
      if (buffer_.row()[end + 1] != '"') break;
      doubled = true;
    }
    const bool closed = end < buffer_.size();
    size_t next = closed ? end + 1 : end;
    if (next < buffer_.size() && buffer_.row()[next] == '\r' && buffer_.row()[next + 1] == '\n') {
      ++next;
    }
    if (!closed || (buffer_.row()[next] != '\n' && !delimits(next))) {
      if (!quotes_may_mean_nothing_) fail_quote(first_line, closed, next);
      next_line_ = first_line;
      return false;
    }
    at = next;
    spans_.push_back({begin, end, doubled});
    return true;
  }

  // The quote at or behind `at`, counting the lines on the way; the end if there is none.
  size_t find_in_quotes(size_t at) {
    for (;; ++at, ++next_line_) {
      at = find(quoted_stops_, at);
      if (at == buffer_.size() || buffer_.row()[at] == '"') return at;
    }
  }

  // The first byte of the set at or behind `at`, or the end of the stream.
  size_t find(const ByteSet& stops, size_t at) {
    for (;;) {
      const char* p = buffer_.row() + at;
      while (!stops[static_cast<uint8_t>(*p)]) ++p;  // ends at the '\n' behind the buffer at last
      at = static_cast<size_t>(p - buffer_.row());
      if (at < buffer_.size()) {
        if (*p == '\0') fail_nul(at);
        return at;
      }
      // A quote that means nothing may be the last one of a large file.
      const bool give_up =
          quotes_may_mean_nothing_ && &stops == &quoted_stops_ && buffer_.size() > kMaxRowBytes;
      if (give_up || !grow()) return at;
    }
  }

  // More of the row; false at the end of the stream.
  bool grow() {
    if (buffer_.size() > kMaxRowBytes) {
      throw BadRow(
          fmt::format("{}: the row that begins here is longer than {} MiB; is a quote not closed, "
                      "or is this not a table?",
                      where(), kMaxRowBytes >> 20));
    }
    return buffer_.more();
  }

  // Doubled quotes become single ones in place; the row is not scanned again.
  std::string_view text_of(Span& span) {
    char* const row = buffer_.row();
    if (std::exchange(span.doubled, false)) {
      char* out = row + span.begin;
      for (const char* in = out; in < row + span.end; ++in) {
        in += *in == '"' ? 1 : 0;
        *out++ = *in;
      }
      span.end = static_cast<size_t>(out - row);
    }
    return {row + span.begin, span.end - span.begin};
  }

  [[noreturn]] void fail_ragged() const {
    throw BadRow(fmt::format(
        "{}: found {} cell{} where {} has {} (the delimiter is {}); correct the line, or "
        "put cells that contain the delimiter in quotes",
        where(), spans_.size(), spans_.size() == 1 ? "" : "s",
        header_ ? "the header" : "the first row", columns_.size(),
        delimiter_ == '\n' ? "the end of the line" : shown_delimiter(delimiter_)));
  }

  // At what follows the closing quote, if there was one.
  [[noreturn]] void fail_quote(uint64_t line, bool closed, size_t at) {
    if (!closed) {
      throw BadRow(fmt::format(
          "{}:{}: a quote that opens here is never closed; close it, or double the quotes "
          "that belong to a cell and quote the cell",
          name_, line));
    }
    const std::string_view rest(buffer_.row() + at, buffer_.size() - at);
    throw BadRow(fmt::format(
        "{}:{}: text follows a closed quote: {}; double the quotes that belong to the cell", name_,
        line, shown(rest.substr(0, rest.find_first_of("\r\n")))));
  }

  [[noreturn]] void fail_nul(size_t at) {
    // Latin letters in UTF-16 have a NUL each, on one side or the other.
    const char* const p = buffer_.row() + at;
    const bool utf16 = at + 2 < buffer_.size() && p[1] != 0 && p[2] == 0;
    throw BadRow(
        fmt::format("{}:{}: NUL byte; {}", name_, next_line_,
                    utf16 ? "every second byte is one, so this is likely UTF-16: say so with "
                            "--encoding utf-16"
                          : "text has none: remove them with: tr -d '\\000'"));
  }

  std::string name_;
  Delimiter delimiter_;
  bool quotes_may_mean_nothing_;
  ByteSet bare_stops_, quoted_stops_;
  bool header_;
  RowBuffer buffer_;
  std::vector<std::string> columns_;
  std::vector<Span> spans_;            // of the record last read
  std::vector<std::string> repaired_;  // its cells, where they were not UTF-8
  size_t length_ = 0;                  // of that record with its line end
  uint64_t line_ = 1;                  // where it begins
  uint64_t next_line_ = 1;             // where the next begins; grows inside quotes
  bool blank_ = false;                 // it is an empty line
  bool utf8_ = true;                   // its bytes were, as they came
  bool held_ = false;                  // it is the first, and next() has not given it
};

}  // namespace

std::unique_ptr<TableReader> read_delimited(std::unique_ptr<ByteSource> source, std::string name,
                                            Delimiter delimiter, const TableOptions& options) {
  return std::make_unique<DelimitedReader>(std::move(source), std::move(name), delimiter, options);
}

}  // namespace kith
