// SPDX-License-Identifier: Apache-2.0
// Tables of numbers: CSV and whatever else the readers of tables read.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "data/matrix/row_sources.h"
#include "data/table/cells.h"
#include "data/table/table_readers.h"
#include "io/file.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr uint64_t kTellEvery = 4096;  // rows

// A cell is a number, nan and inf included: those are refused with their place later on, by whoever
// looks at all numbers of all sources.
std::optional<double> number_in(std::string_view cell) {
  cell = trimmed(cell);
  if (!cell.empty() && cell.front() == '+') cell.remove_prefix(1);
  double out = 0;
  const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), out);
  if (end != cell.data() + cell.size() || cell.empty()) return std::nullopt;
  if (code == std::errc::result_out_of_range) return parse_number(cell).value_or(HUGE_VAL);
  return code == std::errc() ? std::optional(out) : std::nullopt;
}

// "0,1,2" in the first row are the names that pandas gives, not numbers.
bool counts_up(std::span<const std::string_view> cells) {
  for (size_t c = 0; c < cells.size(); ++c) {
    if (trimmed(cells[c]) != std::to_string(c)) return false;
  }
  return cells.size() > 2;
}

std::set<std::string> listed(const std::string& text) {
  std::set<std::string> out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) out.emplace(trimmed(item));
  return out;
}

class Numbers {
 public:
  Numbers(const std::vector<std::string>& sources, std::unique_ptr<ByteSource> stream,
          const MatrixOptions& options, const TableOptions& table, const ReadRequest& request)
      : request_(request), scratch_(std::make_shared<ScratchFile>(request.scratch)) {
    TableOptions reading = table;
    reading.spaces = true;
    reading.is_header = [this](std::span<const std::string_view> cells) {
      named_ = counts_up(cells) || !std::ranges::all_of(cells, [](std::string_view cell) {
                 return number_in(cell).has_value();
               });
      return named_;
    };
    named_ = table.header;
    if (!reading.tally) reading.tally = std::make_shared<RowTally>(reading.bad_rows);
    reader_ = stream ? read_text_table(std::move(stream), "standard input", reading)
                     : open_table(sources, reading);
    choose_columns(options);
  }

  TableNumbers read() {
    TableNumbers out;
    std::vector<Cell> cells;
    std::vector<double> row(columns_.size());
    uint64_t rows = 0;
    while (reader_->next(cells)) {
      try {
        take_row(cells, row, rows == 0);
        if (id_) add_name(cells[*id_].value_or(""), out.names, rows);
      } catch (const BadRow& bad) {
        reader_->tally()->leave_out(bad);
        continue;
      }
      scratch_->append({reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double)});
      if (++rows % kTellEvery == 0 && request_.on_read) {
        request_.on_read(reader_->bytes(), reader_->share());
      }
    }
    out.notes = reader_->tally()->finish();
    if (rows == 0) throw fault(ErrorKind::kInput, "{}: there are no rows in it", reader_->where());
    scratch_->flush();
    out.bytes = reader_->bytes();
    if (named_) {
      for (const size_t c : columns_) out.columns.push_back(reader_->columns()[c]);
    }
    out.rows = stored_rows(
        [scratch = scratch_](uint64_t at, std::span<char> bytes) { scratch->read(at, bytes); },
        {.type = NumberType::kF64, .rows = rows, .cols = columns_.size()});
    return out;
  }

 private:
  void choose_columns(const MatrixOptions& options) {
    const std::vector<std::string>& all = reader_->columns();
    const std::vector<std::string_view> names(all.begin(), all.end());
    const auto check = [&](const std::string& name, std::string_view setting) {
      if (std::ranges::find(all, name) != all.end()) return;
      throw fault(ErrorKind::kUsage, "{}: --{}: there is no column {}{}", reader_->where(), setting,
                  shown(name), suggest(name, names));
    };
    if (!options.id.empty()) check(options.id, "id");
    const std::set<std::string> ignored = listed(options.ignore);
    for (const std::string& name : ignored) check(name, "ignore");
    for (size_t c = 0; c < all.size(); ++c) {
      if (all[c] == options.id) {
        id_ = c;
      } else if (!ignored.contains(all[c])) {
        columns_.push_back(c);
      }
    }
    if (columns_.empty()) {
      throw fault(ErrorKind::kInput, "{}: no column is left to learn from", reader_->where());
    }
  }

  // Columns of texts show in the first row: they are told together, with what to do.
  void refuse_texts(const std::vector<Cell>& cells) const {
    std::vector<std::string> texts;
    std::string first;
    for (const size_t c : columns_) {
      if (!cells[c] || number_in(*cells[c])) continue;
      if (texts.empty()) first = std::string(*cells[c]);
      texts.push_back(reader_->columns()[c]);
    }
    if (texts.empty()) return;
    const bool one = texts.size() == 1;
    const std::string names = fmt::format("{}", fmt::join(texts, ", "));
    throw fault(
        ErrorKind::kInput,
        "{}: {} {} not of numbers ({} in the first); leave {} out with --ignore {}{}",
        reader_->where(), one ? "column" : "columns",
        fmt::format("{} {}", shown(names), one ? "is" : "are"), shown(first), one ? "it" : "them",
        shell_quoted(fmt::format("{}", fmt::join(texts, ","))),
        id_ ? "" : fmt::format(", or --id {} if it names the rows", shell_quoted(texts[0])));
  }

  void take_row(const std::vector<Cell>& cells, std::vector<double>& row, bool first) const {
    if (first) refuse_texts(cells);
    for (size_t k = 0; k < columns_.size(); ++k) {
      const size_t c = columns_[k];
      const std::string& name = reader_->columns()[c];
      if (!cells[c]) {
        throw BadRow(fmt::format(
            "{}: column {}: the cell is empty; fill it in, or leave such rows out with --bad-rows "
            "skip",
            reader_->where(), shown(name)));
      }
      const auto value = number_in(*cells[c]);
      if (!value || !std::isfinite(*value)) {
        throw BadRow(fmt::format(
            "{}: column {}: {} is not a finite number; correct it, leave such rows out with "
            "--bad-rows skip, or the column with --ignore {}",
            reader_->where(), shown(name), shown(*cells[c]), shell_quoted(name)));
      }
      row[k] = *value;
    }
  }

  void add_name(std::string_view name, Names& names, uint64_t rows) const {
    if (names.add(name) == rows) return;
    throw fault(ErrorKind::kInput,
                "{}: a row called {} came before; give --id a column that names each row once, or "
                "leave it out",
                reader_->where(), shown(name));
  }

  const ReadRequest& request_;
  std::shared_ptr<ScratchFile> scratch_;
  bool named_ = true;
  std::unique_ptr<TableReader> reader_;
  std::vector<size_t> columns_;
  std::optional<size_t> id_;
};

}  // namespace

TableNumbers read_numbers(const std::vector<std::string>& sources,
                          std::unique_ptr<ByteSource> stream, const MatrixOptions& options,
                          const TableOptions& table, const ReadRequest& request) {
  return Numbers(sources, std::move(stream), options, table, request).read();
}

}  // namespace kith
