// SPDX-License-Identifier: Apache-2.0
#include "data/ratings/row_columns.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "core/error.h"
#include "data/table/cells.h"
#include "data/table/table.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr uint64_t kEnoughAgain = 10;  // a row that stood again for so many that stood once
const std::string kRow = "row";        // whose rows they are: a column that takes no part

// The cells of rows as a table, row after row.
class GatheredTable final : public TableReader {
 public:
  using Cells = const std::vector<std::string>*;
  GatheredTable(std::vector<std::string> names, std::vector<Cells> cells, size_t rows)
      : TableReader(std::make_shared<RowTally>()),
        names_(std::move(names)),
        cells_(std::move(cells)),
        rows_(rows) {}
  const std::vector<std::string>& columns() const override { return names_; }
  bool next(std::vector<Cell>& cells) override {
    if (at_ == rows_) return false;
    cells.clear();
    cells.emplace_back(kRow);
    for (const Cells column : cells_) {
      const bool there = at_ < column->size() && !(*column)[at_].empty();
      cells.push_back(there ? Cell((*column)[at_]) : std::nullopt);
    }
    ++at_;
    return true;
  }
  std::string where() const override { return "the columns of users or items"; }
  uint64_t bytes() const override { return 0; }
  double share() const override { return -1; }

 private:
  std::vector<std::string> names_;
  std::vector<Cells> cells_;
  size_t rows_, at_ = 0;
};

// The bags of all cells of a row, side by side. Group 0 is the row itself.
RowFeatures features_of(const Table& table) {
  RowFeatures out;
  const Encoding& encoding = table.encoding();
  const auto begin = encoding.base32(encoding.groups[0].space + 1);
  for (size_t g = 1; g < table.groups(); ++g) {
    const Group& group = encoding.groups[g];
    out.ends.push_back(encoding.base32(group.space + 1) - begin);
    out.names.push_back(group.column.name);
    out.types.push_back(detail::show(group.column.type));
  }
  Sparse& f = out.features;
  f.columns = out.ends.empty() ? 0 : out.ends.back();
  std::vector<Feature> bag;
  for (uint64_t r = 0; r < table.rows(); ++r) {
    bag.clear();
    for (size_t g = 1; g < table.groups(); ++g) {
      const uint32_t entity = table.row(r)[g];
      if (entity == kNoEntity) continue;
      Feature one{};
      const auto cell = table.entities(g).bag(entity, one);
      bag.insert(bag.end(), cell.begin(), cell.end());
    }
    std::ranges::sort(bag, {}, &Feature::row);
    for (const Feature& feature : bag) {
      if (f.column.size() > f.offsets.back() && f.column.back() == feature.row - begin) {
        f.value.back() += feature.weight;  // a word that stands twice
        continue;
      }
      f.column.push_back(feature.row - begin);
      f.value.push_back(feature.weight);
    }
    f.offsets.push_back(f.column.size());
  }
  return out;
}

}  // namespace

RowColumns::RowColumns(std::vector<std::string> names, From from) : from_(from) {
  for (std::string& name : names) columns_.push_back({.name = std::move(name), .cells = {}});
}

void RowColumns::add(uint32_t row, std::span<const Cell> cells) {
  for (size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    if (!column.same || !cells[c] || cells[c]->empty()) continue;
    if (row >= column.cells.size()) column.cells.resize(std::max<size_t>(2 * size_t{row}, 64));
    std::string& cell = column.cells[row];
    if (cell.empty()) {
      cell = *cells[c];
      ++column.first;
      continue;
    }
    ++column.again;
    if (from_ == From::kOwnTable || cell == *cells[c]) continue;
    column.same = false;
    column.cells = {};
  }
}

bool RowColumns::is_left(size_t column) const {
  const Column& c = columns_[column];
  if (from_ == From::kOwnTable) return c.first > 0;
  return c.same && c.first > 0 && c.again * kEnoughAgain >= c.first;
}

