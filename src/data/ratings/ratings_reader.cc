// SPDX-License-Identifier: Apache-2.0
// Ratings out of a table, row by row: what a cell may be, which ratings are held out, and when a
// file is refused. Sorting is in triples.cc, finding the columns in rating_columns.cc.
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/rng.h"
#include "data/holdout.h"
#include "data/ratings/rating_columns.h"
#include "data/ratings/ratings.h"
#include "data/ratings/row_columns.h"
#include "data/ratings/triples.h"
#include "data/table/cells.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr uint64_t kRowsPerReport = 1 << 14;

// trimmed() for cells that hardly ever need it.
std::string_view bare(std::string_view cell) {
  const auto visible = [](char c) { return static_cast<unsigned char>(c) > ' '; };
  if (!cell.empty() && visible(cell.front()) && visible(cell.back())) return cell;
  return trimmed(cell);
}

std::string_view text_of(const Cell& cell) { return cell ? bare(*cell) : std::string_view(); }

// A whole file is mostly small numbers of a few digits.
std::optional<float> parse_rating(std::string_view text) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9')
    return static_cast<float>(text[0] - '0');
  const auto value = parse_number(text);
  if (!value) return std::nullopt;
  const auto out = static_cast<float>(*value);
  return std::isfinite(out) ? std::optional(out) : std::nullopt;
}

// Pairs that were there before, in 16 to 32 bytes each; only where twice is an error.
class PairSet {
 public:
  bool add(uint32_t user, uint32_t item) {  // false if it is in already
    if (2 * (size_ + 1) > slots_.size()) grow();
    if (!put((uint64_t{user} << 32 | item) + 1)) return false;
    ++size_;
    return true;
  }

 private:
  // Keys are one more than the pair: 0 is an empty slot, and no user has the number 2^32 - 1.
  bool put(uint64_t key) {
    const size_t mask = slots_.size() - 1;
    for (size_t s = mix64(key) & mask;; s = (s + 1) & mask) {
      if (slots_[s] == key) return false;
      if (slots_[s] != 0) continue;
      slots_[s] = key;
      return true;
    }
  }
  void grow() {
    const std::vector<uint64_t> old =
        std::exchange(slots_, std::vector<uint64_t>(std::max<size_t>(1024, 2 * slots_.size()), 0));
    for (const uint64_t key : old) {
      if (key != 0) put(key);
    }
  }
  std::vector<uint64_t> slots_;
  size_t size_ = 0;
};

class Rows {
 public:
  // `days`: times are wanted if they are there.
  Rows(TableReader& reader, const RatingsOptions& options, bool keep_times, bool days)
      : reader_(reader),
        options_(options),
        columns_(find_rating_columns(reader.columns(), options, source())),
        keep_times_(keep_times),
        days_(days && columns_.time) {
    for (size_t c = 0; c < reader.columns().size() && !are_numbered(reader.columns()); ++c) {
      const bool role =
          c == columns_.user || c == columns_.item || c == columns_.rating || c == columns_.time;
      if (!role) others_.push_back(c);
    }
    if (keep_times && !columns_.time) {
      throw fault(ErrorKind::kInput,
                  "{}: no column of times was found; name it with --time (there are {}), or split "
                  "another way",
                  source(), fmt::join(reader.columns(), ", "));
    }
  }
  struct Row {
    std::string_view user, item;
    float value = 1;
    int64_t time = 0;
    std::optional<float> day{};
  };
  // The next row that has all it needs; the others are counted.
  bool next(Row& row, RatingsProfile& profile) {
    while (reader_.next(cells_)) {
      try {
        if (take(row, profile)) return true;
      } catch (const BadRow& bad) {
        reader_.tally()->leave_out(bad);
      }
    }
    return false;
  }
  bool implicit() const { return options_.implicit || !columns_.rating; }
  bool days() const { return days_ && !implicit(); }
  // What was read, and from which columns.
  void describe(RatingsProfile& profile) const {
    profile.bytes = reader_.bytes();
    profile.notes = reader_.tally()->finish();
    const auto& names = reader_.columns();
    if (!are_numbered(names)) {
      profile.user_column = names[columns_.user];
      profile.item_column = names[columns_.item];
    }
    if (columns_.rating) profile.rating_column = names[*columns_.rating];
    if (columns_.time) profile.time_column = names[*columns_.time];
  }
  // The columns that have no role, and their cells in the row last read.
  std::vector<std::string> other_columns() const {
    std::vector<std::string> out;
    for (const size_t c : others_) out.push_back(reader_.columns()[c]);
    return out;
  }
  std::span<const Cell> other_cells() {
    other_cells_.clear();
    for (const size_t c : others_) other_cells_.push_back(cells_[c]);
    return other_cells_;
  }
  // What to do with columns that take no part.
  std::string how_to_use() const {
    return columns_.rating ? "feat2vec learns from all columns, with --target " +
                                 shell_quoted(reader_.columns()[*columns_.rating])
                           : "feat2vec learns from all columns";
  }

