// SPDX-License-Identifier: Apache-2.0
// Ratings as a kind of data.
#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "data/bags/bag_options.h"
#include "data/bags/bag_table.h"
#include "data/bags/raw_bags.h"
#include "data/ratings/rating_columns.h"
#include "data/ratings/ratings.h"
#include "data/ratings/row_columns.h"
#include "kith/text.h"

namespace kith {
namespace ratings {
namespace {

// What is counted is seldom a matter of taste.
bool is_count(std::string_view column) {
  constexpr std::array<std::string_view, 6> kCounts{"count",  "plays",   "playcount",
                                                    "clicks", "listens", "views"};
  return std::ranges::find(kCounts, column) != kCounts.end();
}

class ReadRatings final : public DataReader {
 public:
  std::vector<Section> settings() override {
    return {{"The table", table_},
            {"Files of counts", files_},
            {"The ratings", options_},
            {"Learning from the ratings", use_}};
  }
  std::vector<Section> reading() override {
    return {{"The table", table_}, {"Files of counts", files_}, {"The ratings", options_}};
  }
  std::unique_ptr<Dataset> read(const ReadRequest& request) override {
    const auto* const known = std::any_cast<KnownRatings>(&request.base);
    RatingsOptions options = options_;
    const auto reader = open(request, known, options);
    if (known) options.implicit = options.implicit || known->implicit;
    const double holdout = use_.holdout.value_or(RatingsUse::kUsualHoldout);
    auto out = std::make_unique<Ratings>(
        Ratings::read(*reader, options, request.keep_all ? 0 : holdout, request.keep_times, known,
                      request.on_read, request.wishes.features));
    if (known && out->implicit() != known->implicit) {
      throw fault(ErrorKind::kInput,
                  "{}: these are interactions without ratings, and the model was trained on "
                  "ratings; name their column with --rating",
                  request.sources.front());
    }
    add_tables(*out, request.wishes);
    out->normalise_by(use_.normalise);
    out->hold_out_later(holdout);
    return out;
  }

 private:
  // Documents that are counts of words are ratings as well: how often a document has a word.
  std::unique_ptr<TableReader> open(const ReadRequest& request, const KnownRatings* known,
                                    RatingsOptions& options) const {
    if (bag_file_at(request.sources.front()) != BagFile::kNone) {
      if (options.user.empty()) options.user = "document";
      if (options.item.empty()) options.item = "word";
      if (options.rating.empty()) options.rating = "count";
      return bag_table(request.sources, files_.vocab, request.on_read);
    }
    if (!files_.vocab.empty()) {
      throw fault(ErrorKind::kUsage,
                  "--vocab is for files of counts (lda-c, UCI docword), and {} is none; leave it "
                  "out",
                  shown_source(request.sources.front()));
    }
    return known ? open_ratings_for(known->user_column, known->item_column, request.sources, table_,
                                    options)
                 : open_ratings(request.sources, table_, options);
  }

  void add_tables(Ratings& ratings, const Wishes& wishes) const {
    if (use_.user_table.empty() && use_.item_table.empty()) return;
    if (!wishes.features) {
      throw fault(ErrorKind::kUsage,
                  "this model learns from the ratings alone; leave --{} out, or choose a model "
                  "that has the setting --columns",
                  use_.user_table.empty() ? "item-table" : "user-table");
    }
    const auto of = [&](const std::string& table, const char* what, const Names& rows,
                        const std::string& column, const RowFeatures& before) {
      if (table.empty()) return before;
      TableOptions options{.encoding = table_.encoding, .bad_rows = table_.bad_rows};
      RowFeatures more = read_features({table, what, rows, column}, options, ratings.notes());
      return joined(before, more);
    };
    const RatingsProfile& p = ratings.counts();
    RowFeatures users =
        of(use_.user_table, "user", ratings.users(), p.user_column, ratings.user_features());
    RowFeatures items =
        of(use_.item_table, "item", ratings.items(), p.item_column, ratings.item_features());
    ratings.set_features(std::move(users), std::move(items));
  }