RowFeatures RowColumns::features(size_t rows) const {
  std::vector<std::string> names{kRow};
  std::vector<GatheredTable::Cells> cells;
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (!is_left(c)) continue;
    // A name of its own, should the table have one that is called so, too.
    names.push_back(columns_[c].name == kRow ? kRow + " " : columns_[c].name);
    cells.push_back(&columns_[c].cells);
  }
  if (cells.empty()) return {};
  SampledTable table(
      SampledTable::Open([&] { return std::make_unique<GatheredTable>(names, cells, rows); }));
  Schema schema = infer_schema(table).schema;
  const auto usable = std::ranges::count_if(schema.columns, [](const kith::Column& column) {
    return column.name != kRow && column.type != ColumnType::kIgnore;
  });
  if (usable == 0) return {};
  schema.columns[0].type = ColumnType::kCategory;
  return features_of(Table::read(table, schema, 0.0));
}

RowFeatures read_features(const TableOfRows& about, TableOptions options,
                          std::vector<Note>& notes) {
  // A first row that is about somebody is not a header.
  options.is_header = [&](std::span<const std::string_view> cells) {
    return !about.rows.find(trimmed(cells.front()));
  };
  const auto table = open_table({about.path}, options);
  std::vector<std::string> names = table->columns();
  const auto found = std::ranges::find(names, about.column);
  const auto at = found == names.end() ? 0 : found - names.begin();
  const std::string id = names[static_cast<size_t>(at)];
  names.erase(names.begin() + at);
  RowColumns columns(std::move(names), RowColumns::From::kOwnTable);
  std::vector<bool> known(about.rows.size());
  uint64_t unrated = 0;
  for (std::vector<Cell> cells; table->next(cells);) {
    const Cell who = cells[static_cast<size_t>(at)];
    const auto row = who ? about.rows.find(trimmed(*who)) : std::nullopt;
    unrated += who && !row;
    if (!row) continue;
    cells.erase(cells.begin() + at);
    columns.add(*row, cells);
    known[*row] = true;
  }
  const auto count = static_cast<uint64_t>(std::ranges::count(known, true));
  if (count == 0) {
    throw fault(ErrorKind::kInput,
                "{}: its column {} has no {} of the ratings, such as {}; give the column that has "
                "them the name {}",
                shown_source(about.path), shown(id), about.what, shown(about.rows[0]),
                shown(about.column));
  }
  std::ranges::copy(table->tally()->finish(), std::back_inserter(notes));
  RowFeatures out = columns.features(about.rows.size());
  notes.push_back({Note::Level::kNote,
                   fmt::format("{} has {} of {} {}s: {}", shown_source(about.path), grouped(count),
                               grouped(about.rows.size()), about.what,
                               out.columns() > 0 ? listed(out.described()) : "nothing usable")});
  if (unrated > 0) {
    notes.push_back(
        {Note::Level::kNote,
         fmt::format("{}: {} of {}s without ratings left out; they are not in the model",
                     shown_source(about.path), count_of(unrated, "row"), about.what)});
  }
  return out;
}

std::string listed(std::vector<std::string> names) {
  constexpr size_t kNamed = 5;
  const std::string more = names.size() > kNamed ? ", ..." : "";
  if (names.size() > kNamed) names.resize(kNamed);
  for (std::string& name : names) name = shown(name);
  return fmt::format("{}{}", fmt::join(names, ", "), more);
}

RowFeatures joined(const RowFeatures& a, const RowFeatures& b) {
  if (a.ends.empty()) return b;
  RowFeatures out = a;
  const uint32_t shift = a.features.columns;
  for (const uint32_t end : b.ends) out.ends.push_back(shift + end);
  out.names.insert(out.names.end(), b.names.begin(), b.names.end());
  out.types.insert(out.types.end(), b.types.begin(), b.types.end());
  Sparse moved = b.features;
  for (uint32_t& c : moved.column) c += shift;
  moved.columns = shift + b.features.columns;
  out.features = merged(a.features, moved);
  return out;
}

}  // namespace kith
