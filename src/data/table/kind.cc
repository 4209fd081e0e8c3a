// SPDX-License-Identifier: Apache-2.0
// A table as a kind of data: what its columns seem to be, written down before anything is learned.
#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "data/table/schema_file.h"
#include "data/table/table.h"
#include "data/table/table_readers.h"
#include "io/file.h"
#include "kith/text.h"

namespace kith {
namespace table {
namespace {

namespace fs = std::filesystem;
constexpr double kLooking = 0.1;  // of the time, where rows are looked at before they are read

// By its name, or that it is a database.
Look look_at(const std::string& source, const std::string&) {
  if (is_database(source) || is_sqlite_file(source)) return {0.5};
  const fs::path name = name_unpacked(source);
  constexpr std::array<std::string_view, 8> kEnds{".csv",    ".tsv", ".json",   ".jsonl",
                                                  ".ndjson", ".db",  ".sqlite", ".sqlite3"};
  return {std::ranges::find(kEnds, name.extension().string()) != kEnds.end() ? 0.5 : 0};
}

Column& column_of(Schema& schema, const std::string& name) {
  std::vector<std::string_view> names;
  for (Column& c : schema.columns) {
    if (c.name == name) return c;
    names.push_back(c.name);
  }
  const std::string nearest = suggest(name, names);
  throw fault(ErrorKind::kUsage, "the table has no column {}{}", name,
              nearest.empty() ? fmt::format("; it has {}", fmt::join(names, ", ")) : nearest);
}

// "year=category,notes=ignore"
void override_types(Schema& schema, const std::string& types) {
  std::istringstream in(types);
  for (std::string item; std::getline(in, item, ',');) {
    const size_t sign = item.rfind('=');
    if (sign == std::string::npos) {
      throw fault(ErrorKind::kUsage, "--types is a list such as year=category,notes=ignore; got {}",
                  item);
    }
    Column& column = column_of(schema, item.substr(0, sign));
    column.type =
        detail::convert<ColumnType>("the type of " + column.name, Value(item.substr(sign + 1)));
    if (column.type == ColumnType::kSet && column.separator.empty()) column.separator = "|";
    if (column.type == ColumnType::kVector && column.separator.empty()) column.separator = ",";
  }
}

void check_target(Schema& schema, const std::string& target) {
  if (target.empty()) return;
  if (column_of(schema, target).type != ColumnType::kIgnore) return;
  throw fault(ErrorKind::kUsage,
              "the target {} is ignored; give it a type, such as --types {}=category", target,
              target);
}

constexpr size_t kMostRemarks = 20;  // with a line each

// What --types takes.
std::string type_flag(const Column& column, ColumnType rather) {
  return column.name + "=" + detail::show(rather);
}

std::string remark_on(const Column& column, const ColumnProfile& p) {
  const bool ignored = column.type == ColumnType::kIgnore;
  std::string out = fmt::format("{}{}{}", column.name, ignored ? " is ignored, " : ": ", p.remark);
  if (!p.rather) return out;
  if (!ignored) {
    out = fmt::format("{} is taken for a {}: {}", column.name, detail::show(column.type), p.remark);
  }
  return out + "; if that is wrong, --types " + shell_quoted(type_flag(column, *p.rather));
}

// What is odd or doubtful about the columns that the user has not spoken of: a line each, and one
// for all that would be too many.
std::vector<Note> remarks(const Inferred& inferred, const Schema& agreed) {
  std::vector<Note> out;
  std::vector<std::string> flags, names;  // of the rest, with another type and without
  for (size_t c = 0; c < inferred.profiles.size(); ++c) {
    const Column& column = inferred.schema.columns[c];
    const ColumnProfile& p = inferred.profiles[c];
    if (p.remark.empty() || agreed.columns[c].type != column.type) continue;
    if (out.size() < kMostRemarks) {
      out.push_back({Note::Level::kNote, remark_on(column, p)});
    } else if (p.rather) {
      flags.push_back(type_flag(column, *p.rather));
    } else {
      names.push_back(column.name);
    }
  }
  if (!flags.empty()) {
    out.push_back({Note::Level::kNote,
                   fmt::format("{} more may be of another type; take out what is right already: "
                               "--types {}",
                               count_of(flags.size(), "column"),
                               shell_quoted(fmt::format("{}", fmt::join(flags, ","))))});
  }
  if (!names.empty()) {
    out.push_back({Note::Level::kNote,
                   fmt::format("{} more of this kind: {}", count_of(names.size(), "column"),
                               fmt::join(names, ", "))});
  }
  return out;
}

// The types, and examples from the sample.
std::vector<ColumnSummary> summaries(const Inferred& inferred, const Schema& schema) {
  std::vector<ColumnSummary> out;
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    const Column& column = schema.columns[c];
    const ColumnProfile& p = inferred.profiles[c];
    std::string type = detail::show(column.type);
    if (column.type == ColumnType::kSet && column.separator != std::string(1, kListSeparator)) {
      type += fmt::format(" by {}", column.separator);
    }
    out.push_back({column.name, std::move(type), 0, 0, 0, p.examples, p.remark});
  }
  return out;
}

// What the table itself does not count: cells that it takes no part of, and texts as they stand.
std::vector<size_t> to_be_counted(const Schema& schema) {
  std::vector<size_t> out;
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    const ColumnType type = schema.columns[c].type;
    if (type == ColumnType::kIgnore || type == ColumnType::kText) out.push_back(c);
  }
  return out;
}

// To the three digits that an estimate is good for.
uint64_t rounded(uint64_t n) {
  uint64_t unit = 1;
  while (n / unit >= 1000) unit *= 10;
  return (n + unit / 2) / unit * unit;
}

// Values and missing cells of all rows. A note, if some are so many that they were estimated.
std::optional<Note> add_counts(std::vector<ColumnSummary>& columns, const Schema& schema,
                               const Table& table, const SampledTable& reader) {
  std::vector<std::string> estimated;
  for (size_t c = 0, g = 0; c < columns.size(); ++c) {
    ColumnSummary& summary = columns[c];
    summary.rows = table.counts().rows;
    const auto counted = reader.counted(c);
    if (counted) summary.missing = counted->missing;
    if (schema.columns[c].type != ColumnType::kIgnore) {
      const TableProfile::Cells& cells = table.counts().groups[g++];
      summary.missing = cells.missing;
      summary.distinct = cells.distinct;
    }
    if (!counted) continue;
    summary.distinct = counted->exact ? counted->distinct : rounded(counted->distinct);
    if (!counted->exact) estimated.push_back(summary.name);
  }
  if (estimated.empty()) return std::nullopt;
  return Note{Note::Level::kNote,
              fmt::format("the numbers of values of {} are estimates", fmt::join(estimated, ", "))};
}

// Where the types were found, if not in all rows.
std::optional<Note> note_of_sample(const SampledTable& reader) {
  if (reader.sample().size() == reader.looked_at() && reader.whole()) return std::nullopt;
  return Note{Note::Level::kNote,
              fmt::format("the types were inferred from {}, drawn from {}",
                          count_of(reader.sample().size(), "row"),
                          reader.whole() ? fmt::format("all {}", grouped(reader.looked_at()))
                                         : fmt::format("the first {} (these come but once, and no "
                                                       "more were kept)",
                                                       grouped(reader.looked_at())))};
}

class ReadTable final : public DataReader {
 public:
  std::vector<Section> settings() override {
    return {{"The table", options_}, {"Its columns", use_}};
  }
  std::vector<Section> reading() override { return {{"The table", options_}}; }

