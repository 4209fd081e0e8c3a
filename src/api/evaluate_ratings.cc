// SPDX-License-Identifier: Apache-2.0
// Ratings that a model has not seen: how far its guesses are off, and where what people chose
// stands in its lists; with the mean, biases, popularity and chance beside it.
#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "api/evaluate.h"
#include "api/item_search.h"
#include "core/rng.h"
#include "eval/biases.h"
#include "eval/metrics.h"
#include "kith/text.h"

namespace kith {
namespace {

Way way_of(std::string name, const eval::Errors& errors) {
  return {std::move(name), {{"rmse", errors.rmse()}, {"mae", errors.mae()}}};
}

Way way_of(std::string name, const eval::Ranking& ranking) {
  return {std::move(name),
          {{"recall", ranking.recall()}, {"ndcg", ranking.ndcg()}, {"map", ranking.map()}}};
}

constexpr const char* kLately = "popular lately";

struct Counts {
  uint64_t ratings = 0, users = 0, unknown_users = 0, unknown_items = 0, trained_on = 0;
};

// Those with a rating in training: others may be there by name alone.
std::vector<bool> rated_items(const Ranks& model) {
  std::vector<bool> out(model.names_of(Axis::kItem).size(), false);
  for (const uint32_t i : model.seen().column) out[i] = true;
  return out;
}

// What a user's day adds to a rating, if it is known when that was given.
float effect_of_day(const Ranks& model, const Sparse* days, uint32_t user, uint32_t item) {
  if (!days || !model.knows_days() || user >= days->rows()) return 0;
  const Sparse::Row row = days->row(user);
  const auto at = std::ranges::lower_bound(row.columns, item);
  if (at == row.columns.end() || *at != item) return 0;
  return model.day_effect(user, row.values[static_cast<size_t>(at - row.columns.begin())]);
}

Comparison compare_errors(const Ranks& model, const TestRatings& tested,
                          const RatingBaselines& baselines, Counts& counts) {
  const Sparse& test = tested.ratings;
  const size_t users = model.names_of(Axis::kUser).size();
  const size_t items = model.names_of(Axis::kItem).size();
  const std::vector<float> nobody = model.fold_in(Axis::kUser, {});
  const std::vector<float> nothing = model.fold_in(Axis::kItem, {});
  const std::vector<bool> known_items = rated_items(model);
  eval::Errors own, mean, biases;
  std::vector<float> user_room, item_room;
  for (uint32_t u = 0; u < test.rows(); ++u) {
    const Sparse::Row row = test.row(u);
    const auto p = u < users ? model.scoring_row(Axis::kUser, u, user_room) : nobody;
    for (size_t i = 0; i < row.size(); ++i) {
      const uint32_t item = row.columns[i];
      const auto q = item < items ? model.scoring_row(Axis::kItem, item, item_room) : nothing;
      own.add(model.rating(p, q, effect_of_day(model, tested.days, u, item)), row.values[i]);
      mean.add(baselines.mean(), row.values[i]);
      biases.add(baselines.predict(u, item), row.values[i]);
      ++counts.ratings;
      counts.unknown_items += item >= items || !known_items[item];
      const auto seen = u < users ? model.seen().row(u).columns : std::span<const uint32_t>();
      counts.unknown_users += seen.empty();
      counts.trained_on += std::binary_search(seen.begin(), seen.end(), item);
    }
  }
  return {{way_of("model", own), way_of("mean", mean), way_of("biases", biases)}};
}

// A user and what a good list would hold.
struct RankedUser {
  uint32_t user;
  std::vector<uint32_t> relevant;  // rising
};

double mean_of_ratings(std::span<const float> values, double otherwise) {
  if (values.empty()) return otherwise;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Users with items that they have not seen in training, rated at or above what was asked for, or
// the mean of what they rated in training.
std::vector<RankedUser> ranked_users(const Ranks& model, const Sparse& test,
                                     std::optional<double> least_relevant, double overall) {
  std::vector<RankedUser> out;
  const size_t users = model.names_of(Axis::kUser).size();
  const size_t items = model.names_of(Axis::kItem).size();
  for (uint32_t u = 0; u < std::min<size_t>(users, test.rows()); ++u) {
    const Sparse::Row row = test.row(u), seen = model.seen().row(u);
    double least = -std::numeric_limits<double>::infinity();
    if (!model.implicit()) least = least_relevant.value_or(mean_of_ratings(seen.values, overall));
    std::vector<uint32_t> relevant;
    for (size_t i = 0; i < row.size(); ++i) {
      const bool known =
          row.columns[i] < items &&
          !std::binary_search(seen.columns.begin(), seen.columns.end(), row.columns[i]);
      if (known && row.values[i] >= least) relevant.push_back(row.columns[i]);
    }
    if (!relevant.empty()) out.push_back({u, std::move(relevant)});
  }
  return out;
}

// As many items that the user has not seen, each as likely.
std::vector<Hit> by_chance(std::span<const uint32_t> seen, uint32_t items, size_t top,
                           uint64_t stream) {
  std::vector<Hit> out;
  Rng rng(1, stream);
  std::unordered_set<uint32_t> drawn;
  const size_t wanted = std::min<size_t>(top, items - seen.size());
  while (out.size() < wanted) {
    const uint32_t item = rng.below(items);
    if (std::binary_search(seen.begin(), seen.end(), item) || !drawn.insert(item).second) continue;
    out.push_back({item, 0});
  }
  return out;
}

// How often each item is among these.
Matrix popularity(const Ranks& model, std::span<const uint32_t> chosen) {
  Matrix out(model.names_of(Axis::kItem).size(), 1);
  for (const uint32_t i : chosen) out.row(i)[0] += 1;
  return out;
}

void add_list(eval::Ranking& ranking, std::span<const Hit> found, const RankedUser& user,
              size_t candidates) {
  std::vector<double> ranks;
  for (size_t place = 0; place < found.size(); ++place) {
    if (std::binary_search(user.relevant.begin(), user.relevant.end(), found[place].row)) {
      ranks.push_back(static_cast<double>(place));
    }
  }
  ranking.add(ranks, user.relevant.size(), candidates);
}

Comparison compare_rankings(const RatedBy& by, std::span<const RankedUser> asked, size_t top,
                            const Context& context) {
  const Ranks& model = by.model;
  const ItemSearch search(model, {}, top);
  const Matrix popular = popularity(model, model.seen().column);
  const Matrix late = popularity(model, by.lately);
  eval::Ranking own(top), most(top), latest(top), chance(top);
  const size_t batch = ItemSearch::batch(context);
  for (size_t begin = 0; begin < asked.size(); begin += batch) {
    const auto block = asked.subspan(begin, std::min(batch, asked.size() - begin));
    std::vector<uint32_t> users;
    std::vector<std::vector<uint32_t>> seen;
    Matrix ones(block.size(), 1);
    for (const RankedUser& a : block) {
      const auto columns = model.seen().row(a.user).columns;
      ones.row(users.size())[0] = 1;
      users.push_back(a.user);
      seen.emplace_back(columns.begin(), columns.end());
    }
    const auto found = search.ask(users, false, context);
    const auto frequent = highest_products(popular, ones, seen, {.top = top}, context);
    const auto recent = by.lately.empty()
                            ? std::vector<std::vector<Hit>>()
                            : highest_products(late, ones, seen, {.top = top}, context);
    for (size_t b = 0; b < block.size(); ++b) {
      const size_t candidates = popular.rows() - seen[b].size();
      add_list(own, found[b], block[b], candidates);
      add_list(most, frequent[b], block[b], candidates);
      if (!recent.empty()) add_list(latest, recent[b], block[b], candidates);
      add_list(chance, by_chance(seen[b], static_cast<uint32_t>(popular.rows()), top, users[b]),
               block[b], candidates);
    }
  }
  Comparison out{{way_of("model", own), way_of("popularity", most)}};
  if (!by.lately.empty()) out.ways.push_back(way_of(kLately, latest));
  out.ways.push_back(way_of("chance", chance));
  return out;
}

void add_notes(const Counts& counts, bool implicit, std::string_view name, Report& out) {
  const auto say = [&](Note::Level level, std::string text) {
    out.notes.push_back({level, std::move(text)});
  };
  if (counts.unknown_users + counts.unknown_items > 0) {
    const std::string what = implicit ? "interaction" : "rating";
    say(Note::Level::kNote,
        count_of(counts.unknown_users, what) + " of users and " +
            count_of(counts.unknown_items, what) + " of items that the model does not know " +
            (implicit ? "are counted; such users get the most popular items"
                      : "are predicted as the mean plus the bias of the one that it knows"));
  }
  if (counts.trained_on > 0) {
    say(Note::Level::kWarning, "the model was trained on " + grouped(counts.trained_on) +
                                   " of these " + count_of(counts.ratings, "rating") +
                                   ", which flatters it");
  }
  if (counts.users == 0) {
    say(Note::Level::kNote, "no user has a relevant rating here, so nothing is ranked");
  }
  const auto own = out.at("model", "recall"), popular = out.at("popularity", "recall");
  if (out.at("rmse") && own && popular && *own < *popular) {
    say(Note::Level::kHint,
        "what people choose is not what they rate highest; to rank what they choose, train on who "
        "chose what: als with --rating none, or with --implicit if ratings say how strongly");
  } else if (const auto late = out.at(kLately, "recall"); implicit && own && late && *own < *late) {
    say(Note::Level::kHint,
        "what people choose changes: the items that were most popular in the last tenth of the "
        "training data score better here than the model; train on the latest rows alone, and test "
        "on those that follow");
  } else if (own && popular && *own < *popular) {
    say(Note::Level::kHint,
        "a list of the most popular items scores better here than the model; " + instead_of(name));
  }
}

}  // namespace

std::string instead_of(std::string_view name) {
  const std::string_view other = name == "als" ? "mf" : name == "mf" ? "als" : "als or mf";
  return "try " + std::string(other) + ", or kith tune " + std::string(name);
}

Report evaluate_ratings(const RatedBy& by, const TestRatings& tested,
                        const EvaluateOptions& options, const Context& context) {
  const Ranks& model = by.model;
  Report out;
  Counts counts;
  const RatingBaselines baselines(model.seen());
  Comparison errors = compare_errors(model, tested, baselines, counts);
  if (!model.implicit()) out.comparisons.push_back(std::move(errors));
  const auto asked = ranked_users(model, tested.ratings, options.relevant, baselines.mean());
  counts.users = asked.size();
  const auto top = static_cast<size_t>(options.top);
  if (!asked.empty()) out.comparisons.push_back(compare_rankings(by, asked, top, context));
  out.counts = {{"ratings", counts.ratings},
                {"users", counts.users},
                {"top", top},
                {"unknown_users", counts.unknown_users},
                {"unknown_items", counts.unknown_items},
                {"trained_on", counts.trained_on}};
  out.subtitle = count_of(counts.ratings, model.implicit() ? "interaction" : "rating") + " of " +
                 count_of(counts.users, "ranked user");
  add_notes(counts, model.implicit(), by.name, out);
  return out;
}

}  // namespace kith
