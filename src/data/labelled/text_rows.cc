// SPDX-License-Identifier: Apache-2.0
#include "data/labelled/text_rows.h"

#include <utility>

#include "core/error.h"
#include "data/dataset.h"
#include "data/table/table_readers.h"
#include "data/text/column_source.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr std::string_view kAColumn = "name the column that is the text, such as --column text";

// They say nothing about lines of text.
void refuse_table_settings(const TableOptions& table) {
  const TableOptions usual;
  for_each_field<TableOptions>([&](const auto& f) {
    if (table.*(f.member) == usual.*(f.member) || f.name == "encoding") return;
    throw fault(ErrorKind::kUsage, "--{} is for tables; {}, or leave it out", f.name, kAColumn);
  });
}

void check_lines(const std::vector<std::string>& sources, const std::string& name,
                 std::string_view name_flag, const TableOptions& table) {
  refuse_table_settings(table);
  if (!name.empty()) {
    throw fault(ErrorKind::kUsage, "--{} is for tables; {}, or leave it out", name_flag, kAColumn);
  }
  for (const std::string& source : sources) {
    if (!is_database(source) && !is_sqlite_file(source)) continue;
    throw fault(ErrorKind::kUsage, "{}: this is a database and has no lines of text; {}",
                shown_source(source), kAColumn);
  }
}

}  // namespace

TextRows::TextRows(const std::vector<std::string>& sources, const std::string& column,
                   const std::string& name, std::string_view name_flag, const TableOptions& table)
    : name_(name), name_flag_(name_flag) {
  if (sources.empty()) throw fault(ErrorKind::kUsage, "no file of texts was given");
  where_ = name_of_sources(sources);
  LabelColumns columns;
  columns.label_prefix.clear();
  columns.text = column;
  columns.text_flag = "column";
  if (column.empty()) check_lines(sources, name, name_flag, table);
  source_ = open_labelled(sources, columns, table, false);
}

bool TextRows::next(TextRow& out) {
  if (!source_->next(item_)) return false;
  if (!name_.empty() && !name_at_) {
    const std::vector<std::string> columns(item_.columns.begin(), item_.columns.end());
    name_at_ = columns_named(name_, columns, where_, name_flag_).front();
  }
  out.text = item_.text;
  out.name = name_at_ ? item_.cells[*name_at_].value_or("") : std::string_view();
  return true;
}

}  // namespace kith
