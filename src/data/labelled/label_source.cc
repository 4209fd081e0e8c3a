// SPDX-License-Identifier: Apache-2.0
#include "data/labelled/label_source.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "data/dataset.h"
#include "data/table/cells.h"
#include "data/table/table_readers.h"
#include "data/text/column_source.h"
#include "io/text_source.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

// Labels of one text; bytes that are not UTF-8 are repaired, as in all names.
class LabelSet {
 public:
  void start(LabelledText& out) {
    out.labels.clear();
    repaired_.clear();
  }
  void add(std::string_view label, LabelledText& out) {
    std::string fixed;
    if (repair_utf8(label, fixed)) label = repaired_.emplace_back(std::move(fixed));
    if (std::ranges::find(out.labels, label) == out.labels.end()) out.labels.push_back(label);
  }

 private:
  std::deque<std::string> repaired_;
};

class LineSource final : public LabelSource {
 public:
  LineSource(std::vector<std::string> sources, std::string prefix, TextEncoding encoding)
      : sources_(std::move(sources)), prefix_(std::move(prefix)), encoding_(encoding) {
    open();
  }

  bool next(LabelledText& out) override {
    if (!read_line()) return false;
    ++rows_;
    set_.start(out);
    out.weight = 1;
    split(out);
    cell_ = out.text;
    out.columns = {&column_, 1};
    out.cells = {&cell_, 1};
    return true;
  }
  uint64_t row() const override { return rows_; }
  uint64_t bytes() const override { return bytes_; }
  double share() const override {
    if (!source_) return 1;
    const double own = source_->share(), count = static_cast<double>(sources_.size());
    return own < 0 ? -1 : (static_cast<double>(at_) + own) / count;
  }

 private:
  void open() {
    source_ = open_text(sources_[at_], encoding_);
    line_number_ = 0;
  }

  bool read_line() {
    line_.clear();
    for (;;) {
      if (rest_.empty()) {
        const std::span<const char> piece = source_->next();
        bytes_ += piece.size();
        rest_ = {piece.data(), piece.size()};
        if (rest_.empty()) {
          if (!line_.empty()) return ++line_number_ > 0;
          if (++at_ == sources_.size()) {
            source_.reset();
            return false;
          }
          open();
          continue;
        }
      }
      const size_t end = rest_.find('\n');
      line_ += rest_.substr(0, end);
      if (line_.size() > kMaxRowBytes) {
        throw fault(ErrorKind::kInput, "{}:{}: a line of more than {}; a text is a line",
                    name_of_sources({sources_[at_]}), line_number_ + 1,
                    in_bytes(static_cast<double>(kMaxRowBytes)));
      }
      if (end == std::string_view::npos) {
        rest_ = {};
        continue;
      }
      rest_.remove_prefix(end + 1);
      ++line_number_;
      return true;
    }
  }

  // Words with the prefix are labels, wherever they stand; most stand in front.
  void split(LabelledText& out) {
    std::string_view text = line_;
    const auto label_in_front = [&] {
      text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
      if (!text.starts_with(prefix_)) return false;
      const size_t end = std::min(text.find_first_of(kBlanks), text.size());
      add_label(text.substr(0, end), out);
      text.remove_prefix(end);
      return true;
    };
    while (!prefix_.empty() && label_in_front()) {
    }
    out.text = text;
    if (prefix_.empty() || text.find(prefix_) == std::string_view::npos) return;
    text_.clear();
    while (!text.empty()) {
      if (label_in_front()) continue;
      const size_t end = std::min(text.find_first_of(kBlanks), text.size());
      text_.append(text.substr(0, end)).append(" ");
      text.remove_prefix(end);
    }
    out.text = text_;
  }

  void add_label(std::string_view word, LabelledText& out) {
    word.remove_prefix(prefix_.size());
    if (word.empty()) {
      throw fault(ErrorKind::kInput, "{}:{}: {} without a name behind it is no label",
                  name_of_sources({sources_[at_]}), line_number_, prefix_);
    }
    set_.add(word, out);
  }

  const std::vector<std::string> sources_;
  const std::string prefix_;
  const TextEncoding encoding_;
  std::unique_ptr<ByteSource> source_;
  size_t at_ = 0;
  uint64_t line_number_ = 0, rows_ = 0, bytes_ = 0;  // of this source; of all
  std::string_view rest_;
  std::string line_, text_;
  LabelSet set_;
  const std::string column_ = "text";
  Cell cell_;
};

class RowSource final : public LabelSource {
 public:
  RowSource(const std::vector<std::string>& sources, const LabelColumns& columns,
            const TableOptions& table, bool labelled)
      : rows_(open_table(sources, table)), separator_(columns.label_separator) {
    const std::string where = name_of_sources(sources);
    const auto place = [&](const std::string& name, std::string_view setting) {
      return columns_named(name, rows_->columns(), where, setting);
    };
    text_at_ = place(columns.text, columns.text_flag);
    const bool there = std::ranges::find(rows_->columns(), columns.label) != rows_->columns().end();
    if (labelled || there) label_at_ = place(columns.label, "label");
    if (labelled && !columns.row_weight.empty()) {
      weight_at_ = place(columns.row_weight, "row-weight").front();
    }
  }

