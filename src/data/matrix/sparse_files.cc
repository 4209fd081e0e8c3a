// SPDX-License-Identifier: Apache-2.0
// Sparse rows: Matrix Market's coordinates, and the lines of lda-c.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "data/matrix/row_sources.h"
#include "data/table/cells.h"
#include "data/table/table_readers.h"
#include "io/utf8.h"

namespace kith {
namespace {

constexpr uint64_t kMostRows = std::numeric_limits<uint32_t>::max() - 1;
constexpr size_t kLook = size_t{1} << 16;
constexpr size_t kMaxLine = size_t{64} << 20;
constexpr uint64_t kTellEvery = 1 << 16;  // lines

// Lines of a source, whatever it is packed with.
class Lines {
 public:
  Lines(const std::string& path, std::unique_ptr<PeekedSource> source, const ReadRequest& request)
      : name_(path == "-" ? "standard input" : path),
        request_(request),
        source_(std::move(source)) {}
  SparseFormat format() { return sparse_format(source_->peek(kLook)); }

  bool next(std::string_view& line) {
    text_.clear();
    for (;;) {
      if (at_ == piece_.size()) {
        piece_ = source_->next();
        bytes_ += piece_.size();
        at_ = 0;
        if (piece_.empty() && text_.empty()) return false;
        if (piece_.empty()) break;
      }
      const auto from = piece_.subspan(at_);
      const auto end = std::ranges::find(from, '\n');
      text_.append(from.begin(), end);
      at_ += static_cast<size_t>(end - from.begin());
      if (text_.size() > kMaxLine) {
        throw fault(ErrorKind::kInput, "{}:{}: a line of more than {} bytes", name_, number_ + 1,
                    kMaxLine);
      }
      if (end == from.end()) continue;
      ++at_;
      break;
    }
    if (++number_ % kTellEvery == 0 && request_.on_read) {
      request_.on_read(bytes_, source_->share());
    }
    line = trimmed(text_);
    return true;
  }
  std::string where() const { return fmt::format("{}:{}", name_, number_); }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  const ReadRequest& request_;
  std::unique_ptr<PeekedSource> source_;
  std::span<const char> piece_;
  size_t at_ = 0;
  std::string text_;
  uint64_t number_ = 0, bytes_ = 0;
};

// The next field of a line, cut off its front.
std::string_view field_of(std::string_view& line) {
  line = trimmed(line);
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view out = line.substr(0, end);
  line.remove_prefix(end);
  return out;
}

template <class T>
bool parse(std::string_view text, T& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc() && end == text.data() + text.size() && !text.empty();
}

struct Entry {
  uint32_t row, column;
  float value;
};

// Rows in their order, the columns of each rising; an entry that stands twice is added up.
void append(Sparse& to, std::vector<Entry>& entries, uint64_t rows) {
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  size_t k = 0;
  for (uint64_t r = 0; r < rows; ++r) {
    const size_t begin = to.column.size();
    for (; k < entries.size() && entries[k].row == r; ++k) {
      if (to.column.size() > begin && to.column.back() == entries[k].column) {
        to.value.back() += entries[k].value;
      } else {
        to.column.push_back(entries[k].column);
        to.value.push_back(entries[k].value);
      }
    }
    to.offsets.push_back(to.column.size());
  }
}

// https://math.nist.gov/MatrixMarket/formats.html
void read_matrix_market(Lines& lines, Sparse& out) {
  std::string_view line;
  lines.next(line);
  std::string head(line);
  std::ranges::transform(head, head.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string_view rest = head;
  field_of(rest);
  const std::string_view object = field_of(rest), format = field_of(rest), type = field_of(rest),
                         symmetry = field_of(rest);
  const bool pattern = type == "pattern";
  if (object != "matrix" || format != "coordinate" || symmetry != "general" ||
      (type != "real" && type != "integer" && !pattern)) {
    throw fault(ErrorKind::kInput,
                "{}: this Matrix Market file is {}; matrix coordinate real general (or integer, "
                "or pattern) is read; write it so, or a dense one as npy",
                lines.where(), shown(std::string_view(head).substr(14)));
  }
  do {
    if (!lines.next(line)) {
      throw fault(ErrorKind::kInput, "{}: the file ends before its sizes", lines.name());
    }
  } while (line.empty() || line.front() == '%');
  uint64_t rows = 0, cols = 0, count = 0;
  rest = line;
  if (!parse(field_of(rest), rows) || !parse(field_of(rest), cols) ||
      !parse(field_of(rest), count) || rows == 0 || cols == 0 || rows > kMostRows ||
      cols > kMostRows) {
    throw fault(ErrorKind::kInput, "{}: expected numbers of rows, columns and entries, found {}",
                lines.where(), shown(line));
  }
  std::vector<Entry> entries;  // grows with what is read, not with what is claimed
  while (lines.next(line)) {
    if (line.empty()) continue;
    uint64_t r = 0, c = 0;
    float value = 1;
    rest = line;
    if (!parse(field_of(rest), r) || !parse(field_of(rest), c) ||
        (!pattern && !parse(field_of(rest), value))) {
      throw fault(ErrorKind::kInput, "{}: expected row, column{}, found {}", lines.where(),
                  pattern ? "" : " and value", shown(line));
    }
    if (r < 1 || r > rows || c < 1 || c > cols) {
      throw fault(ErrorKind::kInput,
                  "{}: entry ({}, {}) is outside the {} rows and {} columns that the file claims; "
                  "both count from 1",
                  lines.where(), r, c, rows, cols);
    }
    if (!std::isfinite(value)) {
      throw fault(ErrorKind::kInput, "{}: row {}, column {}: {} is not a finite number",
                  lines.where(), r, c, shown(line.substr(line.find_last_of(" \t") + 1)));
    }
    entries.push_back({static_cast<uint32_t>(r - 1), static_cast<uint32_t>(c - 1), value});
  }
  if (entries.size() != count) {
    throw fault(ErrorKind::kInput, "{}: {} entries are claimed and {} are there; is it cut off?",
                lines.name(), count, entries.size());
  }
  out.columns = std::max(out.columns, static_cast<uint32_t>(cols));
  append(out, entries, rows);
}

void read_lda_c(Lines& lines, Sparse& out) {
  std::string_view line;
  std::vector<Entry> entries;
  while (lines.next(line)) {
    if (line.empty()) continue;
    if (out.rows() == kMostRows) {
      throw fault(ErrorKind::kLimit, "{}: more than {} rows", lines.where(), kMostRows);
    }
    uint64_t claimed = 0;
    bool good = parse(field_of(line), claimed);
    entries.clear();
    while (good && !(line = trimmed(line)).empty()) {
      const std::string_view field = field_of(line);
      const size_t colon = field.find(':');
      Entry e{0, 0, 0};
      good = colon != std::string_view::npos && parse(field.substr(0, colon), e.column) &&
             e.column < kMostRows && parse(field.substr(colon + 1), e.value) &&
             std::isfinite(e.value);
      entries.push_back(e);
    }
    if (!good || entries.size() != claimed) {
      throw fault(
          ErrorKind::kInput,
          "{}: expected the number of entries and then so many of column:value, as in 2 0:1 "
          "7:3",
          lines.where());
    }
    for (const Entry& e : entries) out.columns = std::max(out.columns, e.column + 1);
    append(out, entries, 1);
  }
}

}  // namespace

SparseFormat sparse_format(std::string_view start) {
  if (start.starts_with("%%MatrixMarket")) return SparseFormat::kMatrixMarket;
  std::string_view line = start.substr(0, start.find('\n'));
  uint64_t claimed = 0;
  if (!parse(field_of(line), claimed) || (claimed > 0) == trimmed(line).empty()) {
    return SparseFormat::kNone;
  }
  while (!(line = trimmed(line)).empty()) {
    const std::string_view field = field_of(line);
    const size_t colon = field.find(':');
    uint32_t column = 0;
    if (colon == std::string_view::npos || !parse(field.substr(0, colon), column)) {
      return SparseFormat::kNone;
    }
  }
  return SparseFormat::kLdaC;
}

void add_sparse(const std::string& path, std::unique_ptr<PeekedSource> source, Sparse& out,
                const ReadRequest& request) {
  Lines lines(path, std::move(source), request);
  const uint64_t before = out.rows();
  if (lines.format() == SparseFormat::kMatrixMarket) {
    read_matrix_market(lines, out);
  } else {
    read_lda_c(lines, out);
  }
  if (out.rows() > before && out.columns > 0) return;
  throw fault(ErrorKind::kInput, "{}: there are no numbers in it", lines.name());
}

}  // namespace kith
