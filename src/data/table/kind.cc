// SPDX-License-Identifier: Apache-2.0
// A table as a kind of data: what its columns seem to be, written down before anything is learned.
#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "data/table/table.h"
#include "data/table/table_readers.h"
#include "io/file.h"
#include "kith/text.h"

namespace kith {
namespace table {
namespace {

namespace fs = std::filesystem;
constexpr size_t kLongestSchema = size_t{16} << 20;

// By its name, or that it is a database.
Look look_at(const std::string& source, const std::string&) {
  if (is_database(source) || is_sqlite_file(source)) return {0.5};
  const fs::path name = name_unpacked(source);
  constexpr std::array<std::string_view, 8> kEnds{".csv",    ".tsv", ".json",   ".jsonl",
                                                  ".ndjson", ".db",  ".sqlite", ".sqlite3"};
  return {std::ranges::find(kEnds, name.extension().string()) != kEnds.end() ? 0.5 : 0};
}

std::string text_of_file(const std::string& path) {
  std::string out;
  const auto source = open_source(path);
  for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
    out.append(piece.data(), piece.size());
    if (out.size() > kLongestSchema) {
      throw fault(ErrorKind::kInput, "{}: too long for a schema", path);
    }
  }
  return out;
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

// The first of NAME.1, NAME.2 that is free.
std::string aside(const std::string& path) {
  std::error_code none;
  for (int k = 1;; ++k) {
    std::string out = fmt::format("{}.{}", path, k);
    if (!fs::exists(out, none)) return out;
  }
}

// One that differs may have been edited: it is put aside, so that none stays beside a model that is
// not its own.
std::optional<Note> write_schema(const std::string& path, bool given, const Schema& schema) {
  const std::string text = to_json(schema);
  std::error_code none;
  std::string before;
  if (fs::exists(path, none)) {
    if (given || text_of_file(path) == text) return std::nullopt;
    before = aside(path);
    std::error_code failed;
    fs::rename(path, before, failed);
    if (failed) {
      throw fault(ErrorKind::kIo, "{}: cannot rename it to {}: {}", path, before, failed.message());
    }
  }
  AtomicFile file(path);
  file.write(text);
  file.commit();
  std::string said = fmt::format(
      "the types of the columns were written to {}: to change them, edit it and give it with "
      "--schema",
      path);
  if (!before.empty()) {
    said += fmt::format("; the one that was there before was not used: to use it, give --schema {}",
                        shell_quoted(before));
  }
  return Note{Note::Level::kNote, said};
}

constexpr size_t kMostRemarks = 20;

// What is odd or doubtful about the columns that the user has not spoken of, a line each.
std::vector<Note> remarks(const Inferred& inferred, const Schema& agreed) {
  std::vector<Note> out;
  size_t more = 0;
  for (size_t c = 0; c < inferred.profiles.size(); ++c) {
    const Column& column = inferred.schema.columns[c];
    const ColumnProfile& p = inferred.profiles[c];
    if (p.remark.empty() || agreed.columns[c].type != column.type) continue;
    if (out.size() == kMostRemarks) {
      ++more;
      continue;
    }
    const bool ignored = column.type == ColumnType::kIgnore;
    std::string text =
        fmt::format("{}{}{}", column.name, ignored ? " is ignored, " : ": ", p.remark);
    if (p.rather) {
      if (!ignored) {
        text = fmt::format("{} is taken for a {}: {}", column.name, detail::show(column.type),
                           p.remark);
      }
      text += "; if that is wrong, --types " +
              shell_quoted(column.name + "=" + detail::show(*p.rather));
    }
    out.push_back({Note::Level::kNote, std::move(text)});
  }
  if (more > 0) {
    out.push_back(
        {Note::Level::kNote, fmt::format("{} more of this kind", count_of(more, "note"))});
  }
  return out;
}

std::vector<ColumnSummary> summaries(const Schema& schema,
                                     std::span<const ColumnProfile> profiles) {
  std::vector<ColumnSummary> out;
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    const Column& column = schema.columns[c];
    const ColumnProfile& p = profiles[c];
    std::string type = detail::show(column.type);
    if (column.type == ColumnType::kSet && column.separator != std::string(1, kListSeparator)) {
      type += fmt::format(" by {}", column.separator);
    }
    out.push_back(
        {column.name, std::move(type), p.distinct, p.missing, p.rows, p.examples, p.remark});
  }
  return out;
}

class ReadTable final : public DataReader {
 public:
  std::vector<Section> settings() override {
    return {{"The table", options_}, {"Its columns", use_}};
  }
  std::vector<Section> reading() override { return {{"The table", options_}}; }

  std::unique_ptr<Dataset> read(const ReadRequest& request) override {
    SampledTable reader(open_table(request.sources, options_));
    const auto* const base = std::any_cast<Encoding>(&request.base);
    Schema schema;
    std::vector<ColumnSummary> columns;
    std::vector<Note> notes;
    if (!base) {
      if (reader.sample().empty()) {
        reader.tally()->finish();  // there may be rows, but bad ones
        throw fault(ErrorKind::kInput, "{}: the table has no rows", reader.where());
      }
      Inferred inferred = infer_schema(reader);
      schema = agreed(inferred.schema, request.wishes);
      columns = summaries(schema, inferred.profiles);
      notes = remarks(inferred, schema);
      const bool given = !use_.schema.empty();
      const std::string& path = given ? use_.schema : request.schema_path;
      if (!path.empty()) {
        if (const auto note = write_schema(path, given, schema)) notes.push_back(*note);
      }
      for (Column& c : schema.columns) {
        if (c.pooling == Column{}.pooling) c.pooling = request.wishes.pooling.value_or(c.pooling);
      }
    }
    auto out =
        std::make_unique<Table>(Table::read(reader, schema, request.keep_all ? 0 : use_.holdout,
                                            base, request.on_read, request.wishes));
    out->describe(std::move(columns), std::move(notes));
    return out;
  }

 private:
  // What was inferred, with what a file and the user say put over it.
  Schema agreed(Schema schema, const Wishes& wishes) const {
    std::error_code none;
    if (!use_.schema.empty() && fs::exists(use_.schema, none)) {
      schema =
          merged(schema, schema_from_json(text_of_file(use_.schema), use_.schema), use_.schema);
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
