// SPDX-License-Identifier: Apache-2.0
#include "data/ratings/rating_columns.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "core/error.h"
#include "data/dataset.h"
#include "data/table/cells.h"
#include "data/table/table_readers.h"
#include "io/text_source.h"
#include "io/utf8.h"

namespace kith {
namespace {

constexpr std::string_view kNoColumn = "none";  // --rating none: there are no ratings

// Names in lower case without signs; the first that a table has wins, so ids stand before the
// words that may be a title.
using Known = std::span<const std::string_view>;
constexpr std::string_view kUser[] = {
    "userid",     "user",     "uid",       "username", "reviewerid",  "reviewer",
    "customerid", "customer", "clientid",  "client",   "memberid",    "member",
    "viewerid",   "viewer",   "personid",  "person",   "visitor",     "visitorid",
    "rater",      "raterid",  "accountid", "account",  "profilename", "sessionid"};
constexpr std::string_view kItem[] = {
    "itemid",    "item",     "iid",    "movieid",    "movie",      "filmid",    "film",
    "productid", "product",  "asin",   "parentasin", "isbn",       "bookid",    "book",
    "jokeid",    "joke",     "songid", "song",       "trackid",    "track",     "artistid",
    "artist",    "animeid",  "gameid", "game",       "businessid", "articleid", "article",
    "showid",    "recipeid", "beerid", "title"};
constexpr std::string_view kRating[] = {
    "rating",      "ratings", "score",  "stars", "star",      "overall", "bookrating",
    "reviewscore", "value",   "vote",   "votes", "grade",     "count",   "plays",
    "playcount",   "listens", "clicks", "views", "purchases", "weight",  "strength"};
constexpr std::string_view kTime[] = {"timestamp",      "time",       "datetime", "date",
                                      "unixreviewtime", "reviewtime", "ts",       "unixtime"};

constexpr size_t kLookAhead = 1 << 16;

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : trimmed(name)) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c + 32);
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      out += c;
    }
  }
  return out;
}

bool is_one_of(std::string_view name, Known known) {
  return std::ranges::find(known, plain(name)) != known.end();
}

template <class Names>
std::optional<size_t> find_known(const Names& columns, Known known) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(plain(column));
  for (const std::string_view name : known) {
    const auto at = std::ranges::find(names, name);
    if (at != names.end()) return static_cast<size_t>(at - names.begin());
  }
  return std::nullopt;
}

size_t find_given(const std::vector<std::string>& columns, const std::string& name,
                  std::string_view role, const std::string& where) {
  const auto at = std::ranges::find(columns, name);
  if (at != columns.end()) return static_cast<size_t>(at - columns.begin());
  const std::vector<std::string_view> known(columns.begin(), columns.end());
  const std::string nearest = suggest(name, known);
  throw fault(ErrorKind::kUsage, "{}: there is no column {} for --{}{}", where, shown(name), role,
              nearest.empty() ? fmt::format("; there are {}", fmt::join(columns, ", ")) : nearest);
}

// Roles given one by one; a column has one role.
class Roles {
 public:
  Roles(const std::vector<std::string>& columns, std::string where)
      : columns_(columns), where_(std::move(where)), taken_(columns.size(), false) {}

  std::optional<size_t> given(const std::string& name, std::string_view role) {
    if (name.empty()) return std::nullopt;
    return take(find_given(columns_, name, role, where_));
  }
  std::optional<size_t> known(Known names) {
    const auto at = find_known(columns_, names);
    return at && !taken_[*at] ? take(*at) : std::nullopt;
  }
  std::optional<size_t> at(size_t place) {
    return place < taken_.size() && !taken_[place] ? take(place) : std::nullopt;
  }
  std::optional<size_t> first_free() {
    const auto free = std::ranges::find(taken_, false);
    return free == taken_.end() ? std::nullopt : take(static_cast<size_t>(free - taken_.begin()));
  }

 private:
  std::optional<size_t> take(size_t at) {
    taken_[at] = true;
    return at;
  }
  const std::vector<std::string>& columns_;
  std::string where_;
  std::vector<bool> taken_;
};

// A first row of data has a number where the rating is, or elsewhere; one of names has none. What
// is called like a column may also be an item, so it takes a user, or two such names.
bool names_columns(std::span<const std::string_view> cells, const RatingsOptions& options) {
  bool any_number = false, any_user = false, all_there = true;
  size_t known = 0;
  for (const std::string_view cell : cells) {
    const std::string_view text = trimmed(cell);
    for (const std::string& name : {options.user, options.item, options.rating, options.time}) {
      if (!name.empty() && name != kNoColumn && text == name) return true;
    }
    any_number = any_number || parse_number(text).has_value();
    all_there = all_there && !is_missing_mark(text);
    any_user = any_user || is_one_of(text, kUser);
    known += is_one_of(text, kUser) || is_one_of(text, kItem) || is_one_of(text, kRating) ||
             is_one_of(text, kTime);
  }
  if (cells.size() > 2 && parse_number(cells[2])) return false;
  return any_user || known > 1 || (cells.size() > 2 && all_there && !any_number);
}

bool has_third_number(TableReader& rows) {
  std::vector<Cell> cells;
  return rows.next(cells) && cells.size() > 2 && cells[2] && parse_number(*cells[2]);
}

bool is_whole_number(const Cell& cell) {
  return cell && !cell->empty() &&
         std::ranges::all_of(*cell, [](char c) { return c >= '0' && c <= '9'; });
}

