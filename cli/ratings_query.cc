// SPDX-License-Identifier: Apache-2.0
#include "ratings_query.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "data/cells.h"
#include "data/rating_columns.h"
#include "io/utf8.h"
#include "train_report.h"

namespace kith::cli {
namespace {

RatingsModel& as_ratings(Model& model) {
  auto* const ratings = dynamic_cast<RatingsModel*>(&model);
  if (!ratings) throw Error(ErrorKind::kUsage, "this is not a model of ratings");
  return *ratings;
}

std::string repaired(std::string_view text) {
  std::string out;
  return repair_utf8(text, out) ? out : std::string(text);
}

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

// Where ids and titles stand: by name, else first and second.
struct TitleColumns {
  size_t id, title;
};
TitleColumns title_columns(const std::vector<std::string>& columns, const std::string& given,
                           const RatingsModel& model, const std::string& path) {
  if (columns.size() < 2) {
    throw Error(ErrorKind::kInput,
                "{}: a table of names has columns for ids and titles, and this has one", path);
  }
  const std::string own = lower(model.column_of(Axis::kItem));
  const std::array<std::string_view, 4> ids{own, "id", "itemid", "item_id"};
  std::optional<size_t> title;
  if (!given.empty()) {
    const auto at = std::ranges::find(columns, given);
    if (at == columns.end()) {
      const std::vector<std::string_view> known(columns.begin(), columns.end());
      const std::string nearest = suggest(given, known);
      throw Error(ErrorKind::kUsage, "{} has no column {} of names{}", path, given,
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

std::string described(const Ratings& r) {
  const RatingsProfile& p = r.profile();
  const auto n = static_cast<double>(r.train().size() + r.held_out().size());
  const double pairs =
      static_cast<double>(r.users().size()) * static_cast<double>(r.items().size());
  const bool values = !r.implicit() || !p.rating_column.empty();
  return fmt::format(
      "{} of {} by {}; {}{:.2g} % of all pairs are there",
      count_of(r.train().size() + r.held_out().size(), r.implicit() ? "interaction" : "rating"),
      count_of(r.items().size(), "item"), count_of(r.users().size(), "user"),
      values ? fmt::format("mean {:.3g}, from {:g} to {:g}; ", r.mean(), r.low(), r.high()) : "",
      100 * n / std::max(pairs, 1.0));
}

void report_oddities(const RatingsProfile& p, Status& status) {
  if (p.duplicates) {
    status.line(labelled("note", fmt::format("{} of a pair that was there already (--duplicates)",
                                             count_of(p.duplicates, "row"))));
  }
  if (p.missing) {
    status.line(labelled("note", fmt::format("{} without user, item or rating left out",
                                             count_of(p.missing, "row"))));
  }
  if (p.trimmed) {
    status.line(labelled("note", fmt::format("{} with white space around an id, which does not "
                                             "count",
                                             count_of(p.trimmed, "row"))));
  }
}

Titles::Titles(const std::string& path, const std::string& column, const RatingsModel& model) {
  TableOptions options;
  // MovieLens' movies.dat and u.item have no header, and a first film may be called anything.
  options.is_header = [&](std::span<const std::string_view> cells) {
    std::vector<std::string> names(cells.begin(), cells.end());
    const std::string own = lower(model.column_of(Axis::kItem));
    const std::array<std::string_view, 2> ids{own, "id"};
    return (!column.empty() && std::ranges::find(names, column) != names.end()) ||
           place_of(names, ids) || place_of(names, kTitleNames);
  };
  const auto reader = open_table({path}, options);
  const TitleColumns at = title_columns(reader->columns(), column, model, path);
  uint64_t known = 0;
  for (std::vector<Cell> cells; reader->next(cells);) {
    if (!cells[at.id] || !cells[at.title]) continue;
    const std::string id(trimmed(*cells[at.id]));
    std::string title = repaired(trimmed(*cells[at.title]));
    if (id.empty() || title.empty()) continue;
    known += model.names_of(Axis::kItem).find(id).has_value();
    ids_.try_emplace(title, id);
    titles_.insert_or_assign(id, std::move(title));
  }
  if (known == 0) {
    throw Error(
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

AskedRatings::AskedRatings(OpenModel opened, Titles titles)
    : opened_(std::move(opened)), model_(as_ratings(*opened_.model)), titles_(std::move(titles)) {}

bool is_ratings(const Model& model) { return dynamic_cast<const RatingsModel*>(&model); }

AskedRatings open_ratings_model(const std::string& path, std::string_view command) {
  OpenModel opened = open_model(path);
  if (!is_ratings(*opened.model)) {
    throw Error(ErrorKind::kUsage, "{} is for models of ratings; {} holds {}", command, path,
                opened.kind);
  }
  return AskedRatings(std::move(opened));
}

std::optional<AskedRatings::Thing> AskedRatings::named(std::string_view term) const {
  const size_t sign = term.find('=');
  if (sign == std::string_view::npos) return std::nullopt;
  const std::string_view column = term.substr(0, sign);
  const std::string id(trimmed(term.substr(sign + 1)));
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    if (column == model_.column_of(axis)) return Thing{axis, id};
  }
  if (column == "user") return Thing{Axis::kUser, id};
  if (column == "item") return Thing{Axis::kItem, id};
  return std::nullopt;
}

std::optional<uint32_t> AskedRatings::find(Axis axis, const std::string& id) const {
  if (const auto found = model_.names_of(axis).find(id)) return found;
  if (axis == Axis::kUser) return std::nullopt;
  const auto by_title = titles_.id_of(id);
  return by_title ? model_.names_of(axis).find(*by_title) : std::nullopt;
}

AskedRatings::Thing AskedRatings::thing(const std::string& term) const {
  if (const auto found = named(term)) return *found;
  const bool user = find(Axis::kUser, term).has_value(), item = find(Axis::kItem, term).has_value();
  if (user && item) {
    throw Error(ErrorKind::kUsage, "{} is a user and an item; say which: user={} or item={}", term,
                term, term);
  }
  if (!user && !item) number(Axis::kItem, term);  // says so
  return {user ? Axis::kUser : Axis::kItem, term};
}

uint32_t AskedRatings::number(Axis axis, const std::string& id) const {
  if (const auto found = find(axis, id)) return *found;
  const auto near = similar_spellings(id, model_.names_of(axis));
  throw Error(ErrorKind::kInput, "the model knows no {} {:.60}{}",
              axis == Axis::kUser ? "user" : "item", id,
              near.empty() ? "" : fmt::format("; similar: {}", fmt::join(near, ", ")));
}

void refuse_training_options(const RatingsOptions& options) {
  if (options.normalise == Normalise::kNone) return;
  throw Error(ErrorKind::kUsage,
              "--normalise is how a model is trained; one that is there takes and gives ratings "
              "in their own unit");
}

std::unique_ptr<TableReader> open_pairs(const RatingsModel& model,
                                        const std::vector<std::string>& files,
                                        const TableOptions& table, RatingsOptions& options) {
  RatingsOptions looked_for = options;
  if (options.user.empty()) looked_for.user = model.column_of(Axis::kUser);
  if (options.item.empty()) looked_for.item = model.column_of(Axis::kItem);
  auto reader = open_ratings(files, table, looked_for);
  const auto& columns = reader->columns();
  const auto there = [&](const std::string& name) {
    return std::ranges::find(columns, name) != columns.end();
  };
  if (options.user.empty() && there(looked_for.user)) options.user = looked_for.user;
  if (options.item.empty() && there(looked_for.item)) options.item = looked_for.item;
  return reader;
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> out;
  std::string line;
  const auto add = [&] {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) out.push_back(line);
    line.clear();
  };
  const auto source = open_source(path);
  for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
    for (const char c : piece) {
      if (c == '\n') {
        add();
      } else {
        line += c;
      }
    }
  }
  add();
  return out;
}

std::string csv_cell(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     trimmed(text).size() == text.size();
  if (plain) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace kith::cli
