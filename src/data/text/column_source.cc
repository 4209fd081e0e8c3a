// SPDX-License-Identifier: Apache-2.0
#include "data/text/column_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/error.h"
#include "data/table/cells.h"
#include "io/utf8.h"
#include "kith/fields.h"

namespace kith {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 16;
constexpr uint64_t kReportEvery = 10'000;  // rows
constexpr size_t kMostListed = 20;

std::string listed(const std::vector<std::string>& columns) {
  std::vector<std::string> out;
  for (const std::string& c : std::span(columns).first(std::min(columns.size(), kMostListed))) {
    out.push_back(shown(c));
  }
  if (columns.size() > kMostListed) {
    out.push_back(fmt::format("{} more", columns.size() - kMostListed));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

size_t column_named(std::string_view name, const std::vector<std::string>& columns,
                    std::string_view where, std::string_view setting) {
  const auto at = std::ranges::find(columns, name);
  if (at != columns.end()) return static_cast<size_t>(at - columns.begin());
  const std::vector<std::string_view> known(columns.begin(), columns.end());
  throw fault(ErrorKind::kUsage, "{}: there is no column {} for --{}; there {} {}{}{}", where,
              name.empty() ? "without a name" : shown(name), setting,
              columns.size() == 1 ? "is" : "are", listed(columns), suggest(name, known),
              columns.size() == 1 ? fmt::format("; for plain text leave --{} out", setting) : "");
}

class ColumnLines final : public ByteSource {
 public:
  ColumnLines(std::unique_ptr<TableReader> rows, std::vector<size_t> columns,
              std::function<void(uint64_t, double)> on_read)
      : rows_(std::move(rows)), columns_(std::move(columns)), on_read_(std::move(on_read)) {}

  std::span<const char> next() override {
    text_.clear();
    while (text_.size() < kPieceBytes && rows_->next(cells_)) {
      if (on_read_ && ++count_ % kReportEvery == 0) on_read_(rows_->bytes(), rows_->share());
      for (const size_t c : columns_) {
        if (cells_[c]) add(*cells_[c], c);
      }
    }
    if (text_.empty()) rows_->tally()->finish();  // there may be rows, but bad ones
    return text_;
  }
  double share() const override { return rows_->share(); }

 private:
  void add(std::string_view cell, size_t column) {
    if (cell.find('\0') != std::string_view::npos) {
      throw fault(ErrorKind::kInput, "{}: NUL byte in column {}; text has none: remove them",
                  rows_->where(), shown(rows_->columns()[column]));
    }
    const size_t begin = text_.size();
    text_ += cell;
    std::replace_if(
        text_.begin() + static_cast<ptrdiff_t>(begin), text_.end(),
        [](char c) { return c == '\n' || c == kListSeparator; }, ' ');
    text_ += '\n';
  }

  std::unique_ptr<TableReader> rows_;
  std::vector<size_t> columns_;
  std::function<void(uint64_t, double)> on_read_;
  std::vector<Cell> cells_;
  std::string text_;
  uint64_t count_ = 0;
};

}  // namespace

std::vector<size_t> columns_named(const std::string& list, const std::vector<std::string>& columns,
                                  std::string_view where, std::string_view setting) {
  const auto whole = std::ranges::find(columns, list);
  if (whole != columns.end()) return {static_cast<size_t>(whole - columns.begin())};
  std::vector<size_t> out;
  for (size_t begin = 0, end; begin <= list.size(); begin = end + 1) {
    end = std::min(list.find(',', begin), list.size());
    out.push_back(column_named(trimmed(std::string_view(list).substr(begin, end - begin)), columns,
                               where, setting));
  }
  return out;
}

std::unique_ptr<ByteSource> column_lines(std::unique_ptr<TableReader> rows,
                                         std::vector<size_t> columns,
                                         std::function<void(uint64_t, double)> on_read) {
  return std::make_unique<ColumnLines>(std::move(rows), std::move(columns), std::move(on_read));
}

}  // namespace kith
