// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the commands share that ask models of ratings: users and items by name, titles, files of
// pairs, and what such a model adds to commands that other models have too.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "commands.h"
#include "data/ratings.h"
#include "data/table_reader.h"
#include "model_file.h"
#include "models/ratings_model.h"
#include "terminal.h"

namespace kith::cli {

// "1,000,209 ratings of 3,706 items by 6,040 users; mean 3.58, 1 to 5; ..."
std::string described(const Ratings& ratings);
// Rows that were left out, joined or trimmed.
void report_oddities(const RatingsProfile& profile, Status& status);

// What items are called, by their ids.
class Titles {
 public:
  Titles() = default;
  // A table of ids and titles. `column`: of the titles, or "" to find it.
  Titles(const std::string& path, const std::string& column, const RatingsModel& model);
  bool empty() const { return titles_.empty(); }
  std::string_view of(std::string_view id) const;  // "" if it has none
  std::optional<std::string> id_of(std::string_view title) const;

 private:
  std::unordered_map<std::string, std::string> titles_, ids_;
};

// A model of ratings, ready to be asked about users and items by name.
class AskedRatings {
 public:
  explicit AskedRatings(OpenModel opened, Titles titles = {});
  const RatingsModel& model() const { return model_; }
  const Titles& titles() const { return titles_; }

  struct Thing {
    Axis axis;
    std::string id;
  };
  // "user=42", "item=Alien", or with the names of the columns that the model was trained on.
  // Nothing if it begins with neither.
  std::optional<Thing> named(std::string_view term) const;
  // The same, or an id or title alone that only one of users and items has. Error(kInput).
  Thing thing(const std::string& term) const;
  // Its number. An item may be called by its title. Error(kInput) with the nearest spellings.
  uint32_t number(Axis axis, const std::string& id) const;
  std::optional<uint32_t> find(Axis axis, const std::string& id) const;

 private:
  OpenModel opened_;
  RatingsModel& model_;
  Titles titles_;
};

// Error(kUsage) if the file holds a model of another kind.
AskedRatings open_ratings_model(const std::string& path, std::string_view command);
bool is_ratings(const Model& model);

// Error(kUsage) for what only makes sense where a model is trained.
void refuse_training_options(const RatingsOptions& options);

// A table of ratings or pairs for a model. Columns called as those it was trained on are taken for
// them, and `options` says so afterwards.
std::unique_ptr<TableReader> open_pairs(const RatingsModel& model,
                                        const std::vector<std::string>& files,
                                        const TableOptions& table, RatingsOptions& options);

std::vector<std::string> read_lines(const std::string& path);  // without empty ones
std::string csv_cell(std::string_view text);                   // in quotes if it must be

// The commands themselves are shared with other models.
struct RatingsPredict {
  std::string output;
  bool json = false;
};
int predict_ratings(OpenModel opened, const std::vector<std::string>& words,
                    const RatingsPredict& options, const TableOptions& table,
                    RatingsOptions columns);

struct RatingsNear {
  std::string names, names_column;
  size_t top = 10;
  int threads = 0;
  bool json = false;
};
int near_ratings(OpenModel opened, std::span<const std::string> terms, const RatingsNear& options);

struct RatingsUpdate {
  std::string output;
  bool json = false;
};
int update_ratings(OpenModel opened, const std::vector<std::string>& files,
                   const RatingsUpdate& options, const TableOptions& table, RatingsOptions columns);

}  // namespace kith::cli
