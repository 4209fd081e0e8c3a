// SPDX-License-Identifier: Apache-2.0
#include "kith/titles.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "api/opened.h"
#include "core/error.h"
#include "data/table/cells.h"
#include "data/table/table_reader.h"
#include "io/utf8.h"

namespace kith {
namespace {

std::string lower(std::string_view text) {
  std::string out(trimmed(text));
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

constexpr std::array<std::string_view, 4> kTitleNames{"title", "name", "itemname", "label"};

std::optional<size_t> place_of(std::span<const std::string> columns,
                               std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (lower(columns[i]) == name) return i;
    }
  }
  return std::nullopt;
}

// The items of a model. Error(kUsage) if it has none.
VectorGroup items_of(const Model::Impl& model) {
  if (!model.can<Ranks>()) refuse_question(model.asked("a table of titles"), Ranks::kWhat);
  for (VectorGroup& group : model.ask<HasVectors>("a table of titles").vectors(Side::kInput)) {
    if (group.role == "item") return std::move(group);
  }
  refuse_question(model.asked("a table of titles"), Ranks::kWhat);
}

// Where ids and titles stand: by name, else first and second.
struct TitleColumns {
  size_t id, title;
};
TitleColumns title_columns(const std::vector<std::string>& columns, const std::string& given,
                           const std::string& item_column, const std::string& path) {
  if (columns.size() < 2) {
    throw fault(ErrorKind::kInput,
                "{}: a table of names has columns for ids and titles, and this has one", path);
  }
  const std::string own = lower(item_column);
  const std::array<std::string_view, 4> ids{own, "id", "itemid", "item_id"};
  std::optional<size_t> title;
  if (!given.empty()) {
    const auto at = std::ranges::find(columns, given);
    if (at == columns.end()) {
      const std::vector<std::string_view> known(columns.begin(), columns.end());
      const std::string nearest = suggest(given, known);
      throw fault(ErrorKind::kUsage, "{} has no column {} of names{}", path, shown(given),
                  nearest.empty() ? fmt::format("; it has {}", fmt::join(columns, ", ")) : nearest);
    }
    title = static_cast<size_t>(at - columns.begin());
  } else {
    title = place_of(columns, kTitleNames);
  }
  auto id = place_of(columns, ids);
  if (!id) id = title == 0 ? 1 : 0;
  if (!title) title = *id == 1 ? 0 : 1;
  return {*id, *title};
}

}  // namespace

Titles::Titles(const std::string& path, const std::string& column, const Model& model,
               TextEncoding encoding, Observer* observer) {
  const VectorGroup items = items_of(model.impl());
  TableOptions options;
  options.encoding = encoding;
  // MovieLens' movies.dat and u.item have no header, and a first film may be called anything.
  options.is_header = [&](std::span<const std::string_view> cells) {
    const std::vector<std::string> names(cells.begin(), cells.end());
    const std::string own = lower(items.column);
    const std::array<std::string_view, 2> ids{own, "id"};
    return (!column.empty() && std::ranges::find(names, column) != names.end()) ||
           place_of(names, ids) || place_of(names, kTitleNames);
  };
  const auto reader = open_table({path}, options);
  const TitleColumns at = title_columns(reader->columns(), column, items.column, path);
  uint64_t known = 0;
  for (std::vector<Cell> cells; reader->next(cells);) {
    if (!cells[at.id] || !cells[at.title]) continue;
    const std::string id(trimmed(*cells[at.id]));
    std::string title(trimmed(*cells[at.title]));
    if (id.empty() || title.empty()) continue;
    known += items.names->find(id).has_value();
    ids_.try_emplace(title, id);
    titles_.insert_or_assign(id, std::move(title));
  }
  for (const Note& n : reader->tally()->finish()) {
    if (observer) observer->on(n);
  }
  if (known == 0) {
    throw fault(
        ErrorKind::kInput,
        "{}: no item of the model has an id in column {}; are these the names of its items?", path,
        reader->columns()[at.id]);
  }
}

std::string_view Titles::of(std::string_view id) const {
  const auto found = titles_.find(std::string(id));
  return found == titles_.end() ? std::string_view() : found->second;
}

std::optional<std::string> Titles::id_of(std::string_view title) const {
  const auto found = ids_.find(std::string(title));
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Titles::like(std::string_view text, size_t most) const {
  const std::string wanted = lower(text);
  std::vector<std::tuple<bool, size_t, std::string_view>> found;  // those that begin so are first
  for (const auto& [title, id] : ids_) {
    const size_t at = wanted.empty() ? std::string::npos : lower(title).find(wanted);
    if (at != std::string::npos) found.emplace_back(at > 0, title.size(), title);
  }
  const size_t count = std::min(most, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<int64_t>(count));
  std::vector<std::string> out;
  for (size_t i = 0; i < count; ++i) out.emplace_back(std::get<2>(found[i]));
  return out;
}

}  // namespace kith
