// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who rated what, and how: a sparse matrix of users x items with names on both sides. In memory 8
// bytes a rating (and 8 with its time, where one is asked for), the names once.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/names.h"
#include "data/dataset.h"
#include "data/ratings/normalise.h"
#include "data/ratings/row_features.h"
#include "data/sparse.h"
#include "data/table/table_reader.h"
#include "kith/fields.h"

namespace kith {

enum class Duplicates { kLast, kFirst, kMean, kSum, kRefuse };

struct RatingsOptions {
  std::string user{}, item{}, rating{}, time{};
  bool implicit = false;
  Duplicates duplicates = Duplicates::kLast;

  static constexpr std::tuple fields{
      field("user", &RatingsOptions::user,
            "the column of users; by default detected by name or position"),
      field("item", &RatingsOptions::item, "the column of items; detected likewise"),
      field("rating", &RatingsOptions::rating,
            "the column of ratings; detected likewise; none: every row is an interaction"),
      field("time", &RatingsOptions::time, "the column of times; detected likewise"),
      field("implicit", &RatingsOptions::implicit,
            "rows are interactions (seen, bought), and a rating is only how strong one is; without "
            "ratings this is always so"),
      field("duplicates", &RatingsOptions::duplicates,
            "what counts if a user rated an item more than once"),
  };
};

// How ratings are taken to learn from, beyond how they are read.
struct RatingsUse {
  static constexpr double kUsualHoldout = 0.05;
  std::optional<double> holdout{};
  Normalise normalise = Normalise::kNone;
  std::string user_table{}, item_table{};

  static constexpr std::tuple fields{
      field("holdout", &RatingsUse::holdout,
            "share of the ratings to hold out to score the model; 0 for none")
          .between(0, 0.9)
          .automatic("0.05")
          .formerly("holdout", 0.05),
      field("normalise", &RatingsUse::normalise,
            "standardise the ratings of each user, each item, or both: subtract the mean, divide "
            "by the standard deviation; predictions are in the unit of the ratings"),
      field("user-table", &RatingsUse::user_table,
            "learn from this table about the users as well; its column of users has the same name "
            "as in the ratings, or comes first"),
      field("item-table", &RatingsUse::item_table, "likewise for the items"),
  };
};

struct Rating {
  uint32_t user, item;
  float value;
};

// Seconds, or whatever unit the file counts in; a date becomes seconds since 1970.
std::optional<int64_t> parse_time(std::string_view text);
// The number of its day; nothing if a float does not hold it.
std::optional<float> day_of(int64_t time);

// What decides whether the rating of a pair is held out: its names alone.
uint64_t pair_key(std::string_view user, std::string_view item);

// What ratings have to be read on top of to be added to, or compared with, a model.
struct KnownRatings {
  Names users, items;
  std::string user_column, item_column;
  bool implicit = false;
  bool days = false;  // it knows of days
};

struct RatingsProfile {
  uint64_t bytes = 0, rows = 0;
  uint64_t duplicates = 0;  // rows that another of the same user and item took in
  uint64_t missing = 0;     // rows without user, item or rating, left out
  uint64_t trimmed = 0;     // rows with white space around user or item, which does not count
  uint64_t held_out = 0;
  std::vector<Note> notes;  // about rows
  std::string user_column = "user", item_column = "item", rating_column, time_column;
};

class Ratings final : public Dataset {
 public:
  // Reads everything once. `holdout`: the share of the ratings to keep apart; which they are
  // depends on user and item alone. `keep_times`: for splits by time. `base`: names to go on with,
  // whose numbers stay; columns called as its own are taken for them. Error(kInput) with the place
  // for a rating that is no finite number, is not above 0 where it says how strong an interaction
  // was, or stands twice where that is refused.
  // `features`: those of the other columns, which otherwise are not looked at. `days`: likewise of
  // ratings, if there are times.
  static Ratings read(TableReader& reader, const RatingsOptions& options, double holdout,
                      bool keep_times = false, const KnownRatings* base = nullptr,
                      const std::function<void(uint64_t, double)>& on_read = {},
                      bool features = false, bool days = false);
  // From triples with the names already known; later duplicates win.
  static Ratings of(Names users, Names items, std::vector<Rating> train,
                    std::vector<Rating> held_out = {}, bool implicit = false);