 private:
  // False if it lacks something.
  bool take(Row& row, RatingsProfile& profile) {
    row.user = text_of(cells_[columns_.user]);
    row.item = text_of(cells_[columns_.item]);
    const std::string_view value =
        columns_.rating ? text_of(cells_[*columns_.rating]) : std::string_view("1");
    const std::string_view time = keep_times_ ? text_of(cells_[*columns_.time]) : "0";
    if (row.user.empty() || row.item.empty() || value.empty() || time.empty()) {
      ++profile.rows;
      ++profile.missing;
      return false;
    }
    if (columns_.rating) row.value = rating(value);
    if (keep_times_) row.time = when(time);
    if (days_) row.day = day();
    ++profile.rows;
    profile.trimmed += row.user.size() < cells_[columns_.user]->size() ||
                       row.item.size() < cells_[columns_.item]->size();
    return true;
  }

  // The name of the file without the line that is about to be read.
  std::string source() const {
    std::string out = reader_.where();
    const size_t colon = out.rfind(':');
    return colon == std::string::npos ? out : out.substr(0, colon);
  }
  float rating(std::string_view text) const {
    const auto value = parse_rating(text);
    const std::string& column = reader_.columns()[*columns_.rating];
    if (!value) {
      throw BadRow(fmt::format(
          "{}: column {}: \"{}\" is not a number; correct it, or name the column of ratings with "
          "--rating",
          reader_.where(), shown(column), shown(text)));
    }
    if (options_.implicit && !(*value > 0)) {
      throw BadRow(fmt::format(
          "{}: column {}: \"{}\" is not above 0, as the strength of an interaction must be; leave "
          "the row out, ignore the column with --rating none, or read ratings without --implicit",
          reader_.where(), shown(column), shown(text)));
    }
    return *value;
  }
  int64_t when(std::string_view text) const {
    const auto time = parse_time(text);
    if (time) return *time;
    throw BadRow(fmt::format(
        "{}: column {}: \"{}\" is not a time; write a number or a date such as 1999-12-31, "
        "or name the column with --time",
        reader_.where(), shown(reader_.columns()[*columns_.time]), shown(text)));
  }

  std::optional<float> day() const {
    const auto time = parse_time(text_of(cells_[*columns_.time]));
    return time ? day_of(*time) : std::nullopt;
  }

  TableReader& reader_;
  const RatingsOptions& options_;
  RatingColumns columns_;
  bool keep_times_, days_;
  std::vector<size_t> others_;
  std::vector<Cell> cells_, other_cells_;
};

// The other columns of a table of ratings: gathered if they are wanted, and what is said of them.
class OtherColumns {
 public:
  OtherColumns(Rows& rows, bool wanted)
      : rows_(rows),
        names_(rows.other_columns()),
        wanted_(wanted && !names_.empty()),
        users_(names_, RowColumns::From::kRatings),
        items_(names_, RowColumns::From::kRatings) {}
  void add(const Rating& rating) {
    if (!wanted_) return;
    const std::span<const Cell> cells = rows_.other_cells();
    users_.add(rating.user, cells);
    items_.add(rating.item, cells);
  }
  void take_features(Ratings& ratings, std::vector<Note>& notes) const {
    RowFeatures users, items;
    if (wanted_) {
      users = users_.features(ratings.users().size());
      items = items_.features(ratings.items().size());
    }
    std::vector<std::string> unused;
    for (size_t c = 0; c < names_.size(); ++c) {
      if (!wanted_ || (!users.has(names_[c]) && !items.has(names_[c]))) unused.push_back(names_[c]);
    }
    const auto note = [&](std::string text) {
      notes.push_back({Note::Level::kNote, std::move(text)});
    };
    // Of interactions it is for the model to say.
    const std::string known =
        ratings.implicit() ? "known besides, about " : "also learned from, about ";
    if (users.columns() > 0) note(known + "users: " + listed(users.described()));
    if (items.columns() > 0) note(known + "items: " + listed(items.described()));
    if (!unused.empty()) {
      note(fmt::format("not used: {}{}; {}", listed(unused),
                       wanted_
                           ? unused.size() == 1
                                 ? ", which is not the same in all ratings of a user or of an item"
                                 : ", which are not the same in all ratings of a user or of an item"
                           : "",
                       rows_.how_to_use()));
    }
    if (users.columns() + items.columns() > 0) {
      ratings.set_features(std::move(users), std::move(items));
    }
  }

 private:
  Rows& rows_;
  std::vector<std::string> names_;
  bool wanted_;
  RowColumns users_, items_;
};

// Numbers for names. Most files count their users and items from 1: such names are looked up by
// the number they are, which takes one place of memory instead of the three of the table of names.
class Numbering {
 public:
  explicit Numbering(Names& names) : names_(names) {}
  uint32_t operator()(std::string_view name) {
    const auto id = small_number(name);
    if (!id) return names_.add(name);
    if (*id >= found_.size()) found_.resize(std::bit_ceil(*id + 1), 0);
    uint32_t& found = found_[*id];
    if (found == 0) found = names_.add(name) + 1;
    return found - 1;
  }

