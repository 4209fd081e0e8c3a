// SPDX-License-Identifier: Apache-2.0
// Which reader reads what: by name and first bytes, and several sources as one table.
#include "data/table/table_reader.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "data/dataset.h"
#include "data/table/cells.h"
#include "data/table/table_readers.h"
#include "io/text_source.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr size_t kLookAhead = 1 << 16;
constexpr uint64_t kEnoughToTell = 1000;  // bad rows that end the reading of a file of them
constexpr std::string_view kSqliteMagic = "SQLite format 3\0"sv;

std::string display_name(const std::string& path) { return path == "-" ? "standard input" : path; }

// The ending of the name that tells the format: ".csv" of "films.csv.gz".
std::string extension_of(const std::string& name) {
  std::string out = fs::path(name_unpacked(name)).extension().string();
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

TableFormat text_format(std::string_view start, const std::string& name) {
  const std::string extension = extension_of(name);
  if (extension == ".tsv" || extension == ".tab") return TableFormat::kTsv;
  if (extension == ".json" || extension == ".jsonl" || extension == ".ndjson") {
    return TableFormat::kJson;
  }
  return extension != ".csv" && looks_like_json(start) ? TableFormat::kJson : TableFormat::kCsv;
}

// The delimiter that the user gave; \t and tab for what a shell makes hard to type.
std::optional<Delimiter> given_delimiter(const TableOptions& options) {
  const std::string& text = options.delimiter;
  if (text.empty()) return std::nullopt;
  if (text == "\\t" || text == "tab") return '\t';
  if (text == "::") return Delimiter(':', true);
  if (text.size() != 1 || "\"\r\n"sv.find(text[0]) != std::string_view::npos) {
    throw fault(ErrorKind::kUsage,
                "delimiter must be one ASCII character other than a quote or a line end, or tab, "
                "or ::; got {}",
                shown(text));
  }
  return text[0];
}

void refuse_query(const TableOptions& options, std::string_view name) {
  if (options.query.empty()) return;
  throw fault(ErrorKind::kUsage, "{}: query is for databases, and this is not one; leave it out",
              name);
}

std::unique_ptr<TableReader> open_one(const std::string& source, const TableOptions& options,
                                      const std::vector<std::string>& known) {
  const bool automatic = !options.format;
  if (options.format == TableFormat::kPostgres || (automatic && is_database(source))) {
    return read_postgres(source, options);
  }
  auto stream = std::make_unique<PeekedSource>(open_source(source));  // or says why it cannot
  const std::string name = display_name(source);
  const bool database = stream->peek(kSqliteMagic.size()).starts_with(kSqliteMagic);
  if (options.format == TableFormat::kSqlite || (automatic && database)) {
    if (database && !is_sqlite_file(source)) {
      throw fault(ErrorKind::kInput,
                  "{}: an SQLite database must be a file of its own, not compressed and not in a "
                  "pipe; unpack it first",
                  name);
    }
    return read_sqlite(source, options);
  }
  refuse_query(options, name);
  return read_text_table(std::move(stream), name, options, known);
}

// How far reading several sources has come, by their sizes.
class Sizes {
 public:
  explicit Sizes(const std::vector<std::string>& sources) {
    for (const std::string& source : sources) {
      std::error_code error;
      const bool regular = fs::is_regular_file(source, error);
      // A pipe can be opened only once. A file is tried now, so that a missing last one is told
      // before the first is read.
      if (!is_database(source) && source != "-" && !fs::is_fifo(source, error)) open_source(source);
      known_ = known_ && regular;
      sizes_.push_back(regular ? static_cast<double>(fs::file_size(source, error)) : 0);
      total_ += sizes_.back();
    }
  }
  double share(size_t source, double share_of_source) const {
    if (!known_ || share_of_source < 0) return -1;
    double done = share_of_source * sizes_[source];
    for (size_t i = 0; i < source; ++i) done += sizes_[i];
    return total_ > 0 ? std::min(1.0, done / total_) : 1;
  }

 private:
  std::vector<double> sizes_;
  double total_ = 0;
  bool known_ = true;
};

// Several sources, one behind the other. They have the same columns, in any order.
class ChainedReader final : public TableReader {
 public:
  ChainedReader(std::vector<std::string> sources, TableOptions options)
      : TableReader(options.tally),
        sources_(std::move(sources)),
        options_(std::move(options)),
        sizes_(sources_),
        reader_(open_one(sources_[0], options_, {})),
        columns_(reader_->columns()) {
    for (size_t i = 0; i < columns_.size(); ++i) places_.push_back(i);
  }

  const std::vector<std::string>& columns() const override { return columns_; }

  bool next(std::vector<Cell>& cells) override {
    while (!reader_->next(row_)) {
      if (at_ + 1 == sources_.size()) return false;
      bytes_ += reader_->bytes();
      reader_ = open_one(sources_[++at_], options_, columns_);
      match_columns();
    }
    cells.resize(columns_.size());
    for (size_t i = 0; i < cells.size(); ++i) cells[i] = row_[places_[i]];
    return true;
  }

  std::string where() const override { return reader_->where(); }
  uint64_t row() const override { return reader_->row(); }
  uint64_t bytes() const override { return bytes_ + reader_->bytes(); }
  double share() const override { return sizes_.share(at_, reader_->share()); }

 private:
  void match_columns() {
    const std::vector<std::string>& found = reader_->columns();
    std::unordered_map<std::string_view, size_t> numbers;
    for (size_t i = 0; i < found.size(); ++i) numbers.emplace(found[i], i);
    for (size_t i = 0; i < columns_.size(); ++i) {
      const auto place = numbers.find(columns_[i]);
      if (place == numbers.end()) fail("has no column {}, which {} has", columns_[i]);
      places_[i] = place->second;
      numbers.erase(place);
    }
    if (numbers.empty()) return;
    const auto extra = std::ranges::min_element(
        numbers, {}, [](const auto& name_and_number) { return name_and_number.second; });
    fail("has a column {}, which {} does not have", extra->first);
  }

  // `what` has places for the column and the first source.
  [[noreturn]] void fail(fmt::format_string<std::string, std::string> what,
                         std::string_view column) const {
    throw fault(ErrorKind::kInput, "{}: {}; all sources of a table must have the same columns",
                display_name(sources_[at_]),
                fmt::format(what, shown(column), display_name(sources_[0])));
  }

  std::vector<std::string> sources_;
  TableOptions options_;
  Sizes sizes_;
  std::unique_ptr<TableReader> reader_;
  std::vector<std::string> columns_;
  std::vector<size_t> places_;  // of each column in the rows of reader_
  std::vector<Cell> row_;
  size_t at_ = 0;
  uint64_t bytes_ = 0;  // of the sources before
};

}  // namespace

