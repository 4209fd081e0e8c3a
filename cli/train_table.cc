// SPDX-License-Identifier: Apache-2.0
// Tables: what their columns seem to be, shown and written down before anything is learned.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "io/file.h"
#include "models/table_model.h"
#include "table_query.h"
#include "train_data.h"
#include "train_report.h"

namespace kith::cli {
namespace {

namespace fs = std::filesystem;

class TableData final : public TrainData {
 public:
  TableData(Table table, TableModel& model) : table_(std::move(table)), model_(model) {}
  std::string_view unit() const override { return "row"; }
  uint64_t size() const override { return table_.rows(); }
  uint64_t vectors() const override { return table_.encoding().rows(); }
  uint64_t memory_needed(const Job& job) const override {
    return model_.memory_needed(table_, job);
  }
  std::string_view to_save_memory() const override {
    return "raise min_count or set columns to ignore in the schema, or lower --dim";
  }
  void train(Model& model, Job& job) override {
    dynamic_cast<TableModel&>(model).train(table_, job);
  }
  uint64_t fingerprint() const override { return table_.fingerprint(); }
  std::map<std::string, std::string> metadata() const override {
    return {{"table.rows", fmt::format("{}", table_.profile().rows)},
            {"table.held_out", fmt::format("{}", table_.profile().held_out)}};
  }
  std::string next() const override {
    const Encoding& e = table_.encoding();
    for (const Group& g : e.groups) {
      const Names& names = e.spaces[g.space].names;
      const bool choice =
          g.column.type == ColumnType::kCategory || g.column.type == ColumnType::kSet;
      if (choice && names.size() > 0) {
        return fmt::format("near MODEL {}",
                           shell_quoted(fmt::format("{}={}", g.column.name, names[0])));
      }
    }
    return "info MODEL";
  }

 private:
  const Table table_;
  TableModel& model_;
};

std::string text_of_file(const std::string& path) {
  std::string out;
  const auto source = open_source(path);
  for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
    out.append(piece.data(), piece.size());
    if (out.size() > (16u << 20)) throw Error(ErrorKind::kInput, "{}: too long for a schema", path);
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
  throw Error(ErrorKind::kUsage, "the table has no column {}{}", name,
              nearest.empty() ? fmt::format("; it has {}", fmt::join(names, ", ")) : nearest);
}

// "year=category,notes=ignore"
void override_types(Schema& schema, const std::string& types) {
  std::istringstream in(types);
  for (std::string item; std::getline(in, item, ',');) {
    const size_t sign = item.rfind('=');
    if (sign == std::string::npos) {
      throw Error(ErrorKind::kUsage, "--types is a list such as year=category,notes=ignore; got {}",
                  item);
    }
    Column& column = column_of(schema, item.substr(0, sign));
    column.type =
        detail::convert<ColumnType>("the type of " + column.name, Value(item.substr(sign + 1)));
    if (column.type == ColumnType::kSet && column.separator.empty()) column.separator = "|";
    if (column.type == ColumnType::kVector && column.separator.empty()) column.separator = ",";
  }
}

std::string schema_path(const TrainPlan& plan) {
  fs::path path = plan.options.output;
  if (path.extension() == ".kith") path.replace_extension();
  return path.string() + ".schema.json";
}

// Never over one that differs: it may have been edited.
void write_schema(const TrainPlan& plan, const Schema& schema, Status& status) {
  const std::string path = plan.table.schema.empty() ? schema_path(plan) : plan.table.schema;
  const std::string text = to_json(schema);
  std::error_code none;
  if (fs::exists(path, none)) {
    if (!plan.table.schema.empty() || text_of_file(path) == text) return;
    status.line(labelled("note", fmt::format("{} is there and says otherwise; it was not used: "
                                             "--schema {} would",
                                             path, shell_quoted(path))));
    return;
  }
  AtomicFile file(path);
  file.write(text);
  file.commit();
  status.line(labelled("schema", fmt::format("{}: edit it and give it with --schema", path)));
}

void report_schema(const Schema& schema, std::span<const ColumnProfile> profiles, Status& status) {
  std::vector<std::vector<std::string>> rows{{"column", "type", "values", "missing", "examples"}};
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    const Column& column = schema.columns[c];
    const ColumnProfile& p = profiles[c];
    std::string type = detail::show(column.type);
    if (column.type == ColumnType::kSet && column.separator != std::string(1, kListSeparator)) {
      type += fmt::format(" by {}", column.separator);
    }
    std::string examples = fmt::format("{}", fmt::join(p.examples, " / "));
    if (!p.remark.empty()) examples += fmt::format(" ({})", p.remark);
    rows.push_back({printable(column.name), type, grouped(p.distinct),
                    p.missing ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(p.missing) /
                                                            static_cast<double>(p.rows))
                              : "-",
                    printable(examples)});
  }
  std::istringstream lines(table(rows, "<<>><"));
  for (std::string line; std::getline(lines, line);) {
    // A column of examples may be long; a terminal line is not.
    const size_t width = is_terminal(Stream::kErr) ? columns(Stream::kErr) : 160;
    status.line(line.size() > width ? line.substr(0, width) : line);
  }
}

void report_table(const Table& t, double seconds, Status& status) {
  const TableProfile& p = t.profile();
  status.line(
      labelled("read", fmt::format("{} of {} in {}; {} held out to score the model",
                                   count_of(p.rows, "row"), count_of(t.groups(), "column"),
                                   in_time(seconds), p.held_out ? grouped(p.held_out) : "none")));
  for (const std::string& sentence : unreadable_cells(t)) status.warning(sentence);
}

}  // namespace

std::unique_ptr<TrainData> read_table(const TrainPlan& plan, Status& status) {
  const auto start = std::chrono::steady_clock::now();
  auto& model = dynamic_cast<TableModel&>(*plan.model);
  SampledTable reader(open_table(plan.files, plan.table_options));
  const Encoding* base = plan.base_encoding ? &*plan.base_encoding : nullptr;
  Schema schema;
  if (!base) {
    if (reader.sample().empty()) {
      throw Error(ErrorKind::kInput, "{}: the table has no rows", reader.where());
    }
    Inferred inferred = infer_schema(reader);
    schema = std::move(inferred.schema);
    const std::string& file = plan.table.schema;
    std::error_code none;
    if (!file.empty() && fs::exists(file, none)) {
      schema = merged(schema, schema_from_json(text_of_file(file), file), file);
    }
    override_types(schema, plan.table.types);
    const Section settings = model.settings();
    if (const std::string target = settings.get("target"); !target.empty()) {
      const Column& column = column_of(schema, target);
      if (column.type == ColumnType::kIgnore) {
        throw Error(ErrorKind::kUsage,
                    "the target {} is ignored; give it a type, such as --types {}=category", target,
                    target);
      }
    }
    report_schema(schema, inferred.profiles, status);
    write_schema(plan, schema, status);
    if (settings.get("paper") == "true") {
      for (Column& c : schema.columns) c.pooling = 0;
    }
  }
  Table table = Table::read(reader, schema, static_cast<uint64_t>(plan.table.holdout), base,
                            reading_progress(status));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  report_table(table, took.count(), status);
  return std::make_unique<TableData>(std::move(table), model);
}

}  // namespace kith::cli