  std::unique_ptr<Dataset> read(const ReadRequest& request) override {
    if (const auto* const base = std::any_cast<Encoding>(&request.base)) {
      const auto reader = open_table(request.sources, options_);
      return read_rows(*reader, {}, request, base, request.on_read);
    }
    const auto reader = look(request);
    if (reader->sample().empty()) {
      reader->tally()->finish();  // there may be rows, but bad ones
      throw fault(ErrorKind::kInput, "{}: the table has no rows", reader->where());
    }
    const Inferred inferred = infer_schema(*reader);
    Schema schema = agreed(inferred.schema, request.wishes);
    std::vector<ColumnSummary> columns = summaries(inferred, schema);
    std::vector<Note> notes = remarks(inferred, schema);
    if (const auto note = note_of_sample(*reader)) notes.insert(notes.begin(), *note);
    const bool given = !use_.schema.empty();
    const std::string& path = given ? use_.schema : request.schema_path;
    if (!path.empty()) {
      if (const auto note = write_schema(path, given, schema)) notes.push_back(*note);
    }
    for (Column& c : schema.columns) {
      if (c.pooling == Column{}.pooling) c.pooling = request.wishes.pooling.value_or(c.pooling);
    }
    reader->count(to_be_counted(schema));
    const double before = reader->again() ? kLooking : 0;
    const auto on_read = [&](uint64_t bytes, double share) {
      if (!request.on_read) return;
      request.on_read(reader->bytes_before() + bytes,
                      share < 0 ? share : before + (1 - before) * share);
    };
    auto out = read_rows(*reader, schema, request, nullptr, on_read);
    if (const auto note = add_counts(columns, schema, *out, *reader)) notes.push_back(*note);
    out->describe(std::move(columns), std::move(notes));
    return out;
  }