// The columns that are called like a user, an item and a rating, if all three are there.
std::optional<std::string> named_roles(const std::vector<std::string>& names) {
  const auto user = find_known(names, kUser), item = find_known(names, kItem);
  const auto rating = find_known(names, kRating);
  if (!user || !item || !rating) return std::nullopt;
  return fmt::format("columns {}, {} and {}", names[*user], names[*item], names[*rating]);
}

// Like MovieLens' u.data: three or four numbers in a row, of which two are ids.
bool is_bare_triples(TableReader& rows) {
  constexpr size_t kEnough = 200;
  if (!are_numbered(rows.columns()) || rows.columns().size() < 3 || rows.columns().size() > 4) {
    return false;
  }
  size_t seen = 0;
  for (std::vector<Cell> cells; seen < kEnough && rows.next(cells); ++seen) {
    const bool fits = is_whole_number(cells[0]) && is_whole_number(cells[1]) && cells[2] &&
                      parse_number(*cells[2]) && (cells.size() == 3 || is_whole_number(cells[3]));
    if (!fits) return false;
  }
  return seen > 0;
}

}  // namespace

bool are_numbered(const std::vector<std::string>& columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] != fmt::format("c{}", i + 1)) return false;
  }
  return true;
}

RatingColumns find_rating_columns(const std::vector<std::string>& columns,
                                  const RatingsOptions& options, const std::string& where) {
  if (columns.size() < 2) {
    throw fault(ErrorKind::kInput,
                "{}: ratings need at least a column of users and one of items, and this has only "
                "{}; if the columns were not split, give what separates them with --delimiter",
                where, columns.empty() ? "none" : shown(columns[0]));
  }
  const bool numbered = are_numbered(columns);
  Roles roles(columns, where);
  auto user = roles.given(options.user, "user");
  auto item = roles.given(options.item, "item");
  // A column that is really called so is meant.
  const bool no_ratings =
      options.rating == kNoColumn && std::ranges::find(columns, kNoColumn) == columns.end();
  auto rating = no_ratings ? std::nullopt : roles.given(options.rating, "rating");
  auto time = roles.given(options.time, "time");
  if (!user) user = roles.known(kUser);
  if (!item) item = roles.known(kItem);
  if (!rating) rating = roles.known(kRating);
  if (!time) time = roles.known(kTime);
  if (!user) user = roles.at(0);
  if (!user) user = roles.first_free();
  if (!item) item = roles.at(1);
  if (!item) item = roles.first_free();
  if (!user || !item) {
    throw fault(ErrorKind::kUsage,
                "{}: no column is left for the {}; the columns are {}: say which is which with "
                "--user and --item",
                where, user ? "item" : "user", fmt::join(columns, ", "));
  }
  // Of an interaction that has names for its columns, one that is not called a rating is none.
  if (!rating && !(options.implicit && !numbered)) rating = roles.at(2);
  if (!time && numbered) time = roles.at(3);
  if (no_ratings) rating.reset();
  return {*user, *item, rating, time};
}

TableOptions for_ratings(TableOptions table, const RatingsOptions& options) {
  table.spaces = true;
  table.is_header = [options](std::span<const std::string_view> cells) {
    return names_columns(cells, options);
  };
  return table;
}

std::unique_ptr<TableReader> open_ratings(const std::vector<std::string>& sources,
                                          const TableOptions& table,
                                          const RatingsOptions& options) {
  return open_table(sources, for_ratings(table, options));
}

std::unique_ptr<TableReader> open_ratings_for(const std::string& user_column,
                                              const std::string& item_column,
                                              const std::vector<std::string>& sources,
                                              const TableOptions& table, RatingsOptions& options) {
  RatingsOptions looked_for = options;
  if (options.user.empty()) looked_for.user = user_column;
  if (options.item.empty()) looked_for.item = item_column;
  auto reader = open_ratings(sources, table, looked_for);
  const auto& columns = reader->columns();
  const auto there = [&](const std::string& name) {
    return std::ranges::find(columns, name) != columns.end();
  };
  if (options.user.empty() && there(looked_for.user)) options.user = looked_for.user;
  if (options.item.empty() && there(looked_for.item)) options.item = looked_for.item;
  return reader;
}

std::optional<std::string> looks_like_ratings(const std::string& path, const std::string& query) {
  if (is_database(path) || is_sqlite_file(path)) {
    return named_roles(open_table({path}, {.query = query, .columns_only = true})->columns());
  }
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return std::nullopt;
  PeekedSource source(open_text(path));
  std::string_view start = source.peek(kLookAhead).substr(0, kLookAhead);
  if (start.empty() || start.find('\0') != std::string_view::npos) return std::nullopt;
  if (start.size() == kLookAhead) start = start.substr(0, start.rfind('\n') + 1);  // whole lines
  try {
    auto named =
        named_roles(read_text_table(memory_source(std::string(start)), path, {})->columns());
    if (named) return named;
  } catch (const Error&) {
    // not a header, for one: numbers that stand twice in a row
  }
  try {
    const auto bare = read_text_table(memory_source(std::string(start)), path, {.header = false});
    const bool double_colon = find_delimiter(start, true) == Delimiter(':', true);
    if (double_colon ? has_third_number(*bare) : is_bare_triples(*bare)) {
      return "each row a user, an item and a number";
    }
  } catch (const Error&) {
    // whatever it is, it is not that
  }
  return std::nullopt;
}

}  // namespace kith