 private:
  static constexpr uint32_t kMost = 1 << 22;  // 16 MB
  // 42, but not 042, which is another name.
  static std::optional<uint32_t> small_number(std::string_view name) {
    uint32_t out = 0;
    if (name.size() > 7 || name[0] == '0') return std::nullopt;
    for (const char c : name) {
      const auto digit = static_cast<uint32_t>(c - '0');
      if (digit > 9) return std::nullopt;
      out = 10 * out + digit;
    }
    return out < kMost ? std::optional(out) : std::nullopt;
  }
  Names& names_;
  std::vector<uint32_t> found_;  // by such a number: that of the name + 1
};

[[noreturn]] void fail_duplicate(const TableReader& reader, std::string_view user,
                                 std::string_view item) {
  throw fault(
      ErrorKind::kInput,
      "{}: user {} rated item {} before; leave one of them out, or choose which counts with "
      "--duplicates last, first, mean or sum",
      reader.where(), shown(user), shown(item));
}

}  // namespace

std::optional<int64_t> parse_time(std::string_view text) {
  int64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, whole);
  if (error == std::errc() && stop == end) return whole;
  std::optional<double> value = parse_number(text);
  if (!value) {
    value = parse_date(text);
    if (value) *value *= 86400;
  }
  if (!value || std::abs(*value) > 9e18) return std::nullopt;
  return static_cast<int64_t>(std::floor(*value));
}

std::optional<float> day_of(int64_t time) {
  constexpr int64_t kMost = 1 << 24;
  const int64_t day = (time - (time % 86400 + 86400) % 86400) / 86400;
  return -kMost < day && day < kMost ? std::optional(static_cast<float>(day)) : std::nullopt;
}

// The order of the file, its other ratings and the seed of the run have no say.
uint64_t pair_key(std::string_view user, std::string_view item) {
  return stable_hash(user) ^ std::rotl(stable_hash(item), 32);
}

Ratings Ratings::read(TableReader& reader, const RatingsOptions& options, double holdout,
                      bool keep_times, const KnownRatings* base,
                      const std::function<void(uint64_t, double)>& on_read, bool features,
                      bool days) {
  Ratings out;
  if (base) {
    out.users_ = base->users;
    out.items_ = base->items;
  }
  Rows rows(reader, options, keep_times, days);
  OtherColumns others(rows, features);
  RatingsProfile& profile = out.profile_;
  Numbering user(out.users_), item(out.items_);
  const HoldOut held(holdout);
  Triples train(keep_times), kept_apart, days_of;
  PairSet before;
  for (Rows::Row row; rows.next(row, profile);) {
    const Rating rating{user(row.user), item(row.item), row.value};
    if (options.duplicates == Duplicates::kRefuse && !before.add(rating.user, rating.item)) {
      fail_duplicate(reader, row.user, row.item);
    }
    others.add(rating);
    if (rows.days() && row.day) days_of.add({rating.user, rating.item, *row.day}, 0);
    (held.takes(pair_key(row.user, row.item)) ? kept_apart : train).add(rating, row.time);
    if (on_read && profile.rows % kRowsPerReport == 0) on_read(reader.bytes(), reader.share());
  }
  rows.describe(profile);
  if (train.size() + kept_apart.size() == 0) {
    throw fault(ErrorKind::kInput, "{}: there are no ratings{}", reader.where(),
                profile.missing ? "; every row lacks its user, item or rating" : "");
  }
  const auto built = [&](Triples& triples) {
    BuiltSparse parts =
        build_sparse(triples, out.users_.size(), out.items_.size(), options.duplicates);
    profile.duplicates += parts.duplicates;
    if (triples.with_times()) out.times_ = std::move(parts.times);
    return std::move(parts.sparse);
  };
  out.train_ = std::make_shared<Sparse>(built(train));
  out.held_out_ = built(kept_apart);
  out.implicit_ = rows.implicit();
  if (days_of.size() > 0) {  // of a pair that stands twice that of the rating that counts
    const Duplicates which =
        options.duplicates == Duplicates::kFirst ? Duplicates::kFirst : Duplicates::kLast;
    out.days_ = std::make_shared<Sparse>(
        build_sparse(days_of, out.users_.size(), out.items_.size(), which).sparse);
  }
  out.finish();
  others.take_features(out, profile.notes);
  if (!base && !keep_times && !profile.time_column.empty()) {
    profile.notes.push_back(
        {Note::Level::kNote,
         fmt::format(
             "the times (column {}) {}; eval --split time tests on the latest", profile.time_column,
             out.days_ ? "say which ratings a user gave on one day" : "are not learned from")});
  }
  return out;
}

}  // namespace kith