// A first byte alone is no proof: titles may begin with a bracket.
bool looks_like_json(std::string_view start) {
  start = trimmed(start);
  if (start.empty()) return false;
  const std::string_view rest = trimmed(start.substr(1));
  if (start[0] == '{') return rest.starts_with('"') || rest.starts_with('}');
  return start[0] == '[' && (rest.starts_with('{') || rest.starts_with(']'));
}

bool is_sqlite_file(const std::string& path) {
  if (!fs::is_regular_file(path)) return false;
  std::string start(kSqliteMagic.size(), '\0');
  std::ifstream in(path, std::ios::binary);
  return in.read(start.data(), std::ssize(start)) && start == kSqliteMagic;
}

void RowTally::add_repaired(const TableReader& at) {
  if (repaired_++ == 0) first_repaired_ = at.where();
}

void RowTally::leave_out(const BadRow& row) {
  if (bad_rows_ == BadRows::kRefuse) throw;
  if (left_out_++ == 0) first_left_out_ = row.what();
  if (left_out_ >= kEnoughToTell) check_most_are_good();
}

void RowTally::check_most_are_good() const {
  if (left_out_ <= rows_ / 2) return;
  throw fault(ErrorKind::kInput,
              "{} of {} could not be read, and more than half are too many to skip; the first: {}",
              grouped(left_out_), count_of(rows_, "row"), first_left_out_);
}

std::vector<Note> RowTally::finish() const {
  check_most_are_good();
  std::vector<Note> out;
  if (left_out_ > 0) {
    out.push_back(
        {Note::Level::kWarning, fmt::format("{} could not be read and {} skipped; the first: {}",
                                            count_of(left_out_, "row"),
                                            left_out_ == 1 ? "was" : "were", first_left_out_)});
  }
  if (repaired_ > 0) {
    out.push_back(
        {Note::Level::kNote,
         fmt::format("{} with bytes that are not UTF-8, which became U+FFFD; the first is "
                     "{}; {}",
                     count_of(repaired_, "row"), first_repaired_, kIfNotUtf8)});
  }
  return out;
}

std::unique_ptr<TableReader> read_text_table(std::unique_ptr<ByteSource> source, std::string name,
                                             const TableOptions& options,
                                             std::vector<std::string> known) {
  auto stream = std::make_unique<PeekedSource>(as_utf8(std::move(source), options.encoding, name));
  // No more than that, so that what is found does not depend on the pieces that arrive.
  const std::string_view start = stream->peek(kLookAhead).substr(0, kLookAhead);
  const bool whole = start.size() < kLookAhead;
  const TableFormat format = options.format.value_or(text_format(start, name));
  if (format == TableFormat::kJson) {
    return read_json(std::move(stream), std::move(name), options, std::move(known));
  }
  Delimiter delimiter = '\t';
  if (const auto given = given_delimiter(options)) {
    delimiter = *given;
  } else if (format == TableFormat::kCsv) {
    delimiter = find_delimiter(start, whole, options.spaces);
  }
  return read_delimited(std::move(stream), std::move(name), delimiter, options);
}

void check_column_names(const std::vector<std::string>& names, std::string_view where,
                        std::string_view remedy) {
  std::unordered_map<std::string_view, size_t> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) {
      throw fault(ErrorKind::kInput, "{}: column {} of {} has no name; {}", where, i + 1,
                  names.size(), remedy);
    }
    const auto [earlier, is_new] = seen.emplace(names[i], i);
    if (is_new) continue;
    throw fault(ErrorKind::kInput, "{}: columns {} and {} are both called {}; {}", where,
                earlier->second + 1, i + 1, shown(names[i]), remedy);
  }
}

std::unique_ptr<TableReader> open_table(const std::vector<std::string>& sources,
                                        const TableOptions& options) {
  if (sources.empty()) {
    throw fault(ErrorKind::kUsage,
                "no table was given; name a file, - for standard input, or a "
                "database as postgresql://...");
  }
  if (sources.size() == 1) return open_one(sources[0], options, {});
  TableOptions shared = options;
  if (!shared.tally) shared.tally = std::make_shared<RowTally>(options.bad_rows);
  return std::make_unique<ChainedReader>(sources, std::move(shared));
}

bool can_be_read_again(const std::vector<std::string>& sources) {
  return std::ranges::all_of(sources, [](const std::string& source) {
    std::error_code none;
    return is_database(source) || (source != "-" && fs::is_regular_file(source, none));
  });
}

}  // namespace kith