  bool next(LabelledText& out) override {
    if (!rows_->next(cells_)) return false;
    text_.clear();
    for (const size_t c : text_at_) {
      if (!cells_[c]) continue;
      check_no_nul(c);
      if (!text_.empty()) text_ += ' ';
      text_ += *cells_[c];
    }
    std::ranges::replace(text_, kListSeparator, ' ');
    set_.start(out);
    for (const size_t c : label_at_) {
      if (cells_[c]) add_labels(*cells_[c], out);
    }
    out.text = text_;
    out.weight = weight_at_ ? weight() : 1;
    out.columns = rows_->columns();
    out.cells = cells_;
    return true;
  }
  uint64_t row() const override { return rows_->row(); }
  uint64_t bytes() const override { return rows_->bytes(); }
  double share() const override { return rows_->share(); }
  std::vector<Note> finish() override { return rows_->tally()->finish(); }

 private:
  void check_no_nul(size_t column) const {
    if (cells_[column]->find('\0') == std::string_view::npos) return;
    throw fault(ErrorKind::kInput, "{}: NUL byte in column {}; text has none: remove them",
                rows_->where(), shown(rows_->columns()[column]));
  }

  void add_labels(std::string_view cell, LabelledText& out) {
    const std::string_view list(&kListSeparator, 1);
    const bool is_list = cell.find(kListSeparator) != std::string_view::npos;
    for_each_member(cell, is_list ? list : separator_,
                    [&](std::string_view label) { set_.add(label, out); });
  }

  float weight() const {
    const Cell& cell = cells_[*weight_at_];
    const auto value = cell ? parse_number(*cell) : std::nullopt;
    // Weights multiply the steps of training: beyond this they are a mistake.
    constexpr double kMost = 1e6;
    if (value && *value >= 0 && *value <= kMost) return static_cast<float>(*value);
    throw fault(ErrorKind::kInput, "{}: the weight must be a number from 0 to {:g}, and {} is {}",
                rows_->where(), kMost, rows_->columns()[*weight_at_],
                cell ? shown(*cell) : "missing");
  }

  std::unique_ptr<TableReader> rows_;
  const std::string separator_;
  std::vector<size_t> text_at_, label_at_;
  std::optional<size_t> weight_at_;
  std::vector<Cell> cells_;
  std::string text_;
  LabelSet set_;
};

void refuse_table_settings(const TableOptions& table) {
  const TableOptions usual;
  for_each_field<TableOptions>([&](const auto& f) {
    if (table.*(f.member) == usual.*(f.member) || f.name == "encoding") return;
    throw fault(ErrorKind::kUsage,
                "--{} is for tables; name the columns with --text and --label, or leave it out",
                f.name);
  });
}

}  // namespace

std::unique_ptr<LabelSource> open_labelled(const std::vector<std::string>& sources,
                                           const LabelColumns& columns, const TableOptions& table,
                                           bool labelled) {
  if (sources.empty()) throw fault(ErrorKind::kUsage, "no file of texts was given");
  if (columns.text.empty() != columns.label.empty() && (labelled || columns.text.empty())) {
    throw fault(ErrorKind::kUsage, "--{} is given, and --{} is not: a table has both",
                columns.text.empty() ? "label" : "text", columns.text.empty() ? "text" : "label");
  }
  if (!columns.text.empty()) return std::make_unique<RowSource>(sources, columns, table, labelled);
  if (!columns.row_weight.empty()) {
    throw fault(ErrorKind::kUsage, "--row-weight is for tables; name --text and --label as well");
  }
  refuse_table_settings(table);
  for (const std::string& source : sources) {
    if (!is_database(source) && !is_sqlite_file(source)) continue;
    throw fault(ErrorKind::kUsage,
                "{}: this is a database and has no lines of text; name its columns with --text and "
                "--label",
                shown_source(source));
  }
  return std::make_unique<LineSource>(sources, columns.label_prefix, table.encoding);
}

LabelColumns columns_for(const std::string& source, const LabelColumns& said,
                         const LabelColumns& learned) {
  const LabelColumns usual;
  LabelColumns out = said;
  const bool database = is_database(source) || is_sqlite_file(source);
  const std::string_view kind = database ? "table" : seen_as(source).kind->name;
  const bool table = !said.text.empty() || !said.label.empty() || kind != "text";
  if (table && kind != "labelled" && !learned.text.empty()) {
    if (out.text.empty()) out.text = learned.text;
    if (out.label.empty()) out.label = learned.label;
  }
  if (said.label_separator == usual.label_separator) out.label_separator = learned.label_separator;
  if (said.label_prefix == usual.label_prefix) out.label_prefix = learned.label_prefix;
  return out;
}

bool starts_with_label(const std::string& source) {
  std::error_code none;
  if (source == "-" || !std::filesystem::is_regular_file(source, none)) return false;
  try {
    const auto stream = open_source(source);
    const auto bytes = stream->next();
    return std::string_view(bytes.data(), bytes.size()).starts_with(LabelColumns{}.label_prefix);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::kIo) throw;
    return false;  // whoever reads it says what is wrong
  }
}

std::string name_of_sources(const std::vector<std::string>& sources) {
  const std::string& first = sources.front();
  const std::string name = first == "-" ? "standard input" : shown_source(first);
  return sources.size() == 1 ? name : fmt::format("{} and {} more", name, sources.size() - 1);
}

}  // namespace kith
