// SPDX-License-Identifier: Apache-2.0
#include "table_query.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "terminal.h"

namespace kith::cli {
namespace {

TableModel& table_in(Model& model) {
  auto* const table = dynamic_cast<TableModel*>(&model);
  if (!table) throw Error(ErrorKind::kUsage, "this is not a model of a table");
  return *table;
}

bool is_bag(const Column& c) { return c.type == ColumnType::kSet || c.type == ColumnType::kText; }

}  // namespace

AskedTable::AskedTable(OpenModel opened)
    : opened_(std::move(opened)),
      model_(table_in(*opened_.model)),
      encoder_(model_.encoding()),
      values_(model_.encoding().groups.size()) {}

AskedTable open_table_model(const std::string& path, std::string_view command) {
  return as_table(open_model(path), path, command);
}

AskedTable as_table(OpenModel opened, const std::string& path, std::string_view command) {
  if (!dynamic_cast<TableModel*>(opened.model.get())) {
    throw Error(ErrorKind::kUsage, "{} is for models of tables; {} holds {}", command, path,
                opened.kind);
  }
  return AskedTable(std::move(opened));
}

bool AskedTable::knows(const std::string& value) const {
  for (size_t g = 0; g < encoding().groups.size(); ++g) {
    if (group(g).named() && names(g).find(value)) return true;
  }
  return false;
}

size_t AskedTable::column_of_value(const std::string& value) const {
  std::vector<size_t> found;
  for (size_t g = 0; g < encoding().groups.size(); ++g) {
    if (group(g).named() && names(g).find(value)) found.push_back(g);
  }
  if (found.size() == 1) return found[0];
  std::vector<std::string> columns;
  for (const size_t g : found) columns.push_back(group(g).column.name);
  if (!found.empty()) {
    throw Error(ErrorKind::kUsage, "{} is a value of {}; say which: {}={}", value,
                fmt::join(columns, " and of "), columns[0], value);
  }
  std::vector<std::string> near;
  for (size_t g = 0; g < encoding().groups.size() && near.size() < 3; ++g) {
    if (!group(g).named()) continue;
    for (const std::string& name : similar_spellings(value, names(g), 1)) {
      near.push_back(fmt::format("{}={}", group(g).column.name, name));
    }
  }
  throw Error(
      ErrorKind::kInput, "no column has the value {}{}", value,
      near.empty() ? "; ask as column=value" : fmt::format("; similar: {}", fmt::join(near, ", ")));
}

std::vector<std::optional<std::string>> AskedTable::cells(
    std::span<const std::string> terms) const {
  std::vector<std::optional<std::string>> out(encoding().groups.size());
  for (const std::string& term : terms) {
    const size_t sign = term.find('=');
    const bool named =
        sign != std::string::npos && encoding().find(term.substr(0, sign)) != Encoding::npos;
    if (sign != std::string::npos && !named && sign > 0) encoding().group(term.substr(0, sign));
    const size_t g = named ? encoding().find(term.substr(0, sign)) : column_of_value(term);
    const std::string value = named ? term.substr(sign + 1) : term;
    const Column& column = group(g).column;
    if (value.empty()) throw Error(ErrorKind::kUsage, "{}: the value is empty", term);
    if (!out[g]) {
      out[g] = value;
    } else if (is_bag(column)) {
      *out[g] += (column.type == ColumnType::kSet ? column.separator : " ") + value;
    } else {
      throw Error(ErrorKind::kUsage, "{} is given twice, and holds one value", column.name);
    }
  }
  // What has no vector cannot be asked for.
  CellEncoder encoder(encoding());
  for (size_t g = 0; g < out.size(); ++g) {
    if (!out[g] || !group(g).named()) continue;
    const ValueSpace& space = encoding().spaces[group(g).space];
    for (const std::string_view member : encoder.members(group(g).column, *out[g])) {
      if (space.buckets > 0 || space.names.find(member)) continue;
      if (group(g).column.type == ColumnType::kText) continue;  // one unknown word of many
      const auto near = similar_spellings(member, space.names);
      throw Error(ErrorKind::kInput, "{} has no value {}{}", group(g).column.name, member,
                  near.empty() ? "" : fmt::format("; similar: {}", fmt::join(near, ", ")));
    }
  }
  return out;
}

const SeenRow& AskedTable::see(std::span<const std::optional<std::string>> cells) {
  std::vector<Cell> views;
  for (const auto& cell : cells) views.push_back(cell ? Cell(*cell) : std::nullopt);
  return see(views);
}

const SeenRow& AskedTable::see(std::span<const Cell> cells) {
  model_.see(encoder_, cells, seen_);
  return seen_;
}

const Matrix& AskedTable::values(size_t g) {
  if (!values_[g]) values_[g] = model_.values(g);
  return *values_[g];
}

bool AskedTable::is_two_classes(size_t g) const {
  return model_.scores_target() && g == model_.target() && group(g).named();
}

bool AskedTable::has_probabilities(size_t g) const {
  return !is_two_classes(g) || opened_.model->settings().get("loss") == "logistic";
}

// One number says how far the row is on the side of one of two values.
std::vector<float> AskedTable::class_scores(const SeenRow& row, size_t g) const {
  const std::string loss = opened_.model->settings().get("loss");
  const double value = model_.target_value(row);
  double yes = value, no = -value;
  if (loss == "logistic") {
    yes = std::log(std::max(value, 1e-30));
    no = std::log(std::max(1 - value, 1e-30));
  } else if (loss != "hinge") {  // learned as 0 and 1
    yes = value - 0.5;
    no = -yes;
  }
  const std::string& name = opened_.metadata.at("target.yes");
  std::vector<float> out;
  for (size_t v = 0; v < names(g).size(); ++v) {
    // A third value, which came later, is never the answer.
    out.push_back(v > 1 ? -1e30f : static_cast<float>(names(g)[v] == name ? yes : no));
  }
  return out;
}

std::vector<float> AskedTable::scores(const SeenRow& row, size_t g) {
  if (is_two_classes(g)) return class_scores(row, g);
  const std::vector<float> c = model_.context(row, g);
  const Matrix& all = values(g);
  std::vector<float> out(all.rows());
  for (size_t v = 0; v < out.size(); ++v) {
    out[v] = std::inner_product(c.begin(), c.end(), all.row(v).begin(), 0.0f);
  }
  return out;
}

GroupedRows::GroupedRows(const Encoding& encoding, const std::vector<std::string>& sources,
                         const TableOptions& options)
    : encoding_(encoding),
      reader_(open_table(sources, options)),
      cells_(encoding.groups.size()),
      warned_(encoding.groups.size(), 0) {
  size_t known = 0;
  for (const Group& g : encoding.groups) {
    const auto at = column(g.column.name);
    column_.push_back(at.value_or(Encoding::npos));
    known += at.has_value();
  }
  if (known == 0) {
    throw Error(ErrorKind::kInput, "{}: none of its columns ({}) is one of the model's",
                sources.front(), fmt::join(reader_->columns(), ", "));
  }
}

std::optional<size_t> GroupedRows::column(const std::string& name) const {
  const auto& names = reader_->columns();
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return static_cast<size_t>(at - names.begin());
}

bool GroupedRows::next() {
  if (!reader_->next(raw_)) return false;
  for (size_t g = 0; g < cells_.size(); ++g) {
    cells_[g] = has(g) ? raw_[column_[g]] : std::nullopt;
    if (cells_[g]) drop_unreadable(g);
  }
  return true;
}

void GroupedRows::drop_unreadable(size_t g) {
  const Group& group = encoding_.groups[g];
  bool readable = true;
  if (group.numeric()) {
    readable = !numeric_cell(group.column, *cells_[g]).unreadable;
  } else if (group.column.type == ColumnType::kVector) {
    const auto values = vector_cell(group.column, *cells_[g]);
    readable = values && (values->empty() || values->size() == group.mean.size());
  }
  if (readable) return;
  if (!warned_[g]) {
    say("kith: {}: column {}: \"{:.40}\" is no {} and counts as missing, as do others like it",
        where(), group.column.name, printable(*cells_[g]), detail::show(group.column.type));
  }
  warned_[g] = 1;
  cells_[g].reset();
}

std::vector<std::string> unreadable_cells(const Table& t) {
  std::vector<std::string> out;
  for (size_t g = 0; g < t.groups(); ++g) {
    const TableProfile::Cells& cells = t.profile().groups[g];
    if (!cells.unreadable) continue;
    const Column& column = t.encoding().groups[g].column;
    out.push_back(fmt::format(
        "column {}: {} of type {} could not be read and count as missing; the first is {}",
        column.name, count_of(cells.unreadable, "cell"), detail::show(column.type), cells.first));
  }
  return out;
}

std::vector<Ranked> best_of(std::span<const float> scores, size_t top,
                            const std::function<bool(size_t)>& skip) {
  std::vector<Ranked> out;
  for (size_t v = 0; v < scores.size(); ++v) {
    if (!skip || !skip(v)) out.push_back({v, scores[v]});
  }
  const size_t n = std::min(top, out.size());
  std::ranges::partial_sort(out, out.begin() + static_cast<int64_t>(n), [](auto& a, auto& b) {
    return a.score > b.score || (a.score == b.score && a.value < b.value);
  });
  out.resize(n);
  return out;
}

std::vector<double> probabilities(std::span<const float> scores) {
  std::vector<double> out(scores.size());
  if (scores.empty()) return out;
  const double highest = *std::ranges::max_element(scores);
  double total = 0;
  for (size_t i = 0; i < out.size(); ++i) total += out[i] = std::exp(scores[i] - highest);
  for (double& p : out) p /= total;
  return out;
}

std::string show_number(const Group& group, double value) {
  if (group.column.type != ColumnType::kDate) return fmt::format("{:.6g}", value);
  const std::chrono::sys_days day{std::chrono::days(static_cast<int>(std::floor(value)))};
  const std::chrono::year_month_day d{day};
  std::string out = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(d.year()),
                                static_cast<unsigned>(d.month()), static_cast<unsigned>(d.day()));
  const auto minutes = static_cast<int>(std::lround((value - std::floor(value)) * 1440));
  if (minutes > 0) out += fmt::format(" {:02}:{:02}", minutes / 60 % 24, minutes % 60);
  return out;
}

Guess guess(const Group& group, std::span<const double> p) {
  Guess out{0, group.values.back()};
  double below = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    out.mean += p[i] * group.values[i];
    if (below < 0.5 && below + p[i] >= 0.5) out.median = group.values[i];
    below += p[i];
  }
  return out;
}

}  // namespace kith::cli
