// SPDX-License-Identifier: Apache-2.0
#include "kith/results.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>

#include "api/results.h"
#include "core/error.h"
#include "io/file.h"
#include "io/vector_files.h"
#include "kith/text.h"

namespace kith {
namespace {

namespace fs = std::filesystem;

enum class Format { kCsv, kTsv, kJsonl, kNpy };
constexpr std::array<std::string_view, 4> kExtensions{".csv", ".tsv", ".jsonl", ".npy"};

bool has_no_name(const std::string& path) {
  std::error_code none;
  return path == "-" || (fs::exists(path, none) && !fs::is_regular_file(path, none) &&
                         !fs::is_directory(path, none));
}

Format format_of(const std::string& path, bool json) {
  if (has_no_name(path)) return json ? Format::kJsonl : Format::kCsv;
  const auto at = std::ranges::find(kExtensions, fs::path(path).extension().string());
  if (at == kExtensions.end()) throw unknown_extension(path, kExtensions);
  return static_cast<Format>(at - kExtensions.begin());
}

// In quotes where it must be: then it is read as in a CSV file.
std::string tsv_cell(std::string_view text) {
  if (text.find_first_of("\t\r\n") == std::string_view::npos && !text.starts_with('"')) {
    return std::string(text);
  }
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

Error unknown_extension(const std::string& path, std::span<const std::string_view> known) {
  const std::string end = fs::path(path).extension().string();
  return fault(ErrorKind::kUsage,
               "{}: the format follows from the name, and {} is not a known one; name it {}", path,
               end.empty() ? "a name without an extension" : end, fmt::join(known, ", "));
}

void add_distinct(Names& names, std::string_view name) {
  const size_t row = names.size();
  if (names.add(name) == row) return;
  for (size_t copy = 2; names.add(fmt::format("{} ({})", name, copy)) != row;) ++copy;
}

struct ResultFile::Impl {
  Impl(std::string to, bool json) : path(std::move(to)), format(format_of(path, json)) {
    if (format != Format::kNpy) file.emplace(path);
  }
  std::string cell(const ResultCell& value) const {
    if (const auto* const text = std::get_if<std::string_view>(&value)) {
      return format == Format::kTsv ? tsv_cell(*text) : csv_cell(*text);
    }
    if (const auto* const whole = std::get_if<uint64_t>(&value)) return fmt::format("{}", *whole);
    const auto* const number = std::get_if<double>(&value);
    return number && std::isfinite(*number) ? fmt::format("{:.6g}", *number) : "";
  }
  void line(std::span<const ResultCell> cells) {
    std::string out;
    for (const ResultCell& c : cells) {
      if (&c != cells.data()) out += format == Format::kTsv ? '\t' : ',';
      out += cell(c);
    }
    file->write(out += '\n');
  }
  void numbers(std::string_view id, std::span<const ResultCell> cells) {
    add_distinct(ids, id);
    for (size_t c = 0; c < cells.size(); ++c) {
      if (!columns[c].answer) continue;
      if (std::holds_alternative<std::string_view>(cells[c])) {
        throw fault(ErrorKind::kUsage,
                    "{}: NumPy's format holds numbers, and {} is text; name it .csv, .tsv or "
                    ".jsonl",
                    path, columns[c].name);
      }
      const auto* const whole = std::get_if<uint64_t>(&cells[c]);
      const auto* const number = std::get_if<double>(&cells[c]);
      values.push_back(whole ? static_cast<float>(*whole)
                             : static_cast<float>(number ? *number : 0));
    }
  }
  void write_npy() const {
    const auto wide = static_cast<size_t>(std::ranges::count(columns, true, &ResultColumn::answer));
    Matrix matrix(ids.size(), wide);
    for (size_t r = 0; r < ids.size(); ++r) {
      std::ranges::copy(std::span(values).subspan(r * wide, wide), matrix.row(r).begin());
    }
    write_vectors(path, VectorFormat::kNpy, ids, matrix);
  }

  std::string path;
  Format format;
  std::optional<AtomicFile> file;  // none for npy, whose head says how many rows there are
  std::vector<ResultColumn> columns;
  Names ids;
  std::vector<float> values;
};

ResultFile::ResultFile(const std::string& path, bool json)
    : impl_(std::make_unique<Impl>(path, json)) {}
ResultFile::~ResultFile() = default;

bool ResultFile::takes_json() const { return impl_->format == Format::kJsonl; }

void ResultFile::json_line(std::string_view line) { impl_->file->write(line); }

void ResultFile::columns(std::vector<ResultColumn> columns) {
  impl_->columns = std::move(columns);
  if (impl_->format == Format::kNpy) return;
  std::vector<ResultCell> titles;
  for (const ResultColumn& c : impl_->columns) titles.emplace_back(std::string_view(c.name));
  impl_->line(titles);
}

void ResultFile::row(std::string_view id, std::span<const ResultCell> cells) {
  impl_->format == Format::kNpy ? impl_->numbers(id, cells) : impl_->line(cells);
}

void ResultFile::commit() { impl_->file ? impl_->file->commit() : impl_->write_npy(); }

size_t ResultFile::width() const { return impl_->columns.size(); }

namespace {

// A row has its number in front, unless the source has a column of that name itself.
constexpr std::string_view kRow = "row";
bool is_numbered(const PredictedRow& row) {
  return std::ranges::find(row.columns, kRow) == row.columns.end();
}

void add_columns_for(ResultFile& file, const PredictedRow& row) {
  std::vector<ResultColumn> columns;
  if (is_numbered(row)) columns.push_back({std::string(kRow)});
  for (const std::string& name : row.columns) columns.push_back({name});
  const Prediction& p = row.prediction;
  columns.push_back({"prediction", true});
  if (p.number && p.number->deviation) columns.push_back({"deviation", true});
  const bool likely = !p.candidates.empty() && p.candidates.front().probability;
  const std::string of_each = likely ? "probability" : "score";
  if (!p.number) columns.push_back({of_each, true});
  for (size_t k = 2; k <= p.candidates.size(); ++k) {
    columns.push_back({fmt::format("prediction_{}", k), true});
    columns.push_back({fmt::format("{}_{}", of_each, k), true});
  }
  file.columns(std::move(columns));
}

}  // namespace

void add_prediction(ResultFile& file, const PredictedRow& row) {
  if (file.width() == 0) add_columns_for(file, row);
  std::vector<ResultCell> cells;
  if (is_numbered(row)) cells.emplace_back(row.row);
  std::vector<std::string> joined(row.cells.size());  // lists as tables have them
  for (size_t c = 0; c < row.cells.size(); ++c) {
    const auto& cell = row.cells[c];
    const auto members = row.members(c);
    joined[c] = fmt::format("{}", fmt::join(members, "|"));
    cells.push_back(!cell             ? ResultCell()
                    : members.empty() ? ResultCell(*cell)
                                      : ResultCell(joined[c]));
  }
  const Prediction& p = row.prediction;
  if (p.number) {
    cells.emplace_back(p.number->mean);
    if (p.number->deviation) cells.emplace_back(*p.number->deviation);
  }
  for (const Candidate& c : p.candidates) {
    if (cells.size() == file.width()) break;
    cells.emplace_back(c.id);
    cells.emplace_back(c.probability.value_or(c.score));
  }
  cells.resize(file.width());  // a row may have fewer candidates than the first
  file.row(std::to_string(row.row), cells);
}

void add_score(ResultFile& file, const ScoredRow& row) {
  if (file.width() == 0) {
    file.columns({{"row"}, {"id"}, {"score", true}, {"odd", true}, {"because"}});
  }
  const std::string why = because(row);
  file.row(row.name, std::vector<ResultCell>{row.row, row.name, row.score, row.odd, why});
}

void add_recommendations(ResultFile& file, const Recommender& recommender, const std::string& user,
                         std::span<const Recommendation> list, bool titled) {
  if (file.width() == 0) {
    std::vector<ResultColumn> columns{{recommender.user_column()},
                                      {recommender.item_column(), true}};
    if (titled) columns.push_back({"title", true});
    columns.push_back({"rank", true});
    columns.push_back({"prediction", true});
    file.columns(std::move(columns));
  }
  for (size_t k = 0; k < list.size(); ++k) {
    std::vector<ResultCell> cells{user, list[k].id};
    if (titled) cells.emplace_back(list[k].title);
    cells.emplace_back(uint64_t{k + 1});
    cells.emplace_back(list[k].prediction);
    file.row(user, cells);
  }
}

}  // namespace kith