  TableOptions table_;
  CountFileOptions files_;
  RatingsOptions options_;
  RatingsUse use_;
};

}  // namespace

const DataKind& kind() {
  static const DataKind kind{
      .name = "ratings",
      .noun = "ratings",
      .unit = "rating",
      .to_save_memory = "lower --dim",
      .holdout_to_tune = 0.1,  // tells settings apart better than the twentieth of training
      .takes = "bags",
      .look_at =
          [](const std::string& source, const std::string& query) {
            const auto why = looks_like_ratings(source, query);
            return why ? Look{0.9, *why} : Look{};
          },
      .reader = []() -> std::unique_ptr<DataReader> { return std::make_unique<ReadRatings>(); },
  };
  return kind;
}

}  // namespace ratings

const DataKind& Ratings::data_kind() { return ratings::kind(); }

uint64_t Ratings::bytes() const {
  return 8 * (train_->size() + held_out_.size()) + 8 * times_.size() + users_.bytes().size() +
         items_.bytes().size() + 24 * (users_.size() + items_.size()) + user_features_->bytes() +
         item_features_->bytes();
}

std::map<std::string, std::string> Ratings::metadata() const {
  const RatingsProfile& p = profile_;
  const auto text = [](uint64_t n) { return fmt::format("{}", n); };
  return {{"source.rows", text(p.rows)},
          {"source.duplicates", text(p.duplicates)},
          {"source.missing", text(p.missing)},
          {"source.held_out", text(p.held_out)}};
}

std::string Ratings::example() const { return std::string(users_[0]); }

namespace {

std::string held_out_text(uint64_t count, bool implicit) {
  if (count == 0) return "none held out to score the model";
  return fmt::format("{} held out to score the model by {}", grouped(count),
                     implicit ? "their rank (0 is best, 1 worst)" : "RMSE");
}

}  // namespace

Profile Ratings::profile() const {
  const RatingsProfile& p = profile_;
  Profile out;
  out.data = kind().name;
  out.unit = implicit_ ? "interaction" : kind().unit;
  out.size = train_->size();
  out.held_out = p.held_out;
  out.bytes = p.bytes;
  const uint64_t all = train_->size() + held_out_.size();
  const double pairs = static_cast<double>(users_.size()) * static_cast<double>(items_.size());
  const bool values = !implicit_ || !p.rating_column.empty();
  out.summary =
      fmt::format("{} of {} by {}; {}{} of all pairs are known{}",
                  count_of(all, implicit_ ? "interaction" : "rating"),
                  count_of(items_.size(), "item"), count_of(users_.size(), "user"),
                  values ? fmt::format("mean {:.3g}, from {:g} to {:g}; ", mean_, low_, high_) : "",
                  in_percent(static_cast<double>(all) / std::max(pairs, 1.0)),
                  // Without it though it is wanted: whoever reads them splits them.
                  !p.held_out && holdout() > 0 ? "" : "; " + held_out_text(p.held_out, implicit_));
  const auto note = [&](std::string text) {
    out.notes.push_back({Note::Level::kNote, std::move(text)});
  };
  out.notes.insert(out.notes.end(), p.notes.begin(), p.notes.end());
  if (p.duplicates) {
    note(fmt::format("{} with a user and item that came before (--duplicates)",
                     count_of(p.duplicates, "row")));
  }
  if (p.missing) {
    note(fmt::format("{} without user, item or rating left out", count_of(p.missing, "row")));
  }
  if (p.trimmed) {
    note(fmt::format("{} with white space around an id, which was removed",
                     count_of(p.trimmed, "row")));
  }
  if (implicit_ && p.rating_column.empty()) {
    note("there are no ratings, so every row is an interaction");
  } else if (!implicit_ && ratings::is_count(p.rating_column)) {
    out.notes.push_back(
        {Note::Level::kHint,
         fmt::format(
             "if {} is a count and not how much something was liked, --implicit suits it better",
             p.rating_column)});
  }
  return out;
}

}  // namespace kith