 private:
  // At rows of all of it, if it can be read again.
  std::unique_ptr<SampledTable> look(const ReadRequest& request) const {
    if (!can_be_read_again(request.sources)) {
      return std::make_unique<SampledTable>(open_table(request.sources, options_),
                                            SampledTable::kRows, request.on_read);
    }
    TableOptions options = options_;
    options.tally = std::make_shared<RowTally>(options.bad_rows);
    const auto on_read = [&](uint64_t bytes, double share) {
      if (request.on_read) request.on_read(bytes, share < 0 ? share : kLooking * share);
    };
    return std::make_unique<SampledTable>(
        SampledTable::Open([=, &request] { return open_table(request.sources, options); }),
        SampledTable::kRows, on_read);
  }

  std::unique_ptr<Table> read_rows(TableReader& reader, const Schema& schema,
                                   const ReadRequest& request, const Encoding* base,
                                   const std::function<void(uint64_t, double)>& on_read) const {
    return std::make_unique<Table>(Table::read(reader, schema, request.keep_all ? 0 : use_.holdout,
                                               base, on_read, request.wishes));
  }

  // What was inferred, with what a file and the user say put over it.
  Schema agreed(Schema schema, const Wishes& wishes) const {
    std::error_code none;
    if (!use_.schema.empty() && fs::exists(use_.schema, none)) {
      schema = merged(schema, read_schema(use_.schema), use_.schema);
    }
    override_types(schema, use_.types);
    check_target(schema, wishes.target);
    return schema;
  }

  TableOptions options_;
  TableUse use_;
};

}  // namespace

const DataKind& kind() {
  static const DataKind kind{
      .name = "table",
      .noun = "a table",
      .unit = "row",
      .to_save_memory = "raise min_count or set columns to ignore in the schema, or lower --dim",
      .look_at = look_at,
      .reader = []() -> std::unique_ptr<DataReader> { return std::make_unique<ReadTable>(); },
  };
  return kind;
}

}  // namespace table

const DataKind& Table::data_kind() { return table::kind(); }

uint64_t Table::bytes() const {
  uint64_t out = (ids_.size() + held_out_ids_.size()) * sizeof(uint32_t);
  for (const Entities& e : entities_) {
    out += e.counts.size() * 8 + e.offsets.size() * 8 + e.features.size() * sizeof(Feature) +
           e.numbers.size() * 8;
  }
  for (const ValueSpace& s : encoding_.spaces) out += s.names.bytes().size() + 24 * s.names.size();
  return out;
}

std::map<std::string, std::string> Table::metadata() const {
  return {{"table.rows", fmt::format("{}", profile_.rows)},
          {"table.held_out", fmt::format("{}", profile_.held_out)}};
}

void Table::describe(std::vector<ColumnSummary> columns, std::vector<Note> notes) {
  columns_ = std::move(columns);
  notes_.insert(notes_.end(), notes.begin(), notes.end());
}

Profile Table::profile() const {
  Profile out;
  out.data = kind().name;
  out.unit = kind().unit;
  out.size = rows_;
  out.held_out = profile_.held_out;
  out.bytes = profile_.bytes;
  out.columns = columns_;
  out.notes = notes_;
  out.summary =
      fmt::format("{} of {}; {} held out to score the model", count_of(profile_.rows, "row"),
                  count_of(groups(), "column"), out.held_out ? grouped(out.held_out) : "none");
  for (size_t g = 0; g < groups(); ++g) {
    const TableProfile::Cells& cells = profile_.groups[g];
    if (!cells.unreadable) continue;
    const Column& column = encoding_.groups[g].column;
    out.notes.push_back(
        {Note::Level::kWarning,
         fmt::format("column {}: {} of type {} could not be read and count as missing; the first "
                     "is {}",
                     column.name, count_of(cells.unreadable, "cell"), detail::show(column.type),
                     cells.first)});
  }
  return out;
}

std::string Table::example() const {
  for (const Group& g : encoding_.groups) {
    const Names& names = encoding_.spaces[g.space].names;
    const bool choice = g.column.type == ColumnType::kCategory || g.column.type == ColumnType::kSet;
    if (choice && names.size() > 0) return fmt::format("{}={}", g.column.name, names[0]);
  }
  return "";
}

}  // namespace kith