  // Dataset
  static const DataKind& data_kind();
  const DataKind& kind() const override { return data_kind(); }
  uint64_t size() const override { return train_->size(); }
  uint64_t vectors() const override { return users_.size() + items_.size(); }
  uint64_t bytes() const override;
  uint64_t fingerprint() const override { return fingerprint_; }
  std::map<std::string, std::string> metadata() const override;
  Profile profile() const override;
  std::string example() const override;

  const Names& users() const { return users_; }
  const Names& items() const { return items_; }
  const Sparse& train() const { return *train_; }       // users x items
  const Sparse& held_out() const { return held_out_; }  // likewise
  // Shared with the model that keeps them, so that they stand in memory once.
  std::shared_ptr<const Sparse> share() const { return train_; }
  bool implicit() const { return implicit_; }
  // By entry of train(); empty unless they were asked for and there.
  std::span<const int64_t> times() const { return times_; }
  // Users x items: the day of each rating, held out or not, whose time is known; null if they were
  // not asked for, or if there are none.
  const Sparse* days() const { return days_.get(); }
  void set_days(Sparse days);
  const RatingsProfile& counts() const { return profile_; }
  // What other columns say of users and of items.
  const RowFeatures& user_features() const { return *user_features_; }
  const RowFeatures& item_features() const { return *item_features_; }
  void set_features(RowFeatures users, RowFeatures items);
  std::vector<Note>& notes() { return profile_.notes; }
  // Of the ratings to train on.
  double mean() const { return mean_; }
  double deviation() const { return deviation_; }
  float low() const { return low_; }
  float high() const { return high_; }

  // How a model that learns from them is to take them; they themselves are as they were given.
  Normalise normalise() const { return normalise_; }
  void normalise_by(Normalise by) { normalise_ = by; }
  // The share that training holds out, whether it was already or not.
  double holdout() const { return holdout_; }
  void hold_out_later(double share) { holdout_ = share; }
  // Less these shifts; but low() and high() stay those of the ratings as they were given.
  Ratings normalised(const RatingShifts& shifts) const {
    return changed(shifts.normalised(*train_), shifts.normalised(held_out_));
  }
  // The same ratings with other values; low() and high() stay.
  Ratings changed(Sparse train, Sparse held_out) const;

  // The same names with other ratings: a part to train on and a part held out.
  Ratings with(Sparse train, Sparse held_out) const;
  // All of them to train on. The latter gives up these ratings, so that they do not stand in memory
  // twice.
  Ratings whole() const& { return with(merged(*train_, held_out_), {}); }
  Ratings whole() &&;

 private:
  void finish();  // statistics and fingerprint
  Names users_, items_;
  std::shared_ptr<const Sparse> train_ = std::make_shared<Sparse>();
  Sparse held_out_;
  std::vector<int64_t> times_;
  std::shared_ptr<const Sparse> days_;
  bool implicit_ = false;
  Normalise normalise_ = Normalise::kNone;
  double holdout_ = 0;
  RatingsProfile profile_;
  std::shared_ptr<const RowFeatures> user_features_ = std::make_shared<RowFeatures>(),
                                     item_features_ = std::make_shared<RowFeatures>();
  double mean_ = 0, deviation_ = 0;
  float low_ = 0, high_ = 0;
  uint64_t fingerprint_ = 0;
};

}  // namespace kith

template <>
struct kith::EnumNames<kith::Duplicates> {
  static constexpr std::array<std::string_view, 5> names{"last", "first", "mean", "sum", "refuse"};
};
